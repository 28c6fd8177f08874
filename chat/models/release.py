"""Finds out for which release of Plotline a database was set up, by the migrations that were applied to it.

Version 1.0 has new first migrations. `manage.py upgrade_to_1_0` changes a database of the last version before 1.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum, auto

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

BEFORE_1_0 = {"attachments": (4, "0004_object_deletions"), "chat": (34, "0034_dated_catalogue")}
"""For each app, the number of migrations of the last version before 1.0, and the name of the last migration."""

MIGRATIONS_OF_1_0 = (("attachments", "0001_initial"), ("attachments", "0002_owner"), ("chat", "0001_initial"))


class Release(Enum):
    """The release of Plotline for which a database was set up."""

    EMPTY = auto()
    """The database has no tables of Plotline."""
    OLDER = auto()
    """The tables are those of a version that is older than `LAST_BEFORE_1_0`."""
    LAST_BEFORE_1_0 = auto()
    CURRENT = auto()
    """The tables are those of 1.0 or later."""


def release_of(connection: BaseDatabaseWrapper) -> Release:
    """Return the release whose migrations were applied to a database."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    if MIGRATIONS_OF_1_0[-1] in applied:
        return Release.CURRENT
    counts = Counter(app for app, _ in applied)
    if all(counts[app] == number and (app, last) in applied for app, (number, last) in BEFORE_1_0.items()):
        return Release.LAST_BEFORE_1_0
    return Release.OLDER if any(app == "chat" for app, _ in applied) else Release.EMPTY


@register(Tags.database)
def check_release(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **_: object
) -> list[CheckMessage]:
    """Return an error for a database from before 1.0. `migrate` runs this check before it changes anything."""
    old = (Release.OLDER, Release.LAST_BEFORE_1_0)
    return [
        Error(
            "This database is from before version 1.0, whose migrations begin anew.",
            hint="Make a backup, then run `python manage.py upgrade_to_1_0` once. docs/deployment.md describes it.",
            id="chat.E001",
        )
        for alias in databases or ()
        if release_of(connections[alias]) in old
    ]
