"""An emulator that runs code, as strict as the real API, for turns of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from chat.turns import store
from tests.emulator_server import running_emulator


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    """Its address."""
    with running_emulator(strict=True) as url:
        yield url


@pytest.fixture
def emulated(emulator_url: str, settings: Settings) -> Iterator[Settings]:
    """Settings that point at it."""
    settings.GOOGLE_GEMINI_BASE_URL = emulator_url
    settings.GEMINI_EMULATED = True
    settings.PROVIDER_RETRY_PAUSE_S = 0.01
    yield settings
    store.close_connection()
