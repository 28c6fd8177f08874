"""The choices of the model picker: the server's default, the presets and the models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from django.conf import settings

from chat.models import LanguageModel
from chat.providers import is_demo
from chat.providers.catalogue.offers import Offers, Row
from chat.providers.catalogue.published import ModelEnd, end_of
from chat.providers.catalogue.setups import DEMO_LABEL, find_setup, prices_on, today, uses_demo
from chat.vocabulary.built_in_tools import URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.demo_model import DEMO_MODEL
from chat.vocabulary.number_text import english_date

DEFAULT = "Default"
PRESETS = "Presets"
MODELS = "Models"
MISSING_NOTICE = "No longer offered by the provider."
NOT_OFFERED_NOTICE = "No longer offered here. Choose another one."
DEMO_DESCRIPTION = "Answers a few kinds of question, and runs the code of any ```python block."
DEMO_SEARCH = "The demo model has no access to the web, and says so. Gemini searches Google and reads web pages."
SEARCH_HELP = "The model searches Google when that helps, and names its sources. {cost}"
PAGES_HELP = "The model reads web pages whose address it is given, but cannot search. This costs tokens only."
NOT_IN_CATALOGUE = "The catalogue does not say that this model can search the web."
DEMO_NOTICE = "There is no Gemini key: a demo model answers. It is not an AI."


class Search(StrEnum):
    """Whether answers of a choice search the web in a conversation whose search mode is `auto`."""

    ON = "on"
    OFF = "off"
    NONE = "none"
    """The model can neither search the web nor read web pages, or this is not known."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the model picker."""

    value: str
    """The value that a conversation stores; empty for the server's default at the time of a turn."""
    label: str
    description: str
    group: str
    """`DEFAULT`, `PRESETS` or `MODELS`; empty for a choice that is no longer offered."""
    is_missing: bool
    """Whether the provider reported that the model no longer exists."""
    is_demo: bool = False
    """Whether the demo model answers."""
    search: Search = Search.NONE
    search_help: str = ""
    """What a search costs, or why there is none; a sentence."""

    def searches(self, mode: str) -> bool:
        """Return whether answers search the web in a conversation with this setting: `auto`, `on` or `off`."""
        return self.search is not Search.NONE and (mode == Search.ON or (mode == "auto" and self.search is Search.ON))


def list_choices(current: str = "") -> list[Choice]:
    """Return the server's default, then the presets, then the models. At most three queries if `current` is among them.

    `current` is the conversation's choice. If it is none of them, it comes last, because a picker without it would
    display another choice as selected. If two providers have a model with the same id, the list contains the one that
    `find_setup` returns. The demo model is one choice, in place of all models that it replaces. It has no choice of its
    own if it is the server's default, which is the first choice, or if an endpoint has a model with its name.
    """
    offers = Offers()
    addresses = offers.addresses
    choices = [_default_choice(offers.default, addresses)]
    choices += [_row_choice(name, row, addresses) for name, row in offers.rows.items()]
    if is_demo() and DEMO_MODEL not in offers.rows:
        if not choices[0].is_demo:
            demo = Choice(DEMO_MODEL, DEMO_LABEL, DEMO_DESCRIPTION, MODELS, is_missing=False, is_demo=True)
            choices.append(replace(demo, search_help=DEMO_SEARCH))
        elif current == DEMO_MODEL:
            choices[0] = replace(choices[0], value=DEMO_MODEL)
    if current and current not in {choice.value for choice in choices}:
        choices.append(_current_choice(current))
    return choices


def _current_choice(current: str) -> Choice:
    """Return the choice of a conversation that the catalogue does not offer. The demo model may answer in its place."""
    choice = Choice(current, current, NOT_OFFERED_NOTICE, "", is_missing=True, search_help=NOT_IN_CATALOGUE)
    if not uses_demo(current):
        return choice
    setup = find_setup(current)
    if setup.model == DEMO_MODEL:
        return replace(choice, is_demo=True, search_help=DEMO_SEARCH)
    # The demo model does not replace this model, because it belongs to an emulator for tests (`EMULATED_MODELS`).
    search = _search_state(setup.can_search or setup.can_read_pages, setup.web_search or setup.url_context)
    help_text = _search_help(setup.label, setup.can_search, setup.can_read_pages, setup.prices.search)
    return replace(choice, is_demo=True, search=search, search_help=help_text)


def check_choice(name: str) -> None:
    """Raise UnknownModel if users may not choose this name; its text is a sentence for the user."""
    find_setup(name)


def _row_choice(name: str, row: Row, addresses: Mapping[str, str]) -> Choice:
    model = _model_of(row)
    tools, search_price = model.service_tools, prices_on(model, today()).search
    return Choice(
        value=name,
        label=str(row),
        description=_describe(row, model, addresses.get(model.endpoint, "")),
        group=MODELS if row is model else PRESETS,
        is_missing=model.missing_since is not None,
        search=_search_state(bool(tools & {WEB_SEARCH, URL_CONTEXT}), _searches_by_itself(row, tools)),
        search_help=_search_help(str(model), WEB_SEARCH in tools, URL_CONTEXT in tools, search_price),
    )


def _searches_by_itself(row: Row, tools: frozenset[str]) -> bool:
    """Return whether answers search the web, or read web pages, if the conversation's search mode is `auto`."""
    if isinstance(row, LanguageModel):
        return False
    return (row.web_search and WEB_SEARCH in tools) or (row.url_context and URL_CONTEXT in tools)


def _search_state(is_able: bool, searches: bool) -> Search:
    if not is_able:
        return Search.NONE
    return Search.ON if searches else Search.OFF


def _search_help(label: str, can_search: bool, can_read_pages: bool, price: Decimal | None) -> str:
    """Return what the switch for web search says about a model, with the cost of a search at its list price."""
    if not can_search:
        return PAGES_HELP if can_read_pages else f"{label} cannot search the web."
    if price is None:
        return SEARCH_HELP.format(cost="It costs extra; how much is not known here.")
    return SEARCH_HELP.format(cost=f"It costs ${price.normalize():f} per 1,000 searches, beside the tokens.")


def _describe(row: Row, model: LanguageModel, address: str) -> str:
    """Return sentences about a choice: when its model ends, whether it is missing, its description, its next prices."""
    missing = MISSING_NOTICE if model.missing_since else ""
    sentences = _describe_end(end_of(model, address)), missing, row.description, _next_prices(model)
    return " ".join(filter(None, sentences))


def _describe_end(end: ModelEnd | None) -> str:
    if end is None:
        return ""
    verb, since = ("Ends", "From then on,") if end.on > today() else ("Ended", "Now")
    successor = f" {since} {end.successor} answers." if end.successor else ""
    return f"{verb} on {english_date(end.on)}.{successor}"


def _next_prices(model: LanguageModel) -> str:
    """Return the prices that will follow those of today, in a sentence; empty if none are known to follow."""
    begin = model.next_prices_from
    if begin is None or begin <= today() or model.next_input_price is None or model.next_output_price is None:
        return ""
    read, written = _amount(model.next_input_price), _amount(model.next_output_price)
    return f"From {english_date(begin)} on, a million tokens cost ${read} to read and ${written} to write."


def _amount(price: Decimal) -> str:
    """Return a price without needless zeros: `4`, `1.50` or `0.075`."""
    text = f"{price.normalize():f}"
    return f"{text}0" if text[-2:-1] == "." else text


def _default_choice(row: Row | None, addresses: Mapping[str, str]) -> Choice:
    if row is None:
        choice = Choice("", settings.DEFAULT_MODEL, "", DEFAULT, is_missing=False, search_help=NOT_IN_CATALOGUE)
        uses_demo_model = is_demo()
    else:
        choice = replace(_row_choice("", row, addresses), group=DEFAULT)
        model = _model_of(row)
        uses_demo_model = is_demo(model.provider, model.endpoint)
    if uses_demo_model:
        return Choice("", DEMO_LABEL, DEMO_NOTICE, DEFAULT, is_missing=False, is_demo=True, search_help=DEMO_SEARCH)
    return choice


def _model_of(row: Row) -> LanguageModel:
    return row if isinstance(row, LanguageModel) else row.language_model
