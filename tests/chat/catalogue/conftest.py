"""Fixtures for the contents of the catalogue, which replace the rows that migrations added to the test database."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.models import LanguageModel
from tests.first_rows import load_first_rows


@pytest.fixture
def no_rows(db: None) -> None:
    """Empty the catalogue."""
    LanguageModel.objects.all().delete()


@pytest.fixture
def first_rows(no_rows: None) -> None:
    """Fill the catalogue as in a new installation."""
    load_first_rows()


@pytest.fixture
def with_key(settings: Settings) -> None:
    """Configure a server with a key whose default model has no row."""
    settings.GEMINI_EMULATED = False
    settings.DEFAULT_MODEL = "default-model"
