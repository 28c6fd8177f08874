"""Requests to the Responses API: the bytes of a full one, and which parts of a conversation are sent back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.openai_compatible.dialects import DIALECTS
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.responses.body import request_body
from chat.providers.requests import Content, FunctionTool, GenerateRequest, Thinking, ToolChoice
from chat.vocabulary.parts import (
    CodeExecutionResult,
    ExecutableCode,
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
from tests.attachments.conftest import png

QUESTION = Content(Role.USER, (Text("Draw."),))
SEALED: JSONObject = {"type": "reasoning", "summary": [], "encrypted_content": "abc"}
CALL: JSONObject = {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": '{"value":1}'}
RESPONSE = FunctionResponse("echo", {"output": "é"}, "call_1")


def body_of(*contents: Content, dialect: str = "openai", facts: ModelFacts | None = None, **fields: Any) -> JSONObject:
    """Return the body of a request with this conversation."""
    request = GenerateRequest("m", contents or (QUESTION,), **fields)
    return request_body(request, DIALECTS[dialect], facts or ModelFacts())


def items_of(*contents: Content, dialect: str = "openai", **fields: Any) -> list[Any]:
    """Return the items of a request."""
    items = body_of(*contents, dialect=dialect, **fields)["input"]
    assert isinstance(items, list)
    return items


def answer(*parts: Part, is_own: bool = True) -> Content:
    return Content(Role.MODEL, parts, is_own=is_own)


def own_parts() -> tuple[Part, ...]:
    """Return an answer with reasoning, a commentary and a call, as the reader makes them."""
    return (
        Thought("I think."),
        Thought("", provider_data={"item": SEALED, "index": 0}),
        Text("I look."),
        Text("", provider_data={"item": {"type": "message", "phase": "commentary"}, "index": 1}),
        FunctionCall("echo", {"value": 1}, "call_1", provider_data={"item": CALL, "index": 2}),
    )


def test_body_of_a_full_request_equals_the_expected_bytes() -> None:
    value = body_of(
        QUESTION,
        answer(*own_parts()),
        Content(Role.USER, (RESPONSE,)),
        system_instruction="Be brief.",
        tools=(FunctionTool("echo", "Returns it.", {"type": "object", "properties": {"value": {"type": "integer"}}}),),
        tool_choice=ToolChoice.REQUIRED,
        thinking=Thinking(ThinkingLevel.HIGH),
        temperature=0.5,
        max_output_tokens=100,
    )
    assert json.dumps(value, ensure_ascii=False) == (
        '{"model": "m", "input": ['
        '{"type": "message", "role": "user", "content": "Draw."}, '
        '{"type": "reasoning", "summary": [], "encrypted_content": "abc"}, '
        '{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}],'
        ' "phase": "commentary"}, '
        '{"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{\\"value\\":1}"}, '
        '{"type": "function_call_output", "call_id": "call_1", "output": "{\\"output\\": \\"é\\"}"}'
        '], "stream": true, "store": false, "instructions": "Be brief.",'
        ' "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "high", "summary": "auto"},'
        ' "temperature": 0.5, "max_output_tokens": 100, "tools": [{"type": "function", "name": "echo",'
        ' "description": "Returns it.", "parameters": {"type": "object", "properties": {"value": {"type": "integer"}}},'
        ' "strict": false}], "tool_choice": "required"}'
    )


def test_request_without_options_has_only_required_parameters() -> None:
    assert list(body_of(dialect="generic")) == ["model", "input", "stream", "store", "include"]


def test_refused_parameters_are_left_out_but_store_false_is_always_sent() -> None:
    refused = frozenset({"include", "reasoning.effort", "reasoning.summary", "temperature", "store"})
    body = body_of(facts=ModelFacts(refuses=refused), temperature=0.5, thinking=Thinking(ThinkingLevel.LOW))
    assert list(body) == ["model", "input", "stream", "store"]
    assert body["store"] is False


def test_answer_of_another_model_is_sent_as_plain_messages_and_calls() -> None:
    parts = (
        Text("I compute."),
        ExecutableCode("6 * 7", "PYTHON", "c"),
        CodeExecutionResult("42\n", "OUTCOME_OK", "c"),
        FunctionCall("odd name!", {"value": 1}, "call_1", provider_data={"item": CALL}),
        Text("And then?"),
    )
    items = items_of(QUESTION, answer(*parts, is_own=False), Content(Role.USER, (RESPONSE, Text("Why?"))))
    assert [(item["type"], item.get("role", "")) for item in items] == [
        ("message", "user"),
        ("message", "assistant"),
        ("message", "user"),
        ("message", "assistant"),
        ("function_call", ""),
        ("function_call_output", ""),
        ("message", "user"),
    ]
    assert items[1]["content"] == "I compute.\n```python\n6 * 7\n```\n"
    assert items[4]["name"] == "odd_name_"


def test_image_made_by_a_function_is_in_its_output_or_else_in_a_user_message() -> None:
    call = answer(FunctionCall("draw", {}, "call_1"), FunctionCall("echo", {}, "call_2"))
    graph = InlineData("image/png", "graph.png", png(3), made_by="call_1")
    drawn, other = FunctionResponse("draw", {"output": 1}, "call_1"), FunctionResponse("echo", {}, "call_2")
    contents = (QUESTION, call, Content(Role.USER, (graph, drawn, other)))
    first, second = items_of(*contents)[-2:]
    assert [one["type"] for one in first["output"]] == ["input_text", "input_image"]
    assert first["output"][1]["image_url"].startswith("data:image/png;base64,")
    assert second["output"] == "{}"
    *_, output, message = items_of(*contents, dialect="generic")
    assert (output["type"], message["role"]) == ("function_call_output", "user")
    assert [one["type"] for one in message["content"]] == ["input_image"]
    with_state = items_of(
        QUESTION, answer(FunctionCall("draw", {}, "call_1")), Content(Role.USER, (graph, drawn)), state="x"
    )
    assert with_state[-1]["output"][-1] == {"type": "input_text", "text": "x"}


@pytest.mark.parametrize("arguments", ['{"val', "[1]", ""])
def test_invalid_arguments_are_sent_back_as_an_empty_object(arguments: str) -> None:
    part = FunctionCall("echo", None, "call_1", provider_data={"item": {**CALL, "arguments": arguments}})
    assert items_of(QUESTION, answer(part), Content(Role.USER, (RESPONSE,)))[1]["arguments"] == "{}"


def test_call_ids_that_a_server_repeats_are_made_unique() -> None:
    call = FunctionCall("echo", {}, "call_1", provider_data={"item": {**CALL, "call_id": "call_0"}})
    turn = (answer(call), Content(Role.USER, (RESPONSE,)))
    items = items_of(QUESTION, *turn, QUESTION, *turn)
    ids = [item["call_id"] for item in items if "call_id" in item]
    assert ids[0] == ids[1] == "call_0"
    assert ids[2] == ids[3] != "call_0"


def test_reasoning_that_ended_after_its_message_is_sent_back_before_it() -> None:
    parts = (
        Text("One"),
        Text("", provider_data={"item": {"type": "message"}, "index": 1}),
        Thought("", provider_data={"item": SEALED, "index": 0}),
    )
    assert [item["type"] for item in items_of(QUESTION, answer(*parts), QUESTION)[1:3]] == ["reasoning", "message"]


def test_output_of_a_custom_tool_call_is_sent_back_as_custom_tool_call_output() -> None:
    item: JSONObject = {"type": "custom_tool_call", "call_id": "call_1", "name": "note", "input": "free text"}
    part = FunctionCall("note", {"input": "free text"}, "call_1", provider_data={"item": item, "index": 0})
    items = items_of(QUESTION, answer(part), Content(Role.USER, (RESPONSE,)))
    assert items[1] == item
    assert items[2]["type"] == "custom_tool_call_output"
