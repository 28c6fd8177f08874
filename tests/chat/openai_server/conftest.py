"""One stand-in server for all tests of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.openai_server.server import StandInServer, running_server
from tests.openai_server.shapes import RecordedBody, chunk

RECORDED = RecordedBody(chunk({"content": "x"}) * 50)


@pytest.fixture(scope="session")
def server() -> Iterator[StandInServer]:
    """A server with one recorded body."""
    with running_server({"fifty": RECORDED}) as running:
        yield running
