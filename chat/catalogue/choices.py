"""The choices of the model picker: the server's default, the presets and the models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings

from chat.catalogue.setups import find_setup
from chat.models import LanguageModel, Preset
from chat.providers import is_demo

Row: TypeAlias = Preset | LanguageModel

PRESETS = "Presets"
MODELS = "Models"
MISSING_NOTICE = "No longer offered by the provider."
DEMO_NOTICE = "There is no key: a demo model answers, whatever you choose. It is no AI."


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the model picker."""

    value: str
    """The value that a conversation stores; empty for the server's default at the time of a turn."""
    label: str
    description: str
    group: str
    """`PRESETS` or `MODELS`; empty for choices outside both groups."""
    is_missing: bool
    """Whether the provider reported that the model no longer exists."""


def list_choices(current: str = "") -> list[Choice]:
    """Return the server's default, then the presets, then the models, with two queries.

    `current` is the conversation's choice. If it is no longer offered, it comes last, because a picker without it would
    display another choice as selected. If two providers have a model with the same id, the list contains the one that
    `find_setup` returns.
    """
    models = list(LanguageModel.objects.all())
    presets = list(Preset.objects.select_related("language_model"))
    offered_rows = _rows_by_name(
        [row for row in presets if row.is_enabled and row.language_model.is_enabled],
        [row for row in models if row.is_enabled],
    )
    default_row = _rows_by_name(presets, models).get(settings.DEFAULT_MODEL)
    if not settings.DEFAULT_MODEL:
        default_row = next(iter(offered_rows.values()), None)
    choices = [_default_choice(default_row), *(_row_choice(name, row) for name, row in offered_rows.items())]
    if current and current not in {choice.value for choice in choices}:
        choices.append(Choice(current, current, "No longer offered here. Choose another one.", "", is_missing=True))
    return choices


def check_choice(name: str) -> None:
    """Raise UnknownModel if users may not choose this name; its text is a sentence for the user."""
    find_setup(name)


def _rows_by_name(presets: Iterable[Preset], models: Iterable[LanguageModel]) -> dict[str, Row]:
    """Return the row that each name stands for, in order and with the same precedence as in `find_setup`."""
    rows: dict[str, Row] = {row.slug: row for row in presets}
    for row in models:
        existing = rows.get(row.name)
        if existing is None or (isinstance(existing, LanguageModel) and row.provider == settings.CHAT_PROVIDER):
            rows[row.name] = row
    return rows


def _row_choice(name: str, row: Row) -> Choice:
    model = row if isinstance(row, LanguageModel) else row.language_model
    return Choice(
        value=name,
        label=str(row),
        description=_describe(row, model),
        group=MODELS if row is model else PRESETS,
        is_missing=model.missing_since is not None,
    )


def _describe(row: Row, model: LanguageModel) -> str:
    return f"{MISSING_NOTICE} {row.description}".strip() if model.missing_since else row.description


def _default_choice(row: Row | None) -> Choice:
    label = settings.DEFAULT_MODEL if row is None else str(row)
    choice = Choice("", "", "", "", is_missing=False) if row is None else _row_choice("", row)
    description = DEMO_NOTICE if is_demo() else choice.description
    return Choice("", f"Default ({label})", description, "", choice.is_missing)
