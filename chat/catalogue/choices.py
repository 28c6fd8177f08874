"""The choices of the model picker: the server's default, the presets and the models."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings

from chat.catalogue.endpoints import has_usable_endpoint, settings_models, usable_endpoints
from chat.catalogue.setups import find_setup, precedence, uses_demo
from chat.models import LanguageModel, Preset
from chat.providers import is_demo

Row: TypeAlias = Preset | LanguageModel

PRESETS = "Presets"
MODELS = "Models"
MISSING_NOTICE = "No longer offered by the provider."
DEMO_MODEL = "plotline-demo"
DEMO_LABEL = "Demo model (not an AI)"
DEMO_DESCRIPTION = "Knows a few prompts, and runs the code of any ```python block."
DEMO_NOTICE = "There is no Gemini key: a demo model answers. It is not an AI."


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
    is_demo: bool = False
    """Whether the demo model answers."""


def list_choices(current: str = "") -> list[Choice]:
    """Return the server's default, then the presets, then the models, with at most three queries.

    `current` is the conversation's choice. If it is no longer offered, it comes last, because a picker without it would
    display another choice as selected. If two providers have a model with the same id, the list contains the one that
    `find_setup` returns. One choice, the demo model, stands for all the models in whose place it answers.
    """
    models = list(LanguageModel.objects.all())
    models += settings_models(models)
    presets = list(Preset.objects.select_related("language_model"))
    usable = usable_endpoints(models)
    offered_rows = _rows_by_name(
        [row for row in presets if row.is_enabled and _is_listed(row.language_model, usable)],
        [row for row in models if _is_listed(row, usable)],
    )
    default_row = _rows_by_name(presets, models).get(settings.DEFAULT_MODEL)
    if not settings.DEFAULT_MODEL:
        default_row = next(iter(offered_rows.values()), None)
    choices = [_default_choice(default_row), *(_row_choice(name, row) for name, row in offered_rows.items())]
    if is_demo():
        choices.append(Choice(DEMO_MODEL, DEMO_LABEL, DEMO_DESCRIPTION, MODELS, is_missing=False, is_demo=True))
    if current and current not in {choice.value for choice in choices}:
        notice = "No longer offered here. Choose another one."
        choices.append(Choice(current, current, notice, "", is_missing=True, is_demo=uses_demo(current)))
    return choices


def check_choice(name: str) -> None:
    """Raise UnknownModel if users may not choose this name; its text is a sentence for the user."""
    find_setup(name)


def _rows_by_name(presets: Iterable[Preset], models: Iterable[LanguageModel]) -> dict[str, Row]:
    """Return the row that each name stands for, in order and with the same precedence as in `find_setup`."""
    rows: dict[str, Row] = {row.slug: row for row in presets}
    for row in models:
        existing = rows.get(row.name)
        if existing is None or (isinstance(existing, LanguageModel) and precedence(row) < precedence(existing)):
            rows[row.name] = row
    return rows


def _row_choice(name: str, row: Row) -> Choice:
    model = _model_of(row)
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
    if row is None:
        label, description, is_missing, uses_demo_model = settings.DEFAULT_MODEL, "", False, is_demo()
    else:
        choice = _row_choice("", row)
        model = _model_of(row)
        label, description, is_missing = choice.label, choice.description, choice.is_missing
        uses_demo_model = is_demo(model.provider, model.endpoint)
    return Choice(
        value="",
        label=f"Default ({label})",
        description=DEMO_NOTICE if uses_demo_model else description,
        group="",
        is_missing=is_missing,
        is_demo=uses_demo_model,
    )


def _is_listed(row: LanguageModel, usable: Collection[str]) -> bool:
    """Return whether users can choose a model. The demo model has a choice of its own."""
    return row.is_enabled and has_usable_endpoint(row, usable) and not is_demo(row.provider, row.endpoint)


def _model_of(row: Row) -> LanguageModel:
    return row if isinstance(row, LanguageModel) else row.language_model
