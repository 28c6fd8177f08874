"""The models and presets of a new installation, from `first_models.json`.

Imports none of our models: a migration loads them into those of its own time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db.models import Model

_FILE = Path(__file__).with_name("first_models.json")


def load_first_rows(language_model: type[Model], preset: type[Model], *, using: str = "default") -> None:
    """Fill both tables, if both are empty: an operator's rows are left alone."""
    models, presets = language_model._default_manager.using(using), preset._default_manager.using(using)
    if models.exists() or presets.exists():
        return
    rows = json.loads(_FILE.read_text(encoding="utf-8"))
    made = {}
    for number, row in enumerate(rows["models"], start=1):
        made[row["name"]] = models.create(**_known(language_model, {"position": number * 10, **row}))
    for number, row in enumerate(rows["presets"], start=1):
        fields = {"position": number * 10, **row, "language_model": made[row["language_model"]]}
        presets.create(**_known(preset, fields))


def _known(model: type[Model], row: Mapping[str, Any]) -> dict[str, Any]:
    """What of a row the model has fields for: the file goes with the newest models, a migration with older ones."""
    return {field.name: row[field.name] for field in model._meta.concrete_fields if field.name in row}
