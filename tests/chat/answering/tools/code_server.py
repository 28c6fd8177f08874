"""A server process whose answers can run code after a person's approval."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.emulator_server import running_emulator
from tests.live_server import ROOT, LiveServer, environment, running_server

VARIABLES = {
    "SETTING_TOOL_SETS": '["tests.chat.answering.tools.code_tools.make"]',
    "API_CALLS_PER_MINUTE": "1000000",
    "API_WRITES_PER_MINUTE": "1000000",
}


@contextmanager
def running_code_server(**variables: str) -> Iterator[LiveServer]:
    """Run a server during the block, with the emulator for tests."""
    with (
        running_emulator() as url,
        running_server(GOOGLE_GEMINI_BASE_URL=url, **VARIABLES, **variables) as server,
    ):
        yield server


@contextmanager
def second_process(server: LiveServer) -> Iterator[LiveServer]:
    """Run another process of the same server during the block."""
    other = LiveServer(server.var_dir, server.variables)
    other.start()
    try:
        yield other
    finally:
        other.stop()


def make_token(server: LiveServer) -> str:
    """Return a new token of user demo."""
    command = [sys.executable, "manage.py", "create_api_token", "demo", "--name", "tests", "--days", "2"]
    completed = subprocess.run(
        command, cwd=ROOT, env=environment(server.var_dir), check=True, capture_output=True, text=True
    )
    return completed.stdout.strip()
