"""A server process whose answers can run code after a person's approval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tests.emulator_server import shared_emulator
from tests.live_server import LiveServer, Visitor, running_server

VARIABLES = {
    "SETTING_TOOL_SETS": '["tests.chat.answering.tools.code_tools.make"]',
    "API_CALLS_PER_MINUTE": "1000000",
    "API_WRITES_PER_MINUTE": "1000000",
}


@contextmanager
def running_code_server(**variables: str) -> Iterator[LiveServer]:
    """Run a server during the block, with the emulator for tests."""
    with running_server(GOOGLE_GEMINI_BASE_URL=shared_emulator(), **VARIABLES, **variables) as server:
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


def make_token(visitor: Visitor) -> str:
    """Return a new token of this user, who has just logged in."""
    page = visitor.post("/accounts/tokens/", name="tests", days="30").text
    match = re.search('id="new-token">([^<]+)<', page)
    assert match
    return match[1]
