"""The settings of a generation (its setup), found by the name that a user chose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from django.conf import settings

from chat.catalogue.endpoints import (
    has_usable_endpoint,
    known_context_tokens,
    settings_models,
    usable_endpoints,
)
from chat.models import ENDPOINT_PROVIDER, LanguageModel, Preset
from chat.providers import is_demo


class UnknownModel(Exception):
    """A name that users may not choose; the text is a sentence for the user who chose it."""


PATH_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""A name that may stand in a path of Gemini's API."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens; `None` means unknown."""

    input: Decimal | None = None
    output: Decimal | None = None
    cached: Decimal | None = None
    """Price of cached input; `None` means that it costs as much as other input."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings of a generation: those of a model, overridden by those of a preset."""

    provider: str
    model: str
    """The model's id at the provider."""
    label: str
    endpoint: str = ""
    """The server that offers the model. Empty: the one that the provider's settings describe."""
    thinking_level: str = ""
    thinking_budget: int | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    code_execution: bool = True
    """Whether the model can run code and the preset allows it."""
    web_search: bool = False
    """Whether the model searches the web. Only a preset can allow this, because searches are billed separately."""
    url_context: bool = False
    """Whether the model reads web pages whose address it is given. Only a preset can allow this."""
    image_output: bool = False
    instruction: str = ""
    """The preset's additional instruction for the model."""
    prices: Prices = Prices()
    is_missing: bool = False
    """Whether the provider last reported that it has no such model."""

    def parameters(self) -> dict[str, Any]:
        """Return the settings that are stored with a turn, as JSON.

        Omitted are provider, endpoint and model, which are columns of the turn, and `is_missing`, which may change.
        """
        # `dataclasses.asdict` is slower, since it copies each value deeply.
        parameters = {name: getattr(self, name) for name in _PARAMETER_NAMES}
        prices = {field.name: getattr(self.prices, field.name) for field in fields(self.prices)}
        return {**parameters, "prices": {name: str(price) for name, price in prices.items() if price is not None}}


_PARAMETER_NAMES = [
    field.name for field in fields(Setup) if field.name not in ("provider", "endpoint", "model", "is_missing", "prices")
]


def find_setup(name: str) -> Setup:
    """Return the setup that a name stands for, with few queries; raise UnknownModel if it is not offered.

    A preset takes precedence over a model of the same name, and a model of CHAT_PROVIDER over another provider's,
    unless the demo model stands in its place. The endpoint of the settings takes precedence over other endpoints. An
    empty name stands for the server's default: DEFAULT_MODEL or, if that is not set, the first preset. A default from
    DEFAULT_MODEL works even if its row is disabled or missing, because the operator configured it.
    """
    is_default = name in ("", settings.DEFAULT_MODEL)
    name = name or settings.DEFAULT_MODEL
    if not name:
        return _first_setup()
    preset = Preset.objects.select_related("language_model").filter(slug=name).first()
    if preset is not None and (is_default or (preset.is_enabled and _is_offered(preset.language_model))):
        return _preset_setup(preset, preset.language_model)
    rows = list(LanguageModel.objects.filter(name=name))
    rows += [row for row in settings_models(rows) if row.name == name]
    offered = rows if is_default else [row for row in rows if _is_offered(row)]
    if offered:
        return _model_setup(min(offered, key=precedence))
    # The demo model takes the name of any model, but not of one that another provider would have answered.
    is_demo_name = is_demo() and PATH_SEGMENT.fullmatch(name) is not None
    if is_default or (is_demo_name and all(is_demo(row.provider, row.endpoint) for row in rows)):
        return Setup(settings.CHAT_PROVIDER, name, label=name)
    raise UnknownModel(f"There is no model “{name[:100]}” here. Choose another one.")


def precedence(row: LanguageModel) -> tuple[bool, bool, bool]:
    """Return the key by which models of the same name are sorted; the first one is used."""
    return is_demo(row.provider, row.endpoint), row.provider != settings.CHAT_PROVIDER, bool(row.endpoint)


def uses_demo(name: str) -> bool:
    """Return whether the demo model answers if this name is chosen. No query if it never answers."""
    if not is_demo():
        return False
    try:
        setup = find_setup(name)
    except UnknownModel:
        return False
    return is_demo(setup.provider, setup.endpoint)


def _is_offered(row: LanguageModel) -> bool:
    return row.is_enabled and has_usable_endpoint(row, usable_endpoints([row]))


def _first_setup() -> Setup:
    """Return the setup of the first offered preset or model; raise UnknownModel if there is none."""
    for preset in Preset.objects.select_related("language_model").filter(is_enabled=True):
        if _is_offered(preset.language_model):
            return _preset_setup(preset, preset.language_model)
    rows = list(LanguageModel.objects.all())
    for row in [*rows, *settings_models(rows)]:
        if _is_offered(row):
            return _model_setup(row)
    raise UnknownModel("No model is offered here yet. The operator of this server must add one in the admin.")


def _model_setup(row: LanguageModel) -> Setup:
    context_tokens = row.context_tokens
    if context_tokens is None and row.provider == ENDPOINT_PROVIDER:
        context_tokens = known_context_tokens(row.endpoint, row.name)
    return Setup(
        provider=row.provider,
        endpoint=row.endpoint,
        model=row.name,
        label=str(row),
        thinking_level=row.thinking_level,
        thinking_budget=row.thinking_budget,
        temperature=row.temperature,
        max_output_tokens=row.max_output_tokens,
        context_tokens=context_tokens,
        code_execution=row.code_execution,
        image_output=row.image_output,
        is_missing=row.missing_since is not None,
        prices=Prices() if row.has_lapsed_prices else Prices(row.input_price, row.output_price, row.cached_price),
    )


def _preset_setup(preset: Preset, row: LanguageModel) -> Setup:
    """Return the model's setup with the preset's settings; a tool is on only if both allow it."""
    setup = _model_setup(row)
    if preset.thinking_level or preset.thinking_budget is not None:
        setup = replace(setup, thinking_level=preset.thinking_level, thinking_budget=preset.thinking_budget)
    return replace(
        setup,
        label=preset.label,
        code_execution=preset.code_execution and row.code_execution,
        web_search=preset.web_search and row.web_search,
        url_context=preset.url_context and row.url_context,
        instruction=preset.instruction,
    )


def restore_setup(parameters: Mapping[str, Any], *, provider: str, endpoint: str = "", model: str) -> Setup:
    """Return the setup that a turn was started with; fields that are not in `parameters` have their default."""
    settings_of_turn = {name: parameters[name] for name in Setup.__dataclass_fields__ if name in parameters}
    prices = Prices(**{name: Decimal(price) for name, price in settings_of_turn.pop("prices", {}).items()})
    columns = {"provider": provider, "endpoint": endpoint, "model": model}
    return Setup(**{"label": model, **settings_of_turn, **columns, "prices": prices})


def find_title_setup() -> Setup | None:
    """Return the setup of the model that makes conversation titles, or `None` if no model can make them.

    The demo model is not an AI: its title would be worse than the first words of the question.
    """
    for row in LanguageModel.objects.filter(makes_titles=True, is_enabled=True, missing_since__isnull=True):
        if _is_offered(row) and not is_demo(row.provider, row.endpoint):
            return _model_setup(row)
    return None
