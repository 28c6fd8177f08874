"""The setup that a name stands for: presets override models, and names that are not offered are rejected."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.catalogue.choices import list_choices
from chat.catalogue.setups import Prices, Setup, UnknownModel, find_setup, restore_setup
from tests.chat.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "with_key")


def test_setup_of_a_model_has_the_values_of_its_row_without_web_tools() -> None:
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
    assert find_setup("m") == Setup(
        provider="gemini",
        model="m",
        label="M",
        thinking_budget=7,
        temperature=0.5,
        max_output_tokens=10,
        context_tokens=100,
        code_execution=True,
        web_search=False,
        url_context=False,
        image_output=True,
        prices=Prices(Decimal("1.5"), Decimal(2), None),
    )


def test_preset_overrides_its_model() -> None:
    model = make_model("m", thinking_level="low", temperature=0.5, context_tokens=100, input_price=Decimal(3))
    make_preset("p", language_model=model, thinking_budget=0, web_search=True, url_context=True, instruction="Do.")
    assert find_setup("p") == Setup(
        provider="gemini",
        model="m",
        label="P",
        thinking_budget=0,
        temperature=0.5,
        context_tokens=100,
        code_execution=True,
        web_search=True,
        url_context=True,
        instruction="Do.",
        prices=Prices(input=Decimal(3)),
    )


def test_preset_without_thinking_settings_uses_those_of_its_model() -> None:
    make_preset("level", language_model=make_model("a", thinking_level="high"))
    make_preset("budget", language_model=make_model("b", thinking_budget=9))
    assert find_setup("level").thinking_level == "high"
    assert find_setup("budget").thinking_budget == 9


@pytest.mark.parametrize("tool", ["code_execution", "web_search", "url_context"])
@pytest.mark.parametrize(("in_preset", "in_model"), [(True, True), (True, False), (False, True)])
def test_tool_needs_both_preset_and_model(tool: str, in_preset: bool, in_model: bool) -> None:
    make_preset("p", language_model=make_model("m", **{tool: in_model}), **{tool: in_preset})
    assert getattr(find_setup("p"), tool) is (in_preset and in_model)


@pytest.mark.parametrize(("name", "queries"), [("p", 1), ("m", 2), ("", 2)])
def test_finding_a_setup_takes_at_most_two_queries(
    django_assert_num_queries: DjangoAssertNumQueries, name: str, queries: int
) -> None:
    make_preset("p", language_model=make_model("m"))
    with django_assert_num_queries(queries):
        find_setup(name)


def test_disabled_or_unknown_name_raises_unknown_model() -> None:
    make_model("m", is_enabled=False)
    make_preset("off", is_enabled=False)
    make_preset("over-off", language_model=make_model("n", is_enabled=False))
    for name in ("m", "off", "over-off", "n", "other", "x" * 300):
        with pytest.raises(UnknownModel, match=r"There is no model “.{1,100}” here"):
            find_setup(name)


def test_server_default_works_without_a_row_and_with_a_disabled_one(settings: Settings) -> None:
    assert find_setup("") == find_setup("default-model") == Setup("gemini", "default-model", label="default-model")
    make_model("default-model", is_enabled=False, context_tokens=5)
    assert find_setup("").context_tokens == 5
    make_preset("p", thinking_level="high", is_enabled=False)
    settings.DEFAULT_MODEL = "p"
    assert (find_setup("").model, find_setup("").thinking_level) == ("model-of-p", "high")


def test_emulator_accepts_any_name(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    assert find_setup("scenario-text") == Setup("gemini", "scenario-text", label="scenario-text")


def test_preset_precedes_model_and_default_provider_precedes_others() -> None:
    make_model("m", provider="another")
    assert find_setup("m").provider == "another"
    make_model("m", provider="gemini", position=5)
    assert find_setup("m").provider == "gemini"
    make_preset("m", language_model=make_model("n"))
    assert find_setup("m").model == "n"


def test_prices_apply_up_to_their_last_day() -> None:
    today: date = timezone.now().date()
    prices = Prices(Decimal(1), Decimal(2))
    for last_day, expected in ((None, prices), (today, prices), (today - timedelta(days=1), Prices())):
        make_model(f"m-{last_day}", input_price=1, output_price=2, prices_until=last_day)
        assert find_setup(f"m-{last_day}").prices == expected


def test_setup_can_be_restored_from_its_parameters() -> None:
    make_preset("p", language_model=make_model("m", input_price=1), web_search=True, thinking_level="low")
    setup = find_setup("p")
    parameters = setup.parameters()
    assert parameters["prices"] == {"input": "1.000000"}
    restored = restore_setup({**parameters, "of an older version": 1}, provider="gemini", model="m")
    assert restored.parameters() == parameters
    assert restored == setup
    assert restore_setup({}, provider="gemini", model="m") == Setup("gemini", "m", label="m")


def test_first_preset_is_the_default_without_a_configured_one(settings: Settings) -> None:
    settings.DEFAULT_MODEL = ""
    with pytest.raises(UnknownModel, match="No model is offered here yet"):
        find_setup("")
    row = make_model("m")
    assert find_setup("").model == "m"
    make_preset("p", language_model=row, label="P", position=3)
    make_preset("off", language_model=row, label="Off", position=1, is_enabled=False)
    assert find_setup("").label == "P"
    assert list_choices()[0].label == "Default (P)"
