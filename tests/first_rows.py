"""The rows of a new installation, which its migrations create, and a way to restore them for every test."""

from __future__ import annotations

from collections.abc import Callable

from django.apps import apps
from django.db import connection, connections, transaction

from attachments.models import ObjectDeletion
from chat.migrations import _first_rows


def load_first_rows(using: str = "default") -> None:
    """Create the catalogue if it is empty, and the groups with the permissions that they lack."""
    editor = connections[using].schema_editor()
    _first_rows.load_catalogue(apps, editor)
    _first_rows.load_roles(apps, editor)


def kept_rows() -> Callable[[int, bool, str], None]:
    """Return a function that restores the present rows of the tables after they were emptied.

    It replaces the signal that Django sends after a `flush`, whose receivers create the rows with 250 queries.
    """
    inserts = []
    with connection.cursor() as cursor:
        for table in connection.introspection.django_table_names(only_existing=True, include_views=False):
            cursor.execute(f'SELECT * FROM "{table}"')
            if rows := cursor.fetchall():
                columns = ", ".join(f'"{column[0]}"' for column in cursor.description)
                marks = ", ".join(["%s"] * len(rows[0]))
                inserts.append((f'INSERT INTO "{table}" ({columns}) VALUES ({marks})', rows))

    def put_back(verbosity: int, interactive: bool, using: str) -> None:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            # Emptying the table of attachments has queued their objects for deletion.
            ObjectDeletion.objects.using(using).all().delete()
            for statement, rows in inserts:
                cursor.executemany(statement, rows)

    return put_back
