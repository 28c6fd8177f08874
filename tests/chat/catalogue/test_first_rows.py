"""A new installation has models and presets that hold together; an old one keeps its own."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

from chat.catalogue.choices import choices
from chat.catalogue.first_rows import load_first_rows
from chat.catalogue.setups import setup_of
from chat.models import LanguageModel, Preset
from tests.chat.catalogue.rows import make_model


@pytest.mark.usefixtures("first_rows")
def test_every_first_row_is_as_the_admin_would_take_it() -> None:
    rows = [*LanguageModel.objects.all(), *Preset.objects.all()]
    assert len(rows) >= 10
    for row in rows:
        row.full_clean()
    assert {row.provider for row in LanguageModel.objects.all()} <= set(settings.CHAT_PROVIDERS)


@pytest.mark.usefixtures("first_rows")
def test_first_presets_are_offered_and_do_what_they_say() -> None:
    assert [choice.value for choice in choices() if choice.group == "Presets"] == ["flash", "pro", "research", "image"]
    flash, pro, research, image = (setup_of(name) for name in ("flash", "pro", "research", "image"))
    assert (flash.thinking_level, flash.code_execution, flash.google_search) == ("HIGH", True, False)
    assert (pro.thinking_level, pro.code_execution) == ("LOW", True)
    assert research.google_search
    assert research.url_context
    assert research.code_execution
    assert research.instruction.startswith("Search first")
    assert image.image_output
    assert not image.code_execution


@pytest.mark.usefixtures("first_rows")
def test_known_prices_say_where_they_were_read() -> None:
    for row in LanguageModel.objects.all():
        assert (row.input_price is None) == (row.output_price is None)
        assert row.prices_note, row.name
        if row.prices_until:
            assert row.input_price is not None


@pytest.mark.usefixtures("no_rows")
def test_rows_of_an_operator_are_left_alone() -> None:
    make_model("mine")
    load_first_rows(LanguageModel, Preset)
    load_first_rows(LanguageModel, Preset)
    assert list(LanguageModel.objects.values_list("name", flat=True)) == ["mine"]
    assert not Preset.objects.exists()


@pytest.mark.usefixtures("no_rows")
def test_migration_loads_them() -> None:
    migration = importlib.import_module("chat.migrations.0006_first_models")
    # No more of an editor is needed, and SQLite has none within a transaction.
    migration.load(apps, SimpleNamespace(connection=connection))
    assert Preset.objects.count() == 4
    assert list(LanguageModel.objects.values_list("position", flat=True)) == [
        10 * number for number in range(1, LanguageModel.objects.count() + 1)
    ]
