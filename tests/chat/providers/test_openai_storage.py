"""Only Google's own server is asked not to store requests. The bodies of all other requests stay as they are."""

from __future__ import annotations

import logging

import pytest
from pytest_django import Settings

from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from tests.chat.providers.openai_driver import make_request, read_answer
from tests.openai_endpoints import GOOGLE
from tests.openai_server.server import StandInServer

BODY = (
    b'{"model": "text", "messages": [{"role": "user", "content": "What is it?"}], "stream": true,'
    b' "stream_options": {"include_usage": true}, "tools": [{"type": "function", "function": {"name": "echo",'
    b' "description": "A function.", "parameters": {"type": "object", "properties": {"value": {"type": "integer"}}}}}]'
)


@pytest.mark.usefixtures("openai_provider")
@pytest.mark.parametrize(
    ("endpoint", "may_store", "end"),
    [
        (GOOGLE, False, b', "store": false}'),
        (GOOGLE, True, b"}"),
        ("generic", False, b"}"),
        ("openai", False, b"}"),
    ],
)
async def test_only_google_is_asked_not_to_store_requests(
    stand_in: StandInServer, settings: Settings, endpoint: str, may_store: bool, end: bytes
) -> None:
    settings.GEMINI_STORE = may_store
    provider = OpenAICompatibleProvider(endpoint)
    before = len(stand_in.journal)
    answer = await read_answer(provider, make_request("text"))
    await provider.aclose()
    assert answer.error is None
    assert [entry.data for entry in stand_in.journal[before:]] == [BODY + end]


@pytest.mark.usefixtures("openai_provider")
async def test_operator_is_warned_that_google_stores_requests(caplog: pytest.LogCaptureFixture) -> None:
    provider = OpenAICompatibleProvider(GOOGLE)
    with caplog.at_level(logging.WARNING, "chat.providers"):
        for _ in range(2):
            assert (await read_answer(provider, make_request("no-store/text"))).error is None
    await provider.aclose()
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == [
        "endpoint “google” refused `store: false` for no-store/text"
    ]
