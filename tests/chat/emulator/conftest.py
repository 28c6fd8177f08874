"""One emulator for all tests here, and the real SDK pointed at it."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from google import genai
from google.genai import types

from tests.emulator_server import recordings_folder, running_emulator

TLS = ssl.create_default_context()


@pytest.fixture(scope="session")
def emulator_url() -> Iterator[str]:
    """Base URL of an emulator without pauses, with the recordings if they are there."""
    with running_emulator(recordings_folder(), warm_kernels=1, code_limit_s=10.0) as url:
        yield url


@pytest.fixture
async def client(emulator_url: str) -> AsyncIterator[genai.Client]:
    """The SDK as the product uses it: on an aiohttp session of our own, for its own one warns."""
    async with connected(emulator_url) as sdk:
        yield sdk


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[genai.Client]:
    """The SDK for the length of the block, pointed at an emulator."""
    async with aiohttp.ClientSession() as session:
        options = types.HttpOptions(
            base_url=url,
            api_version="v1beta",
            aiohttp_client=session,
            # Else each client reads the certificates anew, a tenth of a second each time.
            client_args={"verify": TLS},
            async_client_args={"ssl": TLS, "verify": TLS},
        )
        yield genai.Client(api_key="any", http_options=options)


@pytest.fixture
async def http(emulator_url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Plain HTTP to the emulator, for what the SDK hides."""
    async with aiohttp.ClientSession(emulator_url) as session:
        yield session
