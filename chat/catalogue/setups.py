"""From a name that people choose to what a generation is set to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from django.conf import settings

from chat.models import LanguageModel, Preset
from chat.statements import Select, given

# Asked at each start; see `chat.statements`.
_PRESET = Select(lambda: Preset.objects.filter(slug=given(Preset, "slug")).order_by())
_MODEL = Select(lambda: LanguageModel.objects.filter(pk=given(LanguageModel, "id")).order_by())
_NAMED = Select(lambda: LanguageModel.objects.filter(name=given(LanguageModel, "name")))
_TITLES = Select(
    lambda: LanguageModel.objects.filter(makes_titles=True, is_enabled=True, missing_since__isnull=True)[:1]
)
_FIRST = Select(lambda: Preset.objects.filter(is_enabled=True, language_model__is_enabled=True)[:1])


class UnknownModel(Exception):
    """Nobody may choose this; the text is a sentence for the person who did."""


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; None is "not known"."""

    input: Decimal | None = None
    output: Decimal | None = None
    cached: Decimal | None = None
    """None: as other input."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a generation is set to: a preset's choices over those of its model."""

    provider: str
    model: str
    """Its id at the provider."""
    label: str
    thinking_level: str = ""
    thinking_budget: int | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    code_execution: bool = True
    """Whether the model can run code, and the preset lets it."""
    google_search: bool = False
    """Whether it searches the web; a preset alone can let it, as searches are billed apart."""
    url_context: bool = False
    """Whether it reads given addresses; a preset alone can let it."""
    image_output: bool = False
    instruction: str = ""
    """What a preset tells the model besides."""
    prices: Prices = Prices()
    is_missing: bool = False
    """Whether the provider last said that it has no such model."""

    def parameters(self) -> dict[str, Any]:
        """What of it is kept with a turn, as JSON: all but what the turn has columns for, and what may change."""
        # Not by `asdict`, which copies each value deeply.
        kept = {name: getattr(self, name) for name in _KEPT}
        prices = {one.name: getattr(self.prices, one.name) for one in fields(self.prices)}
        return {**kept, "prices": {name: str(price) for name, price in prices.items() if price is not None}}


_KEPT = [one.name for one in fields(Setup) if one.name not in ("provider", "model", "is_missing", "prices")]


def setup_of(name: str) -> Setup:
    """The setup that a name stands for; empty: the server's default. Raises UnknownModel. At most three queries.

    A preset comes before a model of the same name, and a model of CHAT_PROVIDER before another provider's.
    The server's default is GEMINI_MODEL, or else the first preset. A default that is named works even where its row is
    disabled or there is none: whoever runs the server has named it.
    """
    is_default = name in ("", settings.GEMINI_MODEL)
    name = name or settings.GEMINI_MODEL
    if not name:
        return _first_setup()
    preset = _PRESET.first(slug=name)
    if preset is not None and (is_default or preset.is_enabled):
        [row] = _MODEL.objects(id=preset.language_model_id)
        if is_default or row.is_enabled:
            return _preset_setup(preset, row)
    rows = [row for row in _NAMED.objects(name=name) if is_default or row.is_enabled]
    if rows:
        return _model_setup(min(rows, key=lambda row: row.provider != settings.CHAT_PROVIDER))
    if is_default or settings.GEMINI_EMULATED:
        return Setup(settings.CHAT_PROVIDER, name, label=name)
    raise UnknownModel(f"There is no model “{name[:100]}” here. Choose another one.")


def _first_setup() -> Setup:
    """Of the first preset that is offered, else of the first model. Raises UnknownModel."""
    if (first := _FIRST.first()) is not None:
        [row] = _MODEL.objects(id=first.language_model_id)
        return _preset_setup(first, row)
    model = LanguageModel.objects.filter(is_enabled=True).first()
    if model is None:
        raise UnknownModel("No model is offered here yet. Whoever runs this server must add one, or set GEMINI_MODEL.")
    return _model_setup(model)


def _model_setup(row: LanguageModel) -> Setup:
    return Setup(
        provider=row.provider,
        model=row.name,
        label=str(row),
        thinking_level=row.thinking_level,
        thinking_budget=row.thinking_budget,
        temperature=row.temperature,
        max_output_tokens=row.max_output_tokens,
        context_tokens=row.context_tokens,
        code_execution=row.code_execution,
        image_output=row.image_output,
        is_missing=row.missing_since is not None,
        prices=Prices() if row.has_lapsed_prices else Prices(row.input_price, row.output_price, row.cached_price),
    )


def _preset_setup(preset: Preset, row: LanguageModel) -> Setup:
    """The model's setup with the preset's choices; a tool needs both."""
    setup = _model_setup(row)
    if preset.thinking_level or preset.thinking_budget is not None:
        setup = replace(setup, thinking_level=preset.thinking_level, thinking_budget=preset.thinking_budget)
    return replace(
        setup,
        label=preset.label,
        code_execution=preset.code_execution and row.code_execution,
        google_search=preset.google_search and row.google_search,
        url_context=preset.url_context and row.url_context,
        instruction=preset.instruction,
    )


def setup_from(parameters: Mapping[str, Any], *, provider: str, model: str) -> Setup:
    """The setup that a turn was started with; a field that it does not name has its default."""
    known = {name: parameters[name] for name in Setup.__dataclass_fields__ if name in parameters}
    prices = Prices(**{name: Decimal(price) for name, price in known.pop("prices", {}).items()})
    return Setup(**{"label": model, **known, "provider": provider, "model": model, "prices": prices})


def title_setup() -> Setup | None:
    """Of the model that names new conversations; None where no row says so."""
    row = _TITLES.first()
    return None if row is None else _model_setup(row)
