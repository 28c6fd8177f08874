"""One server for all tests of this folder, and a client of its API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from chat.models import User
from tests.chat.answering.tools.code_server import make_token
from tests.chat.api.api_client import ApiClient
from tests.emulator_server import shared_emulator
from tests.kernel_service import shared_service
from tests.live_server import LiveServer, Visitor, running_server


@pytest.fixture
def client(owner: User) -> Client:
    """A client in which the owner is logged in."""
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture(scope="session")
def server() -> Iterator[LiveServer]:
    """A server with the emulator for tests, Python sessions, and throttles that are too high to matter."""
    variables = {"API_CALLS_PER_MINUTE": "1000000", "API_WRITES_PER_MINUTE": "1000000"}
    variables["KERNEL_SERVICE_DIR"] = str(shared_service().directory)
    with running_server(GOOGLE_GEMINI_BASE_URL=shared_emulator(), **variables) as running:
        yield running


@pytest.fixture(scope="session")
def token(server: LiveServer) -> str:
    """A token of user demo."""
    return make_token(Visitor(server))


@pytest.fixture
def api(server: LiveServer, token: str) -> ApiClient:
    """A client that calls the server as demo."""
    return ApiClient(server, token)
