"""Fixtures with contents of the catalogue, in place of the rows that migrations added to the test database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from chat.models import LanguageModel
from tests.chat.providers.catalogue.fake_endpoint import Server, fake_server
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
    settings.ALLOW_UNLISTED_MODELS = False


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """Replace the servers of all endpoints by a stand-in."""
    with fake_server(settings) as server:
        yield server


@pytest.fixture
def settings_endpoint(settings: Settings, server: Server) -> Settings:
    """Configure an endpoint with two models, on a server without a Gemini key."""
    settings.GEMINI_EMULATED = True
    settings.OPENAI_BASE_URL = "http://localhost:11434/v1"
    settings.OPENAI_MODELS = ["small", "big"]
    settings.DEFAULT_MODEL = "small"
    settings.ALLOW_UNLISTED_MODELS = False
    return settings
