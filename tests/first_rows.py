"""The rows with which a new installation begins, as its migration makes them."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from django.apps import apps
from django.db import connections

MIGRATION = import_module("chat.migrations.0005_first_rows")
DEFAULT_PRESET = import_module("chat.migrations.0009_default_preset")
LATER_FACTS = import_module("chat.migrations.0012_web_search_and_functions_beside_tools")
DATES = import_module("chat.migrations.0034_dated_catalogue")
OPERATORS = import_module("chat.migrations.0016_operators_see_object_deletions")


def load_first_rows(using: str = "default") -> None:
    """Create the catalogue if it is empty, and the groups with the permissions that they lack."""
    editor = SimpleNamespace(connection=connections[using])
    MIGRATION.load_catalogue(apps, editor)
    DEFAULT_PRESET.mark_default(apps, editor)
    LATER_FACTS.add_facts(apps, editor)
    DATES.add_dates(apps, editor)
    MIGRATION.load_roles(apps, editor)
    OPERATORS.add_permissions(apps, editor)
