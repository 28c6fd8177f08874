"""One server for all tests of this folder, and a program that calls it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.core.cache import cache

from tests.chat.api.calling import Caller
from tests.emulator_server import running_emulator
from tests.live_server import ROOT, LiveServer, environment, running_server


@pytest.fixture(autouse=True)
def _nobody_has_called_yet() -> None:
    """Throttles count in the cache, which outlives a test."""
    cache.clear()


@pytest.fixture(scope="session")
def server() -> Iterator[LiveServer]:
    """The product, with a strict emulator, and no limits to its callers."""
    with running_emulator(strict=True) as url:
        variables = {"API_CALLS_PER_MINUTE": "1000000", "API_WRITES_PER_MINUTE": "1000000"}
        with running_server(GOOGLE_GEMINI_BASE_URL=url, **variables) as running:
            yield running


@pytest.fixture(scope="session")
def token(server: LiveServer) -> str:
    """Of user demo, made by the command."""
    command = [sys.executable, "manage.py", "create_api_token", "demo", "--name", "tests", "--days", "2"]
    made = subprocess.run(
        command, cwd=ROOT, env=environment(server.var_dir), check=True, capture_output=True, text=True
    )
    return made.stdout.strip()


@pytest.fixture
def caller(server: LiveServer, token: str) -> Caller:
    """Calls as demo."""
    return Caller(server, token)
