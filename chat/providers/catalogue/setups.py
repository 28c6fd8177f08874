"""The settings of a generation (its setup), found by the name that a user chose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone

from chat.models import Conversation, LanguageModel, Preset
from chat.models.plain_sql import find_row, select_rows
from chat.providers import is_demo
from chat.providers.base import Capabilities
from chat.providers.catalogue.endpoints import settings_models, usable_endpoints
from chat.providers.catalogue.offers import Offers, known_names_sentence, may_answer, precedence
from chat.providers.catalogue.published import ignores_temperature
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.demo_model import DEMO_MODEL

DEMO_LABEL = "Demo model"


class UnknownModel(Exception):
    """A name that users may not choose; the text is a sentence for the user who chose it."""


PATH_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""A name that may be used in a path of Gemini's API."""
EMULATED_MODELS = re.compile(r"(?:scenario|replay)-.+")
"""Models of emulators for tests. Tests put some into the catalogue, and the demo model does not replace them."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens, and of searches; `None` means unknown."""

    input: Decimal | None = None
    output: Decimal | None = None
    cached: Decimal | None = None
    """Price of cached input; `None` means that it costs as much as other input."""
    search: Decimal | None = None
    """Price of a thousand web searches, in US dollars."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings of a generation: those of a model, overridden by those of a preset."""

    provider: str
    model: str
    """The model's id at the provider."""
    label: str
    endpoint: str = ""
    """The server that offers the model. Empty: the one that the provider's settings describe."""
    protocol: str = ""
    """The protocol that the model's row names. Empty: the protocol of the provider's other models."""
    thinking_level: str = ""
    thinking_budget: int | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    """The size of the context window as the operator has set it; `None`: as `Capabilities.context_tokens` says."""
    code_execution: bool = True
    """Whether the model can run code and the preset allows it."""
    allows_code: bool = True
    """Whether code may run in the Python session: not if the preset turns code execution off."""
    web_search: bool = False
    """Whether the model may search the web: if the preset or the conversation says so. Searches cost extra."""
    url_context: bool = False
    """Whether the model may read web pages whose address it is given: if the preset or the conversation says so."""
    can_search: bool = False
    """Whether the model is able to search the web."""
    can_read_pages: bool = False
    """Whether the model is able to read web pages whose address it is given."""
    functions_beside_tools: bool = False
    """Whether the model takes functions in requests that also name tools of its service."""
    takes_tools: bool = True
    """Whether requests may offer tools at all. False for a model that has refused them lately (`refused_tools`)."""
    image_output: bool = False
    instruction: str = ""
    """The preset's additional instruction for the model."""
    prices: Prices = Prices()
    is_missing: bool = False
    """Whether the provider last reported that it has no such model."""

    def with_web_search(self, mode: str) -> Setup:
        """Return the setup with a conversation's search mode: `on` and `off` overrule the preset, `auto` does not.

        A model never gets a tool that it does not have.
        """
        if mode == Conversation.WebSearch.AUTO:
            return self
        is_on = mode == Conversation.WebSearch.ON
        return replace(self, web_search=is_on and self.can_search, url_context=is_on and self.can_read_pages)

    def takes_functions_beside_tools(self, capabilities: Capabilities) -> bool:
        """Return whether requests may declare functions together with tools of the service.

        Both the model, as the catalogue says, and the endpoint must allow it.
        """
        return self.functions_beside_tools and capabilities.functions_beside_built_in

    def parameters(self) -> dict[str, object]:
        """Return the settings that are stored with a turn, as JSON.

        They have no provider, endpoint and model, which are columns of the turn, and no fields of `_NOT_STORED`.
        """
        # `dataclasses.asdict` is slower, since it copies each value deeply.
        parameters = {name: getattr(self, name) for name in _PARAMETER_NAMES}
        prices = {field.name: getattr(self.prices, field.name) for field in fields(self.prices)}
        return {**parameters, "prices": {name: str(price) for name, price in prices.items() if price is not None}}


_COLUMNS = ("provider", "endpoint", "model")
_NOT_STORED = ("is_missing", "can_search", "can_read_pages")
_PARAMETER_NAMES = [field.name for field in fields(Setup) if field.name not in (*_COLUMNS, *_NOT_STORED, "prices")]


def find_setup(name: str) -> Setup:
    """Return the setup that a name stands for, with few queries; raise UnknownModel if it is not offered.

    If the demo model replaces the model, the setup names the demo model, so that pages show who answers.
    An id that no row names is sent to the provider under its own name, if ALLOW_UNLISTED_MODELS allows it.
    """
    setup = _find_catalogued_setup(name)
    if setup is None:
        if not settings.ALLOW_UNLISTED_MODELS or not PATH_SEGMENT.fullmatch(name):
            raise _unknown(name)
        return Setup(settings.CHAT_PROVIDER, name, label=name)
    if not is_demo(setup.provider, setup.endpoint) or EMULATED_MODELS.fullmatch(setup.model):
        return setup
    # Requests offer search to the demo model too, so that its answer can say that it cannot search.
    setup = replace(setup, can_search=True, can_read_pages=True)
    return replace(setup, model=DEMO_MODEL, label=DEMO_LABEL, prices=Prices(), is_missing=False)


def _find_catalogued_setup(name: str) -> Setup | None:
    """Return the setup of a name in the catalogue (see `offers`) or of the default; `None` if no row has this name.

    An empty name stands for the server's default: DEFAULT_MODEL or, if that is not set, the default of the catalogue. A
    default from DEFAULT_MODEL works even if its row is disabled or missing, because the operator configured it, unless
    only endpoints have a model of this name (see `may_answer`). Raises UnknownModel for a row that is not offered.
    """
    is_default = name in ("", settings.DEFAULT_MODEL)
    name = name or settings.DEFAULT_MODEL
    if not name:
        return _default_setup()
    preset = _find_preset("slug = %s", name)
    if preset is not None and (is_default or (preset.is_enabled and _is_offered(preset.language_model))):
        return _preset_setup(preset, preset.language_model)
    rows = select_rows(LanguageModel, "name = %s ORDER BY position, name", name)
    rows += [row for row in settings_models(rows) if row.name == name]
    offered = [row for row in rows if _is_offered(row, is_default=is_default)]
    if not offered and is_default:
        # The endpoint of the default cannot be used. Return its setup: a question is then refused with the reason.
        offered = [row for row in rows if row.is_enabled and row.name.isprintable()]
    if offered:
        return _model_setup(min(offered, key=precedence))
    if (is_default and not rows) or ((is_default or name == DEMO_MODEL) and is_demo()):
        return Setup(settings.CHAT_PROVIDER, name, label=name)
    if rows or preset is not None:
        raise _unknown(name)
    return None


def _find_preset(condition: str, *values: object) -> Preset | None:
    preset = find_row(Preset, condition, *values)
    row = find_row(LanguageModel, "id = %s", preset.language_model_id) if preset else None
    if preset is None or row is None:
        # The model was just deleted, and its presets with it.
        return None
    preset.language_model = row
    return preset


def _unknown(name: str) -> UnknownModel:
    return UnknownModel(f"There is no model “{name[:100]}” here. {known_names_sentence()}")


def uses_demo(name: str) -> bool:
    """Return whether the demo model answers if this name is chosen. Runs no query when the demo model is off."""
    if not is_demo():
        return False
    try:
        setup = find_setup(name)
    except UnknownModel:
        return False
    return is_demo(setup.provider, setup.endpoint)


def _is_offered(row: LanguageModel, *, is_default: bool = False) -> bool:
    return may_answer(row, usable_endpoints([row]), is_default=is_default)


def _default_setup() -> Setup:
    """Return the setup of the catalogue's default, mostly with two queries; raise UnknownModel if there is none."""
    row = _find_preset("is_default ORDER BY position, label") or Offers().default
    if isinstance(row, Preset):
        return _preset_setup(row, row.language_model)
    if row is None:
        raise UnknownModel("No model is offered here yet. The operator of this server must add one in the admin.")
    return _model_setup(row)


def _model_setup(row: LanguageModel) -> Setup:
    tools = row.service_tools
    return Setup(
        provider=row.provider,
        endpoint=row.endpoint,
        model=row.name,
        label=str(row),
        protocol=row.protocol,
        thinking_level=row.thinking_level,
        thinking_budget=row.thinking_budget,
        temperature=None if ignores_temperature(row.name) else row.temperature,
        max_output_tokens=row.max_output_tokens,
        context_tokens=row.context_tokens,
        code_execution=CODE_EXECUTION in tools,
        can_search=WEB_SEARCH in tools,
        can_read_pages=URL_CONTEXT in tools,
        functions_beside_tools=row.functions_beside_tools,
        image_output=row.image_output,
        is_missing=row.missing_since is not None,
        prices=prices_on(row, today()),
    )


def prices_on(row: LanguageModel, day: date) -> Prices:
    """Return the prices of a model on a day in UTC. After `prices_until`, the next prices apply, or none are known."""
    if row.prices_until is None or day <= row.prices_until:
        return Prices(row.input_price, row.output_price, row.cached_price, row.search_price)
    if row.next_prices_from is None:
        return Prices()
    return Prices(row.next_input_price, row.next_output_price, row.next_cached_price, row.search_price)


def today() -> date:
    """Return the day in UTC, by which prices and ends of models change."""
    return timezone.now().date()


def _preset_setup(preset: Preset, row: LanguageModel) -> Setup:
    """Return the model's setup with the preset's settings; a tool is on only if both allow it."""
    setup = _model_setup(row)
    if preset.thinking_level or preset.thinking_budget is not None:
        setup = replace(setup, thinking_level=preset.thinking_level, thinking_budget=preset.thinking_budget)
    return replace(
        setup,
        label=preset.label,
        code_execution=preset.code_execution and setup.code_execution,
        allows_code=preset.code_execution,
        web_search=preset.web_search and setup.can_search,
        url_context=preset.url_context and setup.can_read_pages,
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
