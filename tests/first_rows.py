"""The rows with which a new installation begins, as its migration makes them."""

from __future__ import annotations

from django.apps import apps
from django.db import connections

from chat.migrations import _first_rows


def load_first_rows(using: str = "default") -> None:
    """Create the catalogue if it is empty, and the groups with the permissions that they lack."""
    editor = connections[using].schema_editor()
    _first_rows.load_catalogue(apps, editor)
    _first_rows.load_roles(apps, editor)
