"""The shipped emulator as a process: what it serves, and how it ends."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from tests.emulator_server import EmulatorProcess


@pytest.fixture
def emulator() -> Iterator[EmulatorProcess]:
    process = EmulatorProcess("chat.emulator", "--pace", "0")
    yield process
    process.stop()


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as response:
        return str(response.read().decode())


def _ask(url: str, model: str, prompt: str) -> str:
    """Return the body of an answer with code execution, or an empty text if it was refused or the emulator died."""
    body = {"contents": [{"parts": [{"text": prompt}]}], "tools": [{"codeExecution": {}}]}
    request = urllib.request.Request(f"{url}/v1beta/models/{model}:generateContent", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(response.read().decode())
    except (urllib.error.URLError, ConnectionError):
        return ""


def test_shipped_emulator_lists_only_the_demo_model(emulator: EmulatorProcess) -> None:
    models = json.loads(_get(f"{emulator.url}/v1beta/models"))["models"]
    assert [model["name"] for model in models] == ["models/plotline-demo"]


def test_demo_emulator_serves_neither_other_models_nor_the_journal(emulator: EmulatorProcess) -> None:
    assert "demo model" in _ask(emulator.url, "plotline-demo", "between you and me")
    assert not _ask(emulator.url, "gemini-flash-latest", "between you and me")
    with pytest.raises(urllib.error.HTTPError) as refused:
        _get(f"{emulator.url}/v1beta/models/scenario-unavailable")
    with refused.value:
        assert refused.value.code == 404
    with pytest.raises(urllib.error.HTTPError) as caught:
        _get(f"{emulator.url}/emulator/calls")
    with caught.value:
        assert caught.value.code == 404


def test_invalid_arguments_are_reported() -> None:
    with pytest.raises(RuntimeError, match="The emulator did not start"):
        EmulatorProcess("chat.emulator", "--no-such-argument")


def test_emulator_for_tests_exits_when_its_standard_input_is_closed() -> None:
    emulator = EmulatorProcess("tests.gemini_emulator", "--end-with-stdin")
    try:
        assert emulator.close_stdin_and_wait() == 0
    finally:
        emulator.stop()
