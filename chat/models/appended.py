"""Rows that are written once: no save, no deletion of their own, and a trigger of the database against every UPDATE.

They go only with the row that they hang from by a cascading key. Other references name rows that may be gone: they
have no constraint, since a reference that is set to null is an update too; what must outlast a row is copied beside it.

SQLite drops the triggers of a table that a migration remakes, and says nothing; a test sees that they stand after the
last migration. One that fails it calls `create_triggers` at its end.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

TABLES = ("chat_accessentry", "chat_verdict")

_FUNCTION = """
    CREATE OR REPLACE FUNCTION chat_refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END $$
"""
_CREATE = {
    "sqlite": """
        CREATE TRIGGER IF NOT EXISTS {table}_appended BEFORE UPDATE ON {table}
        BEGIN SELECT RAISE(ABORT, 'rows of {table} are never changed'); END
    """,
    "postgresql": """
        CREATE OR REPLACE TRIGGER {table}_appended BEFORE UPDATE ON {table}
        FOR EACH ROW EXECUTE FUNCTION chat_refuse_update()
    """,
}
_DROP = {
    "sqlite": "DROP TRIGGER IF EXISTS {table}_appended",
    "postgresql": "DROP TRIGGER IF EXISTS {table}_appended ON {table}",
}

M = TypeVar("M", bound=models.Model)


class Unchangeable(Exception):
    """Somebody tried to change or delete what was written."""


class AppendedQuerySet(models.QuerySet[M]):
    """Reading them, and adding to them."""

    def delete(self) -> NoReturn:
        """Raises Unchangeable."""
        raise Unchangeable(f"Rows of {self.model.__name__} are never deleted by themselves.")


class Appended(models.Model):
    """A row that is written once."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django has it
        """Raises Unchangeable for a row that is there already."""
        if not self._state.adding:
            raise Unchangeable(f"Rows of {type(self).__name__} are never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises Unchangeable."""
        raise Unchangeable(f"Rows of {type(self).__name__} are never deleted by themselves.")


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    """Put them in place, or back; harmless to repeat."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_FUNCTION)
        for table in TABLES:
            cursor.execute(_CREATE[connection.vendor].format(table=table))


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Take them away."""
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(_DROP[connection.vendor].format(table=table))
        if connection.vendor == "postgresql":
            cursor.execute("DROP FUNCTION IF EXISTS chat_refuse_update()")
