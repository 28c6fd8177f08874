"""Fixtures: an emulator that replays the recordings, and tools that run code after approval."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools, UseTools
from tests.emulator_server import running_emulator
from tests.recordings import write_recordings


@pytest.fixture(scope="module")
def replay_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of an emulator that replays the recordings."""
    folder = tmp_path_factory.mktemp("recordings")
    write_recordings(folder)
    with running_emulator(recordings=folder) as url:
        yield url


@pytest.fixture
def replaying(emulated: Settings, replay_url: str) -> Settings:
    """Settings with the address of that emulator."""
    emulated.GOOGLE_GEMINI_BASE_URL = replay_url
    return emulated


@pytest.fixture
def code_tools(emulated: Settings, tmp_path: Path) -> None:
    """Let answers run code, after approval."""
    emulated.TOOL_SETS = ["tests.chat.answering.tools.code_tools.make"]
    emulated.VAR_DIR = tmp_path


@pytest.fixture
def use_tools(emulated: Settings) -> UseTools:
    """Give turns a tool set with these functions."""
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    return lambda *names, **fields: recording_tools.choose(RecordingTools(names, **fields))
