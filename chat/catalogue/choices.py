"""What people can choose from: the server's default, the presets, the models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings

from chat.catalogue.setups import setup_of
from chat.models import LanguageModel, Preset

Row: TypeAlias = Preset | LanguageModel

PRESETS = "Presets"
MODELS = "Models"
MISSING = "No longer offered by the provider."
EMULATED = "There is no key: a demo model answers, whatever you choose. It is no AI."


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the model picker."""

    value: str
    """What a conversation keeps; empty: the server's default, whatever that will be."""
    label: str
    description: str
    group: str
    """`PRESETS`, `MODELS`, or empty for what stands before both."""
    is_missing: bool
    """Whether the provider has said that it no longer has the model."""


def choices(current: str = "") -> list[Choice]:
    """The server's default first, then presets, then models; two queries.

    What a conversation has chosen and nobody may choose any more stands last: a picker without it would show
    another one. Of two models with one id, of two providers, the one that `setup_of` takes is there.
    """
    models = list(LanguageModel.objects.all())
    presets = list(Preset.objects.select_related("language_model"))
    offered = _by_name(
        [row for row in presets if row.is_enabled and row.language_model.is_enabled],
        [row for row in models if row.is_enabled],
    )
    default = _by_name(presets, models).get(settings.GEMINI_MODEL)
    if not settings.GEMINI_MODEL:
        default = next(iter(offered.values()), None)
    found = [_default(default), *(_choice(name, row) for name, row in offered.items())]
    if current and current not in {choice.value for choice in found}:
        found.append(Choice(current, current, "No longer offered here. Choose another one.", "", is_missing=True))
    return found


def check_choice(name: str) -> None:
    """Raises UnknownModel, whose text is a sentence, for what nobody may choose."""
    setup_of(name)


def _by_name(presets: Iterable[Preset], models: Iterable[LanguageModel]) -> dict[str, Row]:
    """Whom each name stands for, in order, as `setup_of` has it."""
    named: dict[str, Row] = {row.slug: row for row in presets}
    for row in models:
        known = named.get(row.name)
        if known is None or (isinstance(known, LanguageModel) and row.provider == settings.CHAT_PROVIDER):
            named[row.name] = row
    return named


def _choice(name: str, row: Row) -> Choice:
    model = row if isinstance(row, LanguageModel) else row.language_model
    return Choice(
        value=name,
        label=str(row),
        description=_described(row, model),
        group=MODELS if row is model else PRESETS,
        is_missing=model.missing_since is not None,
    )


def _described(row: Row, model: LanguageModel) -> str:
    return f"{MISSING} {row.description}".strip() if model.missing_since else row.description


def _default(row: Row | None) -> Choice:
    name = settings.GEMINI_MODEL if row is None else str(row)
    chosen = Choice("", "", "", "", is_missing=False) if row is None else _choice("", row)
    description = EMULATED if settings.GEMINI_EMULATED else chosen.description
    return Choice("", f"Default ({name})", description, "", chosen.is_missing)
