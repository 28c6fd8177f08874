"""An emulator for turns that run in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from chat.turns.database_thread import prompt_reader, turn_store
from tests.emulator_server import running_emulator


@pytest.fixture(scope="session")
def scenarios_url() -> Iterator[str]:
    """An emulator without pauses, as strict as the real API."""
    with running_emulator(strict=True) as url:
        yield url


@pytest.fixture
def emulated(scenarios_url: str, settings: Settings) -> Iterator[Settings]:
    """Settings that point at it."""
    settings.GOOGLE_GEMINI_BASE_URL = scenarios_url
    settings.GEMINI_EMULATED = True
    settings.PROVIDER_RETRY_PAUSE_S = 0.01
    settings.PROVIDER_RETRY_LIMIT_S = 1
    yield settings
    turn_store.close_connection()
    prompt_reader.close_connection()
