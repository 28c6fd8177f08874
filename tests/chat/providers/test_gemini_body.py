"""Our request body equals the one that the SDK would send for the same request."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers.google.access import Access
from chat.providers.google.codec import request_body
from chat.providers.google.wire_parts import part_from_wire
from chat.providers.requests import (
    BuiltInTool,
    Content,
    FunctionTool,
    GenerateRequest,
    Thinking,
    ToolChoice,
)
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.parts import Role
from chat.vocabulary.thinking import ThinkingLevel
from tests.chat.providers.camel import in_camel_case
from tests.chat.providers.normal_form import wire_in_normal_form
from tests.chat.providers.wire_strategies import DEVELOPER_API_PARTS, PARTS

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"timeout_s": {"type": "number", "description": "❄"}},
    "required": ["timeout_s"],
}
FUNCTIONS = (FunctionTool("run", "Run it.", SCHEMA), FunctionTool("reset-all_2", "Forget everything."))
SDK_TOOLS = {
    CODE_EXECUTION: types.Tool(code_execution=types.ToolCodeExecution()),
    WEB_SEARCH: types.Tool(google_search=types.GoogleSearch()),
    URL_CONTEXT: types.Tool(url_context=types.UrlContext()),
}
SDK_MODES = {
    ToolChoice.AUTO: types.FunctionCallingConfigMode.AUTO,
    ToolChoice.NONE: types.FunctionCallingConfigMode.NONE,
    ToolChoice.REQUIRED: types.FunctionCallingConfigMode.ANY,
}
DUMMY_SIGNATURE = "skip_thought_signature_validator"
"""Documented at ai.google.dev/gemini-api/docs/thought-signatures for calls that another model made."""


@dataclass(frozen=True)
class WireContent:
    """A content as it was received."""

    role: Role
    parts: list[dict[str, Any]]
    is_own: bool = True


@dataclass(frozen=True)
class Case:
    """One request, with its contents both as received and as the codec gets them."""

    vertexai: bool
    contents: list[WireContent]
    request: GenerateRequest


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a request."""
    vertexai = draw(st.booleans())
    parts = st.lists(PARTS if vertexai else DEVELOPER_API_PARTS, max_size=4)
    contents = draw(st.lists(st.builds(WireContent, st.sampled_from(Role), parts, st.booleans()), max_size=4))
    contents.append(WireContent(Role.USER, [{"text": "?"}]))
    built_in = draw(st.lists(st.sampled_from(sorted(SDK_TOOLS)), unique=True))
    # Vertex AI does not take functions beside built-in tools.
    functions = () if vertexai and built_in else FUNCTIONS[: draw(st.integers(0, 2))]
    level = draw(st.sampled_from([None, ThinkingLevel.LOW, ThinkingLevel.HIGH]))
    budget = None if level else draw(st.sampled_from([None, 0, -1, 2048]))
    request = GenerateRequest(
        model="m",
        contents=tuple(
            Content(content.role, tuple(part_from_wire(wire) for wire in content.parts), content.is_own)
            for content in contents
        ),
        system_instruction=draw(st.sampled_from(["", "Be brief. ❄"])),
        tools=(*(BuiltInTool(name) for name in built_in), *functions),
        tool_choice=draw(st.sampled_from(ToolChoice)),
        thinking=Thinking(level, budget, include_thoughts=draw(st.booleans())),
        temperature=draw(st.sampled_from([None, 0.0, 1.5])),
        max_output_tokens=draw(st.sampled_from([None, 100])),
        image_output=draw(st.booleans()),
    )
    return Case(vertexai, contents, request)


def sdk_contents(contents: list[WireContent]) -> list[types.ContentUnion]:
    """Return the contents as a user of the SDK would send them. A content without parts is left out."""
    sent = [
        types.Content(
            role=content.role.value,
            parts=[part for wire in content.parts if (part := sdk_part(wire, is_own=content.is_own)) is not None],
        )
        for content in contents
    ]
    return [content for content in sent if content.parts]


def sdk_part(wire: Mapping[str, Any], *, is_own: bool) -> types.Part | None:
    """Return a received part for the SDK; `None` if it is not sent.

    Thoughts are never sent. A part without content is sent as an empty text. Of another model's part only
    the content is sent, without its id.
    """
    if wire.get("thought"):
        return None
    wire = {key: value for key, value in wire.items() if key == "text" or value not in ("", False)}
    if wire.keys() <= {"thoughtSignature"}:
        wire = {"text": "", **wire}
    if not is_own:
        wire = wire_for_another_model(wire)
    return types.Part.model_validate(wire) if wire else None


def wire_for_another_model(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of one model in the form that is sent to another model."""
    allowed = ("text", "executableCode", "codeExecutionResult", "inlineData", "fileData", "functionCall")
    bare = {key: value for key, value in wire.items() if key in allowed}
    for key in ("executableCode", "codeExecutionResult", "functionCall"):
        if key in bare:
            bare[key] = {name: value for name, value in bare[key].items() if name != "id"}
    if "functionCall" in bare:
        bare["functionCall"].setdefault("args", {})
        bare["thoughtSignature"] = DUMMY_SIGNATURE
    return bare


def sdk_config(case: Case) -> types.GenerateContentConfig:
    """Return the SDK's configuration for the same request."""
    request = case.request
    built_in = [tool for tool in request.tools if isinstance(tool, BuiltInTool)]
    tools = [SDK_TOOLS[tool.name] for tool in built_in]
    tool_config: types.ToolConfig | None = None
    if request.functions:
        declarations = [
            types.FunctionDeclaration(
                name=one.name, description=one.description, parameters_json_schema=one.parameters or None
            )
            for one in request.functions
        ]
        tools.append(types.Tool(function_declarations=declarations))
        # Beside built-in tools, no mode is sent, because the API documents that it does not accept AUTO there.
        is_default = bool(built_in) and request.tool_choice is ToolChoice.AUTO
        mode = SDK_MODES[request.tool_choice]
        tool_config = types.ToolConfig(
            function_calling_config=None if is_default else types.FunctionCallingConfig(mode=mode),
            include_server_side_tool_invocations=True if built_in else None,
        )
    return types.GenerateContentConfig(
        system_instruction=request.system_instruction or None,
        tools=list(tools) or None,
        tool_config=tool_config,
        thinking_config=sdk_thinking(request),
        response_modalities=["TEXT", "IMAGE"] if request.image_output else None,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
        # For Vertex AI, the SDK refuses `store`, whatever its value.
        store=None if case.vertexai else False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
    )


def sdk_thinking(request: GenerateRequest) -> types.ThinkingConfig | None:
    """Return the thinking configuration. Models that draw images or do not think refuse requests for thoughts."""
    thinking = request.thinking
    wants_thoughts = thinking.include_thoughts and not request.image_output and thinking.budget_tokens != 0
    config = types.ThinkingConfig(
        include_thoughts=True if wants_thoughts else None,
        thinking_level=types.ThinkingLevel(thinking.level.value.upper()) if thinking.level else None,
        thinking_budget=thinking.budget_tokens,
    )
    return config if config.model_dump(exclude_none=True) else None


class Intercepted(Exception):
    """Carries the body that the SDK was about to send."""


async def body_of_the_sdk(case: Case) -> Any:  # noqa: ANN401 - JSON
    """Return the body that the SDK builds for a request."""

    async def intercept(asked: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        assert not isinstance(asked.body, bytes)
        raise Intercepted(asked.body.decode())

    access = replace(Access.from_settings(), vertexai=case.vertexai, api_key="none", base_url="http://127.0.0.1:9")
    async with aiohttp.ClientSession(middlewares=(intercept,)) as session:
        client: genai.Client = access.client(session, ssl.create_default_context())
        stream = await client.aio.models.generate_content_stream(
            model=case.request.model, contents=sdk_contents(case.contents), config=sdk_config(case)
        )
        with pytest.raises(Intercepted) as intercepted:
            await anext(stream)
    return json.loads(str(intercepted.value))


def in_normal_form(body: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a body with keys in camelCase, base64 in one alphabet, and without empty strings inside contents.

    In Google's JSON, an absent string equals an empty one. Empty texts and outputs are kept: they have a meaning.
    """
    normal = in_camel_case(body)
    for content in normal["contents"]:
        content["parts"] = [without_empty_strings(wire_in_normal_form(part)) for part in content["parts"]]
    return normal


def without_empty_strings(value: dict[str, Any]) -> dict[str, Any]:
    """Return JSON without empty strings, except those that have a meaning."""
    return {
        key: item if key in ("args", "partMetadata") or not isinstance(item, dict) else without_empty_strings(item)
        for key, item in value.items()
        if item != "" or key in ("text", "output")
    }


@settings(max_examples=60)
@given(cases())
def test_request_has_the_body_that_the_sdk_would_send(case: Case) -> None:
    by_sdk = asyncio.run(body_of_the_sdk(case))
    own = request_body(case.request, refuses_storage=not case.vertexai)
    assert in_normal_form(json.loads(own)) == in_normal_form(by_sdk)
