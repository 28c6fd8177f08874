"""The first models and presets of a new installation; existing rows are kept."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.conf import settings

from chat.models import LanguageModel, Preset
from chat.providers.catalogue.choices import list_choices
from chat.providers.catalogue.setups import find_setup, prices_on
from tests.chat.providers.catalogue.rows import make_model
from tests.first_rows import load_first_rows


@pytest.mark.usefixtures("first_rows")
def test_every_first_row_passes_the_validation_of_the_admin() -> None:
    rows = [*LanguageModel.objects.all(), *Preset.objects.all()]
    assert len(rows) >= 10
    for row in rows:
        row.full_clean()
    assert {row.provider for row in LanguageModel.objects.all()} <= set(settings.CHAT_PROVIDERS)


@pytest.mark.usefixtures("first_rows", "with_key")
def test_first_presets_are_offered_with_their_settings() -> None:
    assert [choice.value for choice in list_choices() if choice.group == "Presets"] == [
        "flash",
        "pro",
        "research",
        "image",
    ]
    flash, pro, research, image = (find_setup(name) for name in ("flash", "pro", "research", "image"))
    assert (flash.thinking_level, flash.code_execution) == ("high", True)
    assert (pro.thinking_level, pro.code_execution) == ("low", True)
    assert (flash.web_search, flash.url_context, pro.web_search) == (True, True, True)
    # The catalogue does not say that the model of “Pro” reads pages.
    assert not pro.url_context
    assert research.web_search
    assert research.url_context
    assert research.code_execution
    assert research.instruction.startswith("Search first")
    assert image.image_output
    assert not image.code_execution


@pytest.mark.usefixtures("first_rows")
def test_every_first_model_has_a_note_on_the_source_of_its_prices() -> None:
    for row in LanguageModel.objects.all():
        assert (row.input_price is None) == (row.output_price is None)
        assert row.prices_note, row.name
        assert (row.prices_until is None) == (row.next_prices_from is None)


@pytest.mark.usefixtures("first_rows")
@pytest.mark.parametrize(
    ("name", "last_day", "before", "after"),
    [
        ("gemini-4-argon", date(2026, 11, 30), "2 10 0.1", "4 20 0.2"),
        ("gemini-4-carbon", date(2026, 11, 30), "2 10 0.1", "4 20 0.2"),
        ("gemini-3.8-flash", date(2026, 12, 31), "0.75 3.75 0.075", "1.5 7.5 0.15"),
        ("gemini-3.6-flash", date(2026, 12, 31), "0.75 3.75 None", "1.5 7.5 None"),
        ("gemini-4-neon", date(2026, 12, 31), "3 15 0.15", "3 15 0.15"),
    ],
)
def test_first_models_have_the_old_price_until_the_day_of_a_change_and_then_the_new_one(
    name: str, last_day: date, before: str, after: str
) -> None:
    row = LanguageModel.objects.get(name=name)
    for day, expected in ((last_day, before), (last_day + timedelta(days=1), after)):
        prices = prices_on(row, day)
        found = [None if one is None else one.normalize() for one in (prices.input, prices.output, prices.cached)]
        assert " ".join("None" if one is None else f"{one:f}" for one in found) == expected


@pytest.mark.usefixtures("first_rows")
def test_preset_flash_is_the_only_default() -> None:
    assert [preset.slug for preset in Preset.objects.filter(is_default=True)] == ["flash"]


@pytest.mark.usefixtures("first_rows", "with_key")
def test_first_models_with_code_can_call_functions_and_first_presets_with_search_have_its_price() -> None:
    for row in LanguageModel.objects.all():
        assert row.functions_beside_tools == row.code_execution, row.name
        assert row.search_price is None or row.web_search, row.name
    for preset in Preset.objects.filter(web_search=True):
        assert preset.language_model.search_price == 14
    flash = next(choice for choice in list_choices() if choice.value == "flash")
    assert flash.search == "on"
    assert "$14 per 1,000 searches" in flash.search_help


@pytest.mark.usefixtures("no_rows")
def test_first_rows_are_not_added_if_the_operator_has_a_model() -> None:
    make_model("mine")
    load_first_rows()
    load_first_rows()
    assert list(LanguageModel.objects.values_list("name", flat=True)) == ["mine"]
    assert not Preset.objects.exists()


@pytest.mark.usefixtures("no_rows")
def test_migration_fills_an_empty_catalogue() -> None:
    load_first_rows()
    assert Preset.objects.count() == 4
    assert list(LanguageModel.objects.values_list("position", flat=True)) == [
        10 * number for number in range(1, LanguageModel.objects.count() + 1)
    ]
