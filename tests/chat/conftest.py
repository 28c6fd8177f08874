"""Fixtures: a user with a client, and servers for turns that run in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import pytest
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from chat.answering.turns.turn_threads import log_folder, prompt_reader, turn_store
from chat.models import ENDPOINT_PROVIDER, PythonSession, User
from chat.providers import get_provider
from chat.python.kernels.places import LocalService
from chat.python.sessions.places import close_client, current_client
from chat.python.sessions.rows import session_store
from tests.emulator_server import shared_emulator
from tests.factories import make_user
from tests.openai_endpoints import ENDPOINT_NAMES, KEY_VARIABLE
from tests.openai_recordings import recordings
from tests.openai_server.refusals import KEY
from tests.openai_server.server import StandInServer, running_server
from tests.responses_recordings import response_recordings


@pytest.fixture
def owner(db: None) -> User:
    """A user with the name `owner`."""
    return make_user("owner")


@pytest.fixture
def browser(owner: User) -> Client:
    """A client that is logged in as `owner`."""
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
async def table_kernels(settings: Settings, kernel_service: LocalService) -> AsyncIterator[Settings]:
    """Settings that read tables in kernels of the shared service."""
    settings.KERNEL_SERVICE_DIR = kernel_service.directory
    caches["process"].clear()
    yield settings
    await close_client()


@pytest.fixture
def scenarios_url() -> str:
    """The base URL of an emulator without pauses."""
    return shared_emulator()


@pytest.fixture
async def emulated(scenarios_url: str, settings: Settings) -> AsyncIterator[Settings]:
    """Settings with the emulator's base URL."""
    settings.GOOGLE_GEMINI_BASE_URL = scenarios_url
    settings.GEMINI_EMULATED = True
    settings.PROVIDER_RETRY_PAUSE_S = 0.01
    settings.PROVIDER_RETRY_LIMIT_S = 1
    yield settings
    # A turn may have read attached tables in kernels.
    await close_client()
    turn_store.close_connection()
    prompt_reader.close_connection()
    log_folder.close_connection()


@pytest.fixture(scope="session")
def stand_in() -> Iterator[StandInServer]:
    """A stand-in for servers of OpenAI's protocols. It replays all recordings."""
    responses = {one.name: one.response for one in response_recordings()}
    with running_server({one.name: one.response for one in recordings()}, responses) as server:
        yield server


@pytest.fixture
async def endpoints(emulated: Settings, stand_in: StandInServer) -> AsyncGenerator[StandInServer, None]:
    """The stand-in, with its key in the settings for endpoints in the database."""
    emulated.ENDPOINT_API_KEYS = {KEY_VARIABLE: KEY}
    yield stand_in
    # Close the connections, which belong to the event loop of the test.
    for name in ENDPOINT_NAMES:
        await get_provider(ENDPOINT_PROVIDER, name).aclose()


@pytest.fixture
async def sessions(emulated: Settings, kernel_service: LocalService) -> AsyncGenerator[Settings, None]:
    """Settings of turns whose code runs in sessions of the shared service. Its kernels end with the test."""
    emulated.KERNEL_SERVICE_DIR = kernel_service.directory
    emulated.KERNEL_WAIT_LIMIT_S = 5
    yield emulated
    for session in await session_store.run(list, PythonSession.objects.alive()):
        await current_client().shut_down(session.kernel_id)
    await close_client()
    session_store.close_connection()
