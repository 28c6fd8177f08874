"""The choices of the model picker: their order, and the notices about missing models and the emulator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.providers.catalogue.choices import (
    DEFAULT,
    DEMO_NOTICE,
    DEMO_SEARCH,
    MISSING_NOTICE,
    MODELS,
    PRESETS,
    Choice,
    Search,
    check_choice,
    list_choices,
)
from chat.providers.catalogue.setups import DEMO_LABEL, UnknownModel, find_setup
from chat.vocabulary.demo_model import DEMO_MODEL
from tests.chat.providers.catalogue.rows import make_endpoint, make_endpoint_model, make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "with_key")


def without_search(choices: Iterable[Choice]) -> list[Choice]:
    """Return the choices without their fields about web search."""
    return [replace(choice, search=Search.NONE, search_help="") for choice in choices]


def test_default_comes_first_then_presets_then_models() -> None:
    model = make_model("m-2", label="Two", description="The second.", position=2)
    make_model("m-1", position=1)
    make_preset("p-2", language_model=model, position=2)
    make_preset("p-1", language_model=model, position=1, description="The first.")
    assert without_search(list_choices()) == [
        Choice("", "default-model", "", DEFAULT, is_missing=False),
        Choice("p-1", "P-1", "The first.", PRESETS, is_missing=False),
        Choice("p-2", "P-2", "", PRESETS, is_missing=False),
        Choice("m-1", "m-1", "", MODELS, is_missing=False),
        Choice("m-2", "Two", "The second.", MODELS, is_missing=False),
    ]


def test_default_choice_has_the_label_of_its_catalogue_row(settings: Settings) -> None:
    make_model("default-model", label="The Model", description="Good.", is_enabled=False)
    assert without_search(list_choices()) == [Choice("", "The Model", "Good.", DEFAULT, is_missing=False)]
    make_preset("quick", label="Quick")
    settings.DEFAULT_MODEL = "quick"
    assert list_choices()[0].label == "Quick"


def test_disabled_rows_are_not_listed() -> None:
    make_preset("off", is_enabled=False, language_model=make_model("m"))
    make_preset("over-off", language_model=make_model("off-m", is_enabled=False))
    assert [choice.value for choice in list_choices()] == ["", "m"]


def test_choices_whose_model_the_provider_no_longer_has_are_marked_as_missing(settings: Settings) -> None:
    model = make_model("m", description="Old.", missing_since=timezone.now())
    make_preset("p", language_model=model)
    settings.DEFAULT_MODEL = "m"
    choices = list_choices()
    assert [choice.value for choice in choices if choice.is_missing] == ["", "p", "m"]
    assert [choice.description for choice in choices] == [
        f"{MISSING_NOTICE} Old.",
        MISSING_NOTICE,
        f"{MISSING_NOTICE} Old.",
    ]


def test_conversations_choice_that_is_no_longer_offered_comes_last_and_is_marked() -> None:
    make_model("m")
    assert list_choices("m") == list_choices("") == list_choices()
    assert [(choice.value, choice.is_missing) for choice in list_choices("gone")][-1] == ("gone", True)


def test_demo_model_is_the_only_choice_if_all_others_need_a_key_that_is_not_set(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    settings.DEFAULT_MODEL = "demo"
    make_preset("p")
    default = Choice("", DEMO_LABEL, DEMO_NOTICE, DEFAULT, is_missing=False, is_demo=True)
    assert without_search(list_choices()) == [default]
    assert without_search(list_choices(DEMO_MODEL)) == [replace(default, value=DEMO_MODEL)]


@pytest.mark.usefixtures("server")
def test_demo_model_is_not_offered_if_an_endpoint_has_a_model_of_the_same_name(settings: Settings) -> None:
    settings.GEMINI_EMULATED, settings.DEFAULT_MODEL = True, DEMO_MODEL
    make_endpoint("local")
    make_endpoint_model("local", DEMO_MODEL, label="Ours")
    assert [choice.label for choice in list_choices(DEMO_MODEL)] == ["Ours", "Ours"]
    make_endpoint_model("local", "other")
    settings.DEFAULT_MODEL = "demo"
    assert [choice.label for choice in list_choices()] == [DEMO_LABEL, "other", "Ours"]


def test_list_of_choices_runs_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(5):
        make_preset(f"p-{number}")
    with django_assert_num_queries(2):
        assert len(list_choices()) == 11


def test_each_name_is_offered_once_with_the_label_of_the_setup_that_it_selects() -> None:
    make_model("m", provider="another", label="Theirs", position=1)
    make_model("m", label="Ours", position=2)
    make_model("p", label="A model like a preset")
    make_preset("p", label="Preset")
    labels = {choice.value: choice.label for choice in list_choices() if choice.value}
    assert labels == {"p": "Preset", "m": "Ours", "model-of-p": "model-of-p"}
    assert all(find_setup(value).label == label for value, label in labels.items())


def test_only_offered_names_can_be_chosen() -> None:
    make_preset("p")
    for name in ("", "p", "model-of-p", "default-model"):
        check_choice(name)
    with pytest.raises(UnknownModel, match=r"Choose one of these: p, model-of-p\.$"):
        check_choice("other")


def test_choice_says_whether_the_model_searches_the_web_and_what_a_search_costs() -> None:
    searching = make_model("searching", search_price=Decimal("14.000000"))
    make_model("unpriced", position=1)
    make_model("lapsed", position=2, search_price=14, prices_until=date(2020, 1, 1))
    make_model("reading", position=3, web_search=False)
    make_model("closed", position=4, web_search=False, url_context=False)
    make_preset("on", language_model=searching, web_search=True, position=1)
    make_preset("off", language_model=searching, position=2)
    choices = {choice.value: choice for choice in list_choices()}
    assert {value: choice.search.value for value, choice in choices.items()} == {
        "": "none",
        "on": "on",
        "off": "off",
        "searching": "off",
        "unpriced": "off",
        "lapsed": "off",
        "reading": "off",
        "closed": "none",
    }
    assert all("$14 per 1,000 searches" in choices[name].search_help for name in ("on", "off", "searching"))
    assert all("not known" in choices[name].search_help for name in ("unpriced", "lapsed"))
    assert "cannot search" in choices["closed"].search_help
    assert "costs tokens only" in choices["reading"].search_help


@pytest.mark.parametrize(
    ("search", "mode", "searches"),
    [
        (Search.ON, "auto", True),
        (Search.ON, "off", False),
        (Search.OFF, "auto", False),
        (Search.OFF, "on", True),
        (Search.NONE, "auto", False),
        (Search.NONE, "on", False),
    ],
)
def test_switch_shows_whether_the_model_searches_the_web(search: Search, mode: str, searches: bool) -> None:
    assert Choice("m", "M", "", MODELS, is_missing=False, search=search).searches(mode) is searches


def test_demo_model_says_that_it_cannot_search(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    make_preset("p", web_search=True)
    assert {(choice.search, choice.search_help) for choice in list_choices()} == {(Search.NONE, DEMO_SEARCH)}
    assert find_setup("p").web_search
