"""Servers of the earlier version can work while `migrate` runs, as docs/deployment.md promises."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations import AddField, CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED

OWN_APPS = ("chat", "attachments")
BASELINE = {"chat": 1, "attachments": 2}
"""App -> number of the last migration that never runs on filled tables. Later migrations may."""


def added_fields() -> Iterator[tuple[str, AddField]]:
    """Yield each field that a migration adds to a table, with the name of the migration."""
    for (app, name), migration in sorted(MigrationLoader(connection).disk_migrations.items()):
        if app not in OWN_APPS or int(name[:4]) <= BASELINE[app]:
            continue
        created = {one.name_lower for one in migration.operations if isinstance(one, CreateModel)}
        for operation in migration.operations:
            if isinstance(operation, AddField) and operation.model_name_lower not in created:
                yield f"{app}.{name}", operation


@pytest.mark.django_db
def test_earlier_version_can_insert_rows_after_each_migration() -> None:
    refused = [
        f"{migration}: {operation.model_name}.{operation.name}"
        for migration, operation in added_fields()
        if not (operation.field.null or operation.field.many_to_many or operation.field.db_default is not NOT_PROVIDED)
    ]
    assert refused == []
