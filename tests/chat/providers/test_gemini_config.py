"""What a request is set to, as it stands on the wire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chat.parts import Content, GenerateRequest, Part, PartKind, Role
from chat.providers.base import InvalidRequest
from chat.providers.gemini import GeminiProvider
from chat.providers.gemini_wire import STAND_IN_SIGNATURE
from tests.chat.providers.camel import in_camel_case
from tests.chat.providers.conftest import REQUEST, Serve, all_of
from tests.chat.providers.raw_server import events

TOLD = {"thinkingConfig": {"includeThoughts": True}}
IMAGES = {"responseModalities": ["TEXT", "IMAGE"]}

SET_TO: list[tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]] | None]] = [
    ({}, TOLD, None),
    ({"include_thoughts": False}, {}, None),
    ({"code_execution": True}, TOLD, [{"codeExecution": {}}]),
    ({"google_search": True}, TOLD, [{"googleSearch": {}}]),
    ({"url_context": True}, TOLD, [{"urlContext": {}}]),
    (
        {"code_execution": True, "google_search": True, "url_context": True},
        TOLD,
        [{"codeExecution": {}}, {"googleSearch": {}}, {"urlContext": {}}],
    ),
    ({"thinking_level": "LOW"}, {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}}, None),
    ({"thinking_level": "XHIGH", "include_thoughts": False}, {"thinkingConfig": {"thinkingLevel": "XHIGH"}}, None),
    ({"thinking_budget": -1}, {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1}}, None),
    ({"thinking_budget": 2048}, {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2048}}, None),
    ({"thinking_budget": 0}, {"thinkingConfig": {"thinkingBudget": 0}}, None),
    ({"temperature": 0.0}, {**TOLD, "temperature": 0.0}, None),
    ({"temperature": 1.5, "max_output_tokens": 100}, {**TOLD, "temperature": 1.5, "maxOutputTokens": 100}, None),
    ({"image_output": True}, IMAGES, None),
    (
        {"image_output": True, "thinking_level": "HIGH", "google_search": True},
        {**IMAGES, "thinkingConfig": {"thinkingLevel": "HIGH"}},
        [{"googleSearch": {}}],
    ),
]


@pytest.mark.parametrize(("fields", "generation", "tools"), SET_TO)
async def test_request_says_what_is_set_and_no_more(
    fields: dict[str, Any],
    generation: dict[str, Any],
    tools: list[dict[str, Any]] | None,
    provider: GeminiProvider,
    serve: Serve,
) -> None:
    async with serve(events({})) as server:
        _, error = await all_of(provider, replace(REQUEST, **fields))
    assert error is None
    body = in_camel_case(server.exchanges[0].json)
    assert body.pop("contents") == [{"role": "user", "parts": [{"text": "?"}]}]
    assert body == {"generationConfig": generation} | ({"tools": tools} if tools else {})


@pytest.mark.parametrize("budget", [0, -1, 100])
async def test_thinking_level_beside_a_budget_is_refused_before_sending(
    budget: int, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(events({})) as server:
        _, error = await all_of(provider, replace(REQUEST, thinking_level="LOW", thinking_budget=budget))
    assert type(error) is InvalidRequest
    assert "together" in error.detail
    assert server.exchanges == []


async def test_stand_in_signature_reads_on_the_wire_as_documented(provider: GeminiProvider, serve: Serve) -> None:
    parts = (
        Part(PartKind.EXECUTABLE_CODE, text="1", language="PYTHON", thought_signature=STAND_IN_SIGNATURE),
        Part(PartKind.FUNCTION_CALL, fields={"name": "f"}, thought_signature=STAND_IN_SIGNATURE),
    )
    request = GenerateRequest("m", (*REQUEST.contents, Content(Role.MODEL, parts), *REQUEST.contents))
    async with serve(events({})) as server:
        await all_of(provider, request)
    sent = server.exchanges[0].json["contents"][1]["parts"]
    assert [part["thoughtSignature"] for part in sent] == ["skip_thought_signature_validator"] * 2
