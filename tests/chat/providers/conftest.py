"""A provider for each protocol, and servers to which they send requests."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from pytest_django import Settings

from chat.providers.google.codec import request_body
from chat.providers.google.provider import GeminiProvider
from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.providers.provider_errors import ProviderError
from chat.providers.requests import Content, GenerateRequest
from chat.vocabulary.parts import Part, Role, Text
from chat.vocabulary.stream_events import PartReceived, StreamEvent
from tests.chat.providers.raw_server import Answer, RawServer, run_server
from tests.openai_endpoints import EndpointsInMemory
from tests.openai_server.server import StandInServer

Serve: TypeAlias = Callable[[Answer], AbstractAsyncContextManager[RawServer]]

REQUEST = GenerateRequest("gemini-test", (Content(Role.USER, (Text("?"),)),))


@pytest.fixture(scope="session")
def provider() -> GeminiProvider:
    """One provider for all tests, as in a server process. Each test has a separate event loop."""
    return GeminiProvider()


@pytest.fixture
def serve(settings: Settings) -> Serve:
    """Return a context manager that serves an answer at the address that the settings then name."""

    @asynccontextmanager
    async def serve_answer(answer: Answer) -> AsyncGenerator[RawServer, None]:
        async with run_server(answer) as server:
            settings.GOOGLE_GEMINI_BASE_URL = server.url
            yield server

    return serve_answer


@pytest.fixture
async def openai_provider(
    stand_in: StandInServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[OpenAICompatibleProvider, None]:
    """A provider at the stand-in's profile `generic`, which knows nothing about its models."""
    monkeypatch.setattr("chat.providers.openai_compatible.provider.StoredEndpoints", EndpointsInMemory)
    monkeypatch.setattr(EndpointsInMemory, "server", stand_in, raising=False)
    monkeypatch.setattr(EndpointsInMemory, "known", {})
    made = OpenAICompatibleProvider("generic")
    yield made
    await made.aclose()


async def read_all(
    provider: GeminiProvider, request: GenerateRequest = REQUEST, *, model: str = ""
) -> tuple[list[StreamEvent], ProviderError | None]:
    """Read a stream to its end. Return its events, and the error that ended it."""
    received: list[StreamEvent] = []
    try:
        async for events in provider.stream(replace(request, model=model or request.model)):
            received += events
    except ProviderError as error:
        return received, error
    return received, None


def parts_of(events: list[StreamEvent]) -> list[Part]:
    """Return the parts among the events."""
    return [event.part for event in events if isinstance(event, PartReceived)]


def texts_of(events: list[StreamEvent]) -> list[str]:
    """Return the text of each part among the events."""
    return [part.long_text for part in parts_of(events)]


def text_chunk(text: str) -> dict[str, object]:
    """Return a chunk with one text part."""
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}


def sent_contents(*contents: Content) -> list[dict[str, Any]]:
    """Return the contents of a request with this history."""
    request = GenerateRequest("m", (*REQUEST.contents, *contents, *REQUEST.contents))
    contents_sent: list[dict[str, Any]] = json.loads(request_body(request))["contents"]
    return contents_sent[1:-1]
