"""Helpers for a test with many cases: they report the case that failed, and undo what a case has changed.

One test of 265 texts takes a second less than 265 tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import caches
from django.db import transaction


@contextmanager
def case(value: object) -> Iterator[None]:
    """Add the case to the error message if the block fails."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"Case: {value!r}")
        raise


@contextmanager
def undone() -> Iterator[None]:
    """Undo the changes of the block in the database, so that all cases can use the same rows."""
    caches["process"].clear()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
