"""The provider's own list of models."""

from __future__ import annotations

import asyncio
import json

import pytest
from pytest_django import Settings

from chat.providers.base import ListedModel
from chat.providers.google import files
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import MalformedResponse, Stalled, Unauthorised
from tests.chat.providers.conftest import Serve
from tests.chat.providers.raw_server import WAIT_LIMIT_S, Answer, Exchange, answer_with_error
from tests.emulator_server import shared_emulator

GENERATES = {
    "name": "models/gemini-x",
    "displayName": "Gemini X",
    "description": "Answers.",
    "inputTokenLimit": 1_048_576,
    "outputTokenLimit": 65_536,
    "supportedGenerationMethods": ["generateContent", "countTokens"],
}
EMBEDS = {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]}
WITHOUT_LIMITS = {"name": "models/gemini-y", "supportedGenerationMethods": ["generateContent"]}


def answer_with_pages(*bodies: object) -> Answer:
    """Answer with one of the bodies: the first one, or the one whose index the page token gives."""

    async def answer(exchange: Exchange) -> None:
        _, _, token = exchange.path.partition("pageToken=")
        exchange.head(content_type="application/json")
        exchange.send(json.dumps(bodies[int(token.partition("&")[0] or 0)]).encode())
        exchange.end()

    return answer


async def test_models_that_generate_content_are_listed_from_all_pages(provider: GeminiProvider, serve: Serve) -> None:
    first = {"models": [GENERATES, EMBEDS], "nextPageToken": "1"}
    second = {"models": [], "nextPageToken": "2"}
    async with serve(answer_with_pages(first, second, {"models": [WITHOUT_LIMITS]})) as server:
        listed = await provider.list_models()
    assert listed == [
        ListedModel("gemini-x", "Gemini X", "Answers.", 1_048_576, 65_536),
        ListedModel("gemini-y", "gemini-y", "", None, None),
    ]
    assert server.exchanges[0].path.partition("?")[0] == "/v1beta/models"


async def test_models_of_vertex_ai_are_listed_without_the_publisher_prefix(
    provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = "a-key"
    settings.GEMINI_API_VERSION = "v1beta1"
    body = {"publisherModels": [{"name": "publishers/google/models/gemini-x", "versionId": "1"}]}
    async with serve(answer_with_pages(body)) as server:
        assert await provider.list_models() == [ListedModel("gemini-x", "gemini-x", "", None, None)]
    assert server.exchanges[0].path.partition("?")[0] == "/v1beta1/publishers/google/models"


async def test_empty_list_is_not_an_error(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_pages({})):
        assert await provider.list_models() == []


async def test_list_of_models_without_an_end_raises_an_error_after_the_time_limit(
    provider: GeminiProvider, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LIST_LIMIT_S", 0.2)
    async with serve(answer_with_pages({"models": [EMBEDS], "nextPageToken": "0"})):
        with pytest.raises(Stalled):
            await asyncio.wait_for(provider.list_models(), WAIT_LIMIT_S)


async def test_failure_to_list_models_raises_a_provider_error(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_error(403, b'{"error": {"code": 403, "message": "no"}}')) as server:
        with pytest.raises(Unauthorised):
            await provider.list_models()
        server.answer = answer_with_pages("nonsense")
        with pytest.raises(MalformedResponse):
            await provider.list_models()


async def test_models_of_the_emulator_are_listed(provider: GeminiProvider, settings: Settings) -> None:
    settings.GOOGLE_GEMINI_BASE_URL = shared_emulator()
    names = [model.name for model in await provider.list_models()]
    await provider.aclose()
    assert "plotline-demo" in names
    assert len(names) == len(set(names)) > 10
