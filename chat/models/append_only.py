"""Append-only models: rows that are written once and never changed.

Saving or deleting such a row raises `ImmutableRowError`, and a database trigger rejects every UPDATE. Rows are deleted
only by a cascading foreign key. All other foreign keys of these models have no constraint and may refer to deleted
rows, because setting a reference to null would be an UPDATE. Values that are needed after the deletion of a referenced
row are copied.

The first migration creates the triggers (`chat/migrations/_append_only.py`).
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from django.db import models

M = TypeVar("M", bound=models.Model)


class ImmutableRowError(Exception):
    """Code tried to change or delete an append-only row."""


class AppendOnlyQuerySet(models.QuerySet[M]):
    """Rows of an append-only model."""

    def delete(self) -> NoReturn:
        """Raise ImmutableRowError."""
        raise ImmutableRowError(f"Rows of {self.model.__name__} are never deleted by themselves.")


class AppendOnly(models.Model):
    """Base class of models whose rows are written once."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row. Raises ImmutableRowError if it exists already."""
        if not self._state.adding:
            raise ImmutableRowError(f"Rows of {type(self).__name__} are never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise ImmutableRowError."""
        raise ImmutableRowError(f"Rows of {type(self).__name__} are never deleted by themselves.")
