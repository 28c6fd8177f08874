"""A Gemini provider, and a server for it to talk to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

import pytest
from pytest_django import Settings

from chat.parts import Content, GenerateRequest, Part, PartKind, PartReceived, Role, StreamEvent
from chat.providers.base import ProviderError
from chat.providers.gemini import GeminiProvider
from tests.chat.providers.raw_server import Answer, RawServer, serving

Serve: TypeAlias = Callable[[Answer], AbstractAsyncContextManager[RawServer]]


@pytest.fixture(scope="session")
def provider() -> GeminiProvider:
    """One for all tests, as in a process; each test has an event loop of its own."""
    return GeminiProvider()


@pytest.fixture(autouse=True, params=["lean", "sdk"])
def reader(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Both ways of reading a stream give the same."""
    settings.GEMINI_STREAM_READER = request.param
    chosen: str = request.param
    return chosen


@pytest.fixture
def serve(settings: Settings) -> Serve:
    """Serve an answer, and let the settings name that server."""

    @asynccontextmanager
    async def serve_answer(answer: Answer) -> AsyncGenerator[RawServer, None]:
        async with serving(answer) as server:
            settings.GOOGLE_GEMINI_BASE_URL = server.url
            yield server

    return serve_answer


REQUEST = GenerateRequest("gemini-test", (Content(Role.USER, (Part(PartKind.TEXT, text="?"),)),))


async def all_of(
    provider: GeminiProvider, request: GenerateRequest = REQUEST, *, model: str = ""
) -> tuple[list[StreamEvent], ProviderError | None]:
    """The events of a stream, and the error that ended it."""
    received: list[StreamEvent] = []
    try:
        await provider.generate(replace(request, model=model or request.model), received.extend)
    except ProviderError as error:
        return received, error
    return received, None


def parts_of(received: list[StreamEvent]) -> list[Part]:
    """The parts among the events."""
    return [event.part for event in received if isinstance(event, PartReceived)]


def text_event(text: str) -> dict[str, object]:
    """A chunk with one text part."""
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}
