"""The setup that a name stands for: presets override models, and names that are not offered are rejected."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.models import LanguageModel, Preset
from chat.providers.catalogue.choices import list_choices
from chat.providers.catalogue.setups import (
    DEMO_LABEL,
    Prices,
    Setup,
    UnknownModel,
    find_setup,
    prices_on,
    restore_setup,
)
from chat.vocabulary.demo_model import DEMO_MODEL
from tests.chat.providers.catalogue.rows import make_model, make_preset

pytestmark = pytest.mark.usefixtures("no_rows", "with_key")


def test_setup_of_a_model_has_the_values_of_its_row_and_web_search_is_off() -> None:
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
        can_search=True,
        can_read_pages=True,
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
        can_search=True,
        can_read_pages=True,
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
def test_tool_is_on_only_if_both_preset_and_model_allow_it(tool: str, in_preset: bool, in_model: bool) -> None:
    make_preset("p", language_model=make_model("m", **{tool: in_model}), **{tool: in_preset})
    assert getattr(find_setup("p"), tool) is (in_preset and in_model)


@pytest.mark.parametrize("name", ["p", "m", ""])
def test_find_setup_runs_two_queries(django_assert_num_queries: DjangoAssertNumQueries, name: str) -> None:
    make_preset("p", language_model=make_model("m"))
    with django_assert_num_queries(2):
        find_setup(name)


def test_disabled_or_unknown_name_raises_unknown_model() -> None:
    make_model("m", is_enabled=False)
    make_preset("off", is_enabled=False)
    make_preset("over-off", language_model=make_model("n", is_enabled=False))
    for name in ("m", "off", "over-off", "n", "other", "x" * 300):
        with pytest.raises(UnknownModel, match=r"There is no model “.{1,100}” here"):
            find_setup(name)


def test_default_model_can_be_used_without_a_row_or_with_a_disabled_row(settings: Settings) -> None:
    assert find_setup("") == find_setup("default-model") == Setup("gemini", "default-model", label="default-model")
    make_model("default-model", is_enabled=False, context_tokens=5)
    assert find_setup("").context_tokens == 5
    make_preset("p", thinking_level="high", is_enabled=False)
    settings.DEFAULT_MODEL = "p"
    assert (find_setup("").model, find_setup("").thinking_level) == ("model-of-p", "high")


@pytest.mark.parametrize("name", ["", "pro", "gemini-pro-latest", DEMO_MODEL, "default-model"])
def test_setup_has_the_name_of_the_demo_model_if_it_replaces_another_model(settings: Settings, name: str) -> None:
    settings.GEMINI_EMULATED = True
    make_preset("pro", language_model=make_model("gemini-pro-latest", label="Gemini Pro, latest", input_price=2))
    setup = find_setup(name)
    assert (setup.model, setup.label, setup.prices) == (DEMO_MODEL, DEMO_LABEL, Prices())


def test_demo_model_does_not_replace_scenario_models_of_the_emulator(settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    make_model("scenario-text", context_tokens=9)
    assert (find_setup("scenario-text").model, find_setup("scenario-text").context_tokens) == ("scenario-text", 9)


@pytest.mark.parametrize("is_emulated", [True, False])
def test_model_id_without_a_catalogue_row_is_refused_unless_the_operator_allows_it(
    settings: Settings, is_emulated: bool
) -> None:
    settings.GEMINI_EMULATED = is_emulated
    make_model("off", is_enabled=False)
    make_preset("p")
    names = DEMO_MODEL if is_emulated else "p, model-of-p"
    with pytest.raises(UnknownModel, match=rf"There is no model “gemini-x” here\. Choose one of these: {names}\.$"):
        find_setup("gemini-x")
    settings.ALLOW_UNLISTED_MODELS = True
    # The id is sent under its own name.
    assert find_setup("gemini-x") == Setup("gemini", "gemini-x", label="gemini-x")
    for name in ("off", "../gemini-x", "a b", "a/b:c"):
        with pytest.raises(UnknownModel):
            find_setup(name)


def test_error_about_an_unknown_model_lists_40_models_and_counts_the_others() -> None:
    for number in range(45):
        make_model(f"m-{number:02}")
    with pytest.raises(UnknownModel, match="m-39 and 5 more") as caught:
        find_setup("other")
    assert "m-40" not in str(caught.value)


def test_preset_precedes_a_model_of_the_same_name_and_gemini_precedes_other_providers() -> None:
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


def test_next_prices_apply_after_the_last_day_of_the_current_ones() -> None:
    row = make_model(input_price=2, output_price=10, cached_price="0.1", search_price=14)
    following = {"next_input_price": 4, "next_output_price": 20}
    LanguageModel.objects.update(prices_until=date(2026, 11, 30), **following)
    row.refresh_from_db()
    assert prices_on(row, date(2026, 11, 30)) == Prices(Decimal(2), Decimal(10), Decimal("0.1"), Decimal(14))
    assert prices_on(row, date(2026, 12, 1)) == Prices(Decimal(4), Decimal(20), None, Decimal(14))
    with pytest.raises(IntegrityError):
        LanguageModel.objects.update(prices_until=None)


def test_setup_can_be_restored_from_its_stored_parameters() -> None:
    make_preset("p", language_model=make_model("m", input_price=1), web_search=True, thinking_level="low")
    setup = find_setup("p")
    parameters = setup.parameters()
    assert parameters["prices"] == {"input": "1.000000"}
    restored = restore_setup({**parameters, "of an older version": 1}, provider="gemini", model="m")
    assert restored.parameters() == parameters
    # Fields that only the start of a turn needs are not stored.
    assert restored == replace(setup, can_search=False, can_read_pages=False)
    assert restore_setup({}, provider="gemini", model="m") == Setup("gemini", "m", label="m")


@pytest.mark.parametrize(
    ("in_preset", "in_model", "mode", "searches"),
    [
        (True, True, "auto", True),
        (True, True, "off", False),
        (False, True, "auto", False),
        (False, True, "on", True),
        (False, True, "off", False),
        (True, False, "auto", False),
        (True, False, "on", False),
    ],
)
def test_search_setting_of_a_conversation_overrides_the_preset_but_not_the_model(
    in_preset: bool, in_model: bool, mode: str, searches: bool
) -> None:
    model = make_model("m", web_search=in_model, url_context=in_model)
    make_preset("p", language_model=model, web_search=in_preset, url_context=in_preset)
    setup = find_setup("p").with_web_search(mode)
    assert (setup.web_search, setup.url_context) == (searches, searches)


def test_functions_may_be_combined_with_built_in_tools_only_if_the_row_allows_it(settings: Settings) -> None:
    make_model("both", functions_beside_tools=True)
    make_model("either")
    takes_both = [find_setup(name).functions_beside_tools for name in ("both", "either", settings.DEFAULT_MODEL)]
    assert takes_both == [True, False, False]
    assert restore_setup(find_setup("both").parameters(), provider="gemini", model="both").functions_beside_tools


def test_oldest_preset_is_the_default_if_none_is_marked(settings: Settings) -> None:
    settings.DEFAULT_MODEL = ""
    with pytest.raises(UnknownModel, match="No model is offered here yet"):
        find_setup("")
    row = make_model("m")
    assert find_setup("").model == "m"
    make_preset("p", language_model=row, label="P", position=3)
    make_preset("off", language_model=row, label="Off", position=1, is_enabled=False)
    make_preset("younger", language_model=row, position=0)
    assert find_setup("").label == "P"
    assert list_choices()[0].label == "P"


def test_position_of_a_preset_never_changes_the_default(settings: Settings) -> None:
    settings.DEFAULT_MODEL = ""
    make_preset("a", position=1)
    marked = make_preset("b", position=5, is_default=True)
    for positions in ((1, 5), (5, 1), (0, 0)):
        for slug, position in zip("ab", positions, strict=True):
            Preset.objects.filter(slug=slug).update(position=position)
        assert find_setup("").label == "B"
        assert list_choices()[0].label == "B"
    Preset.objects.filter(pk=marked.pk).update(is_enabled=False)
    assert find_setup("").label == "B"
    assert [choice.value for choice in list_choices()][:2] == ["", "a"]


def test_default_model_in_the_settings_overrides_the_preset_marked_as_default(settings: Settings) -> None:
    make_preset("marked", is_default=True)
    make_preset("configured")
    settings.DEFAULT_MODEL = "configured"
    assert find_setup("").label == "Configured"


def test_at_most_one_preset_is_the_default() -> None:
    first, second = make_preset("a", is_default=True), make_preset("b")
    with transaction.atomic(), pytest.raises(IntegrityError):
        Preset.objects.filter(pk=second.pk).update(is_default=True)
    second.make_default()
    first.refresh_from_db()
    assert (first.is_default, second.is_default) == (False, True)


@pytest.mark.parametrize("is_default", [True, False])
def test_model_whose_stored_name_has_invisible_characters_is_not_offered(settings: Settings, is_default: bool) -> None:
    name = "a\u202eb"
    settings.DEFAULT_MODEL = name if is_default else "default-model"
    make_preset("p", language_model=make_model(name))
    make_model("good")
    assert [choice.value for choice in list_choices()] == ["", "good"]
    for hidden in (name, "p"):
        with pytest.raises(UnknownModel):
            find_setup(hidden)
