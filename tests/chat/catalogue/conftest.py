"""Catalogues to begin with, besides the rows that migrations have put into the test database."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.catalogue.first_rows import load_first_rows
from chat.models import LanguageModel, Preset


@pytest.fixture
def no_rows(db: None) -> None:
    """An operator who has deleted everything."""
    LanguageModel.objects.all().delete()


@pytest.fixture
def first_rows(no_rows: None) -> None:
    """A new installation."""
    load_first_rows(LanguageModel, Preset)


@pytest.fixture
def with_key(settings: Settings) -> None:
    """A server with a key, whose default model has no row."""
    settings.GEMINI_EMULATED = False
    settings.GEMINI_MODEL = "default-model"
