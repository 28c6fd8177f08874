"""Requests to the Interactions API: the bytes of a full one, and which parts of a conversation are sent back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings
from yarl import URL

from chat.providers.google.client import interactions_url
from chat.providers.google.interactions.body import request_body
from chat.providers.google.provider import GeminiProvider
from chat.providers.requests import (
    BuiltInTool,
    Content,
    FunctionTool,
    GenerateRequest,
    Thinking,
    ToolChoice,
)
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.dialect_names import INTERACTIONS_API
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
    Role,
    Text,
    Thought,
)
from chat.vocabulary.thinking import ThinkingLevel
from tests.chat.providers.conftest import Serve, read_all
from tests.chat.providers.raw_server import answer_with_events
from tests.interaction_streams import completed

QUESTION = Content(Role.USER, (Text("Draw."),))
RESPONSE = FunctionResponse("echo", {"output": "é"}, "f1")
SCHEMA: JSONObject = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": []}
CALL: JSONObject = {"step": {"type": "function_call", "id": "f1", "name": "echo"}, "thought_signature": "Zg=="}
LIST: JSONObject = {
    "type": "code_execution_result",
    "call_id": "c1",
    "result": [{"type": "text", "text": "one\n"}, None],
}


def own_parts() -> tuple[Part, ...]:
    """Return an answer with a thought, code, a graph in its result, and a call, as the reader makes them."""
    code: JSONObject = {"type": "code_execution_call", "id": "c1", "arguments": {"language": "python"}}
    thought: JSONObject = {"type": "thought", "summary": [{"type": "text", "text": "I think."}]}
    return (
        Thought("I think."),
        Thought("", provider_data={"step": thought, "thought_signature": "dA=="}),
        ExecutableCode("plot()", "PYTHON", "c1", provider_data={"step": code, "thought_signature": "Yw=="}),
        CodeExecutionResult("one\n", OUTCOME_OK, "c1", provider_data={"step": LIST, "thought_signature": "cg=="}),
        InlineData("image/png", "", b"png", provider_data={"place": 1}),
        Text("I look "),
        Text("again."),
        FunctionCall("echo", {"value": 1}, "f1", provider_data=CALL),
    )


def steps_of(*contents: Content, **fields: Any) -> list[Any]:
    """Return the steps of a request with this conversation."""
    steps: list[Any] = json.loads(request_body(GenerateRequest("m", contents, **fields)))["input"]
    return steps


def answer(*parts: Part, is_own: bool = True) -> Content:
    """Return an answer."""
    return Content(Role.MODEL, parts, is_own=is_own)


def full_request() -> GenerateRequest:
    """Return a request that sets every field."""
    return GenerateRequest(
        "gemini-test",
        (QUESTION, answer(*own_parts()), Content(Role.USER, (RESPONSE,))),
        system_instruction="Be brief.",
        tools=(BuiltInTool(CODE_EXECUTION), BuiltInTool(WEB_SEARCH), FunctionTool("echo", "Returns it.", SCHEMA)),
        tool_choice=ToolChoice.REQUIRED,
        thinking=Thinking(ThinkingLevel.HIGH),
        temperature=0.5,
        max_output_tokens=100,
        state="x = 1",
        protocol=INTERACTIONS_API,
    )


async def test_body_of_a_full_request_equals_the_expected_bytes(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_events(completed())) as server:
        await read_all(provider, full_request())
        exchange = await server.next_request()
    assert exchange.path == "/v1beta/interactions"
    assert exchange.headers["content-type"] == "application/json"
    assert exchange.headers["content-length"] == str(len(exchange.body))
    assert exchange.body.decode() == (
        '{"model": "gemini-test", '
        '"system_instruction": "Be brief.", '
        '"tools": [{"type": "code_execution"}, {"type": "google_search"}, '
        '{"type": "function", "name": "echo", "description": "Returns it.", '
        '"parameters": {"type": "object", "properties": {"value": {"type": "integer"}}}}], '
        '"generation_config": {"temperature": 0.5, "max_output_tokens": 100, "thinking_level": "high", '
        '"thinking_summaries": "auto", "tool_choice": "any"}, '
        '"stream": true, "store": false, "input": ['
        '{"type": "user_input", "content": [{"type": "text", "text": "Draw."}]}, '
        '{"type": "thought", "summary": [{"type": "text", "text": "I think."}], "signature": "dA=="}, '
        '{"type": "code_execution_call", "id": "c1", "arguments": {"code": "plot()", "language": "python"},'
        ' "signature": "Yw=="}, '
        '{"type": "code_execution_result", "call_id": "c1", "result": [{"type": "text", "text": "one\\n"},'
        ' {"type": "image", "mime_type": "image/png", "data": "cG5n"}], "signature": "cg=="}, '
        '{"type": "model_output", "content": [{"type": "text", "text": "I look again."}]}, '
        '{"type": "function_call", "id": "f1", "name": "echo", "arguments": {"value": 1}, "signature": "Zg=="}, '
        '{"type": "function_result", "call_id": "f1", "name": "echo", "result": ['
        '{"type": "text", "text": "{\\"output\\": \\"\\u00e9\\"}"}, {"type": "text", "text": "x = 1"}]}]}'
    )


def test_options_that_are_not_set_are_left_out_of_the_request() -> None:
    request = GenerateRequest("m", (QUESTION,), thinking=Thinking(include_thoughts=False))
    assert json.loads(request_body(request)).keys() == {"model", "input", "stream", "store"}
    drawing = json.loads(request_body(replace(request, image_output=True, tools=(BuiltInTool(URL_CONTEXT),))))
    assert drawing["response_format"] == [{"type": "text"}, {"type": "image"}]
    assert drawing["tools"] == [{"type": "url_context"}]
    unthinking = json.loads(request_body(replace(request, thinking=Thinking(budget_tokens=0))))
    assert unthinking["generation_config"] == {"thinking_level": "minimal"}


def test_files_of_a_question_become_image_document_or_video_content() -> None:
    files = (
        InlineData("image/png", "a.png", b"a"),
        InlineData("text/csv", "a.csv", b"b"),
        FileData(uri="https://example.org/a", mime_type="application/pdf"),
        FileData(uri="https://example.org/b", mime_type="video/mp4"),
        Text("?"),
    )
    [question] = steps_of(Content(Role.USER, files))
    assert question["content"] == [
        {"type": "image", "mime_type": "image/png", "data": "YQ=="},
        {"type": "document", "mime_type": "text/csv", "data": "Yg=="},
        {"type": "document", "mime_type": "application/pdf", "uri": "https://example.org/a"},
        {"type": "video", "mime_type": "video/mp4", "uri": "https://example.org/b"},
        {"type": "text", "text": "?"},
    ]


def test_answer_of_another_model_is_sent_back_as_text() -> None:
    foreign = (
        ExecutableCode("1/0", "PYTHON", "c1"),
        CodeExecutionResult("ZeroDivisionError", OUTCOME_FAILED, "c1"),
        InlineData("image/png", "", b"png"),
        Text("No."),
        FunctionCall("echo", {"value": 1}, "f1"),
    )
    steps = steps_of(QUESTION, answer(*foreign, is_own=False), Content(Role.USER, (RESPONSE, Text("And?"))))
    assert [step["type"] for step in steps[1:4]] == ["model_output", "user_input", "model_output"]
    assert steps[1]["content"] == [{"type": "text", "text": "\n```python\n1/0\n```\n"}]
    result, image = steps[2]["content"]
    assert result["text"] == "[The code failed. Its output:]\n\n```\nZeroDivisionError\n```\n"
    assert image == {"type": "image", "mime_type": "image/png", "data": "cG5n"}
    called, question = steps[4]["content"]
    assert called["text"] == '[The function echo was called with {"value": 1}. It returned: {"output": "é"}]'
    assert question["text"] == "And?"


def test_result_of_a_failed_function_is_sent_with_is_error() -> None:
    later = replace(RESPONSE, is_error=True)
    rounds = [answer(FunctionCall("echo", {}, "f1", provider_data=CALL)), Content(Role.USER, (later,))]
    steps = steps_of(QUESTION, *rounds, *rounds)
    assert [step.get("is_error") for step in steps] == [None, None, True, None, True]
    assert {step["call_id"] for step in steps if "call_id" in step} == {"f1"}


def test_result_is_sent_back_with_the_shortened_output() -> None:
    result = CodeExecutionResult("on…", OUTCOME_OK, "c1", provider_data={"step": LIST})
    [_, step] = steps_of(QUESTION, answer(result, InlineData("image/png", "", b"png", provider_data={"place": 1})))
    assert [one.get("text") for one in step["result"]] == ["on…", None]
    [_, without_image] = steps_of(QUESTION, answer(result))
    assert without_image["result"] == [{"type": "text", "text": "on…"}]


def test_session_state_follows_the_question_if_there_is_no_function_result() -> None:
    [question] = steps_of(QUESTION, state="x = 1")
    assert [one["text"] for one in question["content"]] == ["Draw.", "x = 1"]


@pytest.mark.parametrize("account", ["/v1beta1", "/gateway/v1/projects/p/locations/global"])
def test_url_for_interactions_is_made_from_the_url_for_a_model(account: str) -> None:
    of_model = "/publishers/google/models/m" if "projects" in account else "/models/m"
    url = URL(f"https://example.org{account}{of_model}:streamGenerateContent?alt=sse")
    assert str(interactions_url(url)) == f"https://example.org{account}/interactions"


async def test_name_of_a_model_may_contain_a_slash(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_events(completed())) as server:
        await read_all(provider, GenerateRequest("tunedModels/m", (QUESTION,), protocol=INTERACTIONS_API))
        exchange = await server.next_request()
    assert (exchange.path, exchange.json["model"]) == ("/v1beta/interactions", "tunedModels/m")


async def test_vertex_ai_with_a_key_does_not_support_the_interactions_api(
    provider: GeminiProvider, settings: Settings
) -> None:
    settings.GOOGLE_GENAI_USE_VERTEXAI, settings.GOOGLE_CLOUD_PROJECT = True, ""
    received, error = await read_all(provider, GenerateRequest("m", (QUESTION,), protocol=INTERACTIONS_API))
    assert (received, error and error.code) == ([], "protocol_unavailable")
