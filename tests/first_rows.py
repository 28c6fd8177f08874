"""The rows with which a new installation begins, as its migration makes them."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from django.apps import apps
from django.db import connections

MIGRATION = import_module("chat.migrations.0005_first_rows")


def load_first_rows(using: str = "default") -> None:
    """Create the catalogue if it is empty, and the groups with the permissions that they lack."""
    editor = SimpleNamespace(connection=connections[using])
    MIGRATION.load_catalogue(apps, editor)
    MIGRATION.load_roles(apps, editor)
