"""One test emulator for all tests in this folder, and the real SDK with its address."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from google import genai
from google.genai import types

from tests.emulator_server import running_emulator

TLS = ssl.create_default_context()


@pytest.fixture(scope="session")
def emulator_url() -> Iterator[str]:
    """The base URL of an emulator without pauses."""
    with running_emulator(code_limit_s=10.0) as url:
        yield url


@pytest.fixture
async def client(emulator_url: str) -> AsyncIterator[genai.Client]:
    """The SDK as the product uses it."""
    async with connected(emulator_url) as sdk:
        yield sdk


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[genai.Client]:
    """Yield the SDK with the address of an emulator. It uses our aiohttp session, because its own emits warnings."""
    async with aiohttp.ClientSession() as session:
        options = types.HttpOptions(
            base_url=url,
            api_version="v1beta",
            aiohttp_client=session,
            # Otherwise each client reads the certificates again, which takes 0.1 s.
            client_args={"verify": TLS},
            async_client_args={"ssl": TLS, "verify": TLS},
        )
        yield genai.Client(api_key="any", http_options=options)


@pytest.fixture
async def http(emulator_url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """A plain HTTP client of the emulator, for responses that the SDK does not show."""
    async with aiohttp.ClientSession(emulator_url) as session:
        yield session
