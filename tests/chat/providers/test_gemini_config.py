"""Settings of a request in its JSON. `test_gemini_body` compares its tools and functions with those of the SDK."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from chat.providers.google.codec import request_body
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import InvalidRequest
from chat.providers.requests import FunctionTool, Thinking, ToolChoice
from chat.vocabulary.thinking import ThinkingLevel
from tests.chat.providers.conftest import REQUEST, Serve, read_all
from tests.chat.providers.raw_server import answer_with_events

THOUGHTS = {"thinkingConfig": {"includeThoughts": True}}
IMAGES = {"responseModalities": ["TEXT", "IMAGE"]}

GENERATION: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, THOUGHTS),
    ({"thinking": Thinking(include_thoughts=False)}, {}),
    (
        {"thinking": Thinking(ThinkingLevel.LOW)},
        {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}},
    ),
    (
        {"thinking": Thinking(ThinkingLevel.XHIGH, include_thoughts=False)},
        {"thinkingConfig": {"thinkingLevel": "XHIGH"}},
    ),
    (
        {"thinking": Thinking(budget_tokens=-1)},
        {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1}},
    ),
    (
        {"thinking": Thinking(budget_tokens=2048)},
        {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2048}},
    ),
    ({"thinking": Thinking(budget_tokens=0)}, {"thinkingConfig": {"thinkingBudget": 0}}),
    ({"temperature": 0.0}, {**THOUGHTS, "temperature": 0.0}),
    ({"temperature": 1.5, "max_output_tokens": 100}, {**THOUGHTS, "temperature": 1.5, "maxOutputTokens": 100}),
    ({"image_output": True}, IMAGES),
    (
        {"image_output": True, "thinking": Thinking(ThinkingLevel.HIGH)},
        {**IMAGES, "thinkingConfig": {"thinkingLevel": "HIGH"}},
    ),
]


@pytest.mark.parametrize(("fields", "generation"), GENERATION)
def test_generation_config_has_only_the_values_that_the_request_sets(
    fields: dict[str, Any], generation: dict[str, Any]
) -> None:
    assert json.loads(request_body(replace(REQUEST, **fields))) == {
        "contents": [{"role": "user", "parts": [{"text": "?"}]}],
        "generationConfig": generation,
    }


@pytest.mark.parametrize("budget", [0, -1, 100])
async def test_request_with_both_thinking_level_and_budget_is_refused_before_it_is_sent(
    budget: int, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_events({})) as server:
        thinking = Thinking(ThinkingLevel.LOW, budget)
        received, error = await read_all(provider, replace(REQUEST, thinking=thinking))
    assert (received, type(error)) == ([], InvalidRequest)
    assert error is not None
    assert "together" in error.detail
    assert server.exchanges == []


def test_vertex_ai_cannot_combine_functions_with_built_in_tools(provider: GeminiProvider, settings: Settings) -> None:
    capabilities = provider.capabilities("gemini-3.8-flash")
    assert (capabilities.functions, capabilities.functions_beside_built_in) == (True, True)
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    capabilities = provider.capabilities("gemini-3.8-flash")
    assert (capabilities.functions, capabilities.functions_beside_built_in) == (True, False)


@pytest.mark.parametrize(
    ("choice", "mode"), [(ToolChoice.AUTO, "AUTO"), (ToolChoice.NONE, "NONE"), (ToolChoice.REQUIRED, "ANY")]
)
def test_functions_without_built_in_tools_are_sent_with_the_tool_choice(choice: ToolChoice, mode: str) -> None:
    functions = tuple(FunctionTool(name, "Loads.", {}) for name in ("load", "save"))
    body = json.loads(request_body(replace(REQUEST, tools=functions, tool_choice=choice)))
    assert [[one["name"] for one in tool["functionDeclarations"]] for tool in body["tools"]] == [["load", "save"]]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": mode}}
