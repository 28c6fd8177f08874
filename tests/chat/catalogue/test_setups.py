"""A name becomes what a generation is set to: presets over models, and nothing that is not offered."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.catalogue.choices import choices
from chat.catalogue.setups import Prices, Setup, UnknownModel, setup_from, setup_of
from tests.chat.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "with_key")


def test_model_is_set_as_its_row_says_and_searches_only_by_a_preset() -> None:
    make_model(
        "m",
        label="M",
        thinking_budget=7,
        temperature=0.5,
        max_output_tokens=10,
        context_tokens=100,
        image_output=True,
        input_price=Decimal("1.5"),
        output_price=Decimal(2),
    )
    assert setup_of("m") == Setup(
        provider="gemini",
        model="m",
        label="M",
        thinking_budget=7,
        temperature=0.5,
        max_output_tokens=10,
        context_tokens=100,
        code_execution=True,
        google_search=False,
        url_context=False,
        image_output=True,
        prices=Prices(Decimal("1.5"), Decimal(2), None),
    )


def test_preset_stands_over_its_model() -> None:
    model = make_model("m", thinking_level="LOW", temperature=0.5, context_tokens=100, input_price=Decimal(3))
    make_preset("p", language_model=model, thinking_budget=0, google_search=True, url_context=True, instruction="Do.")
    assert setup_of("p") == Setup(
        provider="gemini",
        model="m",
        label="P",
        thinking_budget=0,
        temperature=0.5,
        context_tokens=100,
        code_execution=True,
        google_search=True,
        url_context=True,
        instruction="Do.",
        prices=Prices(input=Decimal(3)),
    )


def test_preset_without_thinking_thinks_as_its_model() -> None:
    make_preset("level", language_model=make_model("a", thinking_level="HIGH"))
    make_preset("budget", language_model=make_model("b", thinking_budget=9))
    assert setup_of("level").thinking_level == "HIGH"
    assert setup_of("budget").thinking_budget == 9


@pytest.mark.parametrize("tool", ["code_execution", "google_search", "url_context"])
@pytest.mark.parametrize(("by_preset", "by_model"), [(True, True), (True, False), (False, True)])
def test_tool_needs_both_preset_and_model(tool: str, by_preset: bool, by_model: bool) -> None:
    make_preset("p", language_model=make_model("m", **{tool: by_model}), **{tool: by_preset})
    assert getattr(setup_of("p"), tool) is (by_preset and by_model)


def test_every_name_takes_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    make_preset("p", language_model=make_model("m"))
    for name in ("p", "m", ""):
        with django_assert_num_queries(2):
            setup_of(name)


def test_what_is_disabled_or_unknown_cannot_be_chosen() -> None:
    make_model("m", is_enabled=False)
    make_preset("off", is_enabled=False)
    make_preset("over-off", language_model=make_model("n", is_enabled=False))
    for name in ("m", "off", "over-off", "n", "other", "x" * 300):
        with pytest.raises(UnknownModel, match=r"There is no model “.{1,100}” here"):
            setup_of(name)


def test_server_default_works_without_a_row_and_with_a_disabled_one(settings: Settings) -> None:
    assert setup_of("") == setup_of("default-model") == Setup("gemini", "default-model", label="default-model")
    make_model("default-model", is_enabled=False, context_tokens=5)
    assert setup_of("").context_tokens == 5
    make_preset("p", thinking_level="HIGH", is_enabled=False)
    settings.GEMINI_MODEL = "p"
    assert (setup_of("").model, setup_of("").thinking_level) == ("model-of-p", "HIGH")


def test_emulator_answers_by_any_name(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    assert setup_of("scenario-text") == Setup("gemini", "scenario-text", label="scenario-text")


def test_of_equal_names_the_preset_comes_first_and_then_the_servers_own_provider() -> None:
    make_model("m", provider="another")
    assert setup_of("m").provider == "another"
    make_model("m", provider="gemini", position=5)
    assert setup_of("m").provider == "gemini"
    make_preset("m", language_model=make_model("n"))
    assert setup_of("m").model == "n"


def test_prices_hold_until_their_last_day() -> None:
    today: date = timezone.now().date()
    prices = Prices(Decimal(1), Decimal(2))
    for last, shown in ((None, prices), (today, prices), (today - timedelta(days=1), Prices())):
        make_model(f"m-{last}", input_price=1, output_price=2, prices_until=last)
        assert setup_of(f"m-{last}").prices == shown


def test_setup_is_kept_with_a_turn_and_found_again() -> None:
    make_preset("p", language_model=make_model("m", input_price=1), google_search=True, thinking_level="LOW")
    setup = setup_of("p")
    kept = setup.parameters()
    assert kept["prices"] == {"input": "1.000000"}
    again = setup_from({**kept, "of an older version": 1}, provider="gemini", model="m")
    assert again.parameters() == kept
    assert again == setup
    assert setup_from({}, provider="gemini", model="m") == Setup("gemini", "m", label="m")


def test_without_a_named_default_the_first_preset_is_it(settings: Settings) -> None:
    settings.GEMINI_MODEL = ""
    with pytest.raises(UnknownModel, match="No model is offered here yet"):
        setup_of("")
    row = make_model("m")
    assert setup_of("").model == "m"
    make_preset("p", language_model=row, label="P", position=3)
    make_preset("off", language_model=row, label="Off", position=1, is_enabled=False)
    assert setup_of("").label == "P"
    assert choices()[0].label == "Default (P)"
