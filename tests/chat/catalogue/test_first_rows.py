"""The first models and presets of a new installation; existing rows are kept."""

from __future__ import annotations

import pytest
from django.conf import settings

from chat.catalogue.choices import list_choices
from chat.catalogue.setups import find_setup
from chat.models import LanguageModel, Preset
from tests.chat.catalogue.rows import make_model
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
    assert (flash.thinking_level, flash.code_execution, flash.web_search) == ("high", True, False)
    assert (pro.thinking_level, pro.code_execution) == ("low", True)
    assert research.web_search
    assert research.url_context
    assert research.code_execution
    assert research.instruction.startswith("Search first")
    assert image.image_output
    assert not image.code_execution


@pytest.mark.usefixtures("first_rows")
def test_every_first_model_names_the_source_of_its_prices() -> None:
    for row in LanguageModel.objects.all():
        assert (row.input_price is None) == (row.output_price is None)
        assert row.prices_note, row.name
        if row.prices_until:
            assert row.input_price is not None


@pytest.mark.usefixtures("no_rows")
def test_rows_of_an_operator_are_kept() -> None:
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
