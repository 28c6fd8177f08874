"""Parts of every kind in Gemini's JSON: how they are received, and how they are sent back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from chat.providers.google.wire_parts import part_from_wire
from chat.providers.requests import Content
from chat.vocabulary.parts import (
    JSON,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    PartKind,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from tests.chat.providers.conftest import sent_contents

SIGNED: dict[str, JSON] = {"thought_signature": "c2lnbmVk"}
DUMMY_SIGNATURE = "skip_thought_signature_validator"


@dataclass(frozen=True)
class Row:
    """One part in the JSON of Gemini, in Plotline, and in the JSON for each model. `None`: it is not sent."""

    kind: PartKind
    part: Part
    received: dict[str, Any] | None
    """`None`: no model sends such a part."""
    sent_to_its_model: dict[str, Any] | None
    sent_to_others: dict[str, Any] | None


def as_received(
    kind: PartKind, received: dict[str, Any], part: Part, *, sent_to_others: dict[str, Any] | None = None
) -> Row:
    """Return a row of a part that is sent back to its model unchanged."""
    return Row(kind, part, received, received, sent_to_others)


CODE = {"code": "1 + 1", "language": "PYTHON"}
RESULT = {"outcome": "OUTCOME_OK", "output": "2\n"}
ARGUMENTS: dict[str, JSON] = {"snake_case": None, "camelCase": [1]}
CALL: dict[str, JSON] = {"name": "run", "args": ARGUMENTS}
SEARCH: dict[str, JSON] = {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["a"]}, "id": "s1"}

ROWS = [
    as_received(PartKind.TEXT, {"text": "a"}, Text("a"), sent_to_others={"text": "a"}),
    as_received(
        PartKind.TEXT,
        {"text": "", "thoughtSignature": "c2lnbmVk"},
        Text("", provider_data=SIGNED),
        sent_to_others={"text": ""},
    ),
    as_received(
        PartKind.TEXT,
        {"text": "a", "partMetadata": {"b": 1}},
        Text("a", provider_data={"fields": {"partMetadata": {"b": 1}}}),
        sent_to_others={"text": "a"},
    ),
    Row(PartKind.THOUGHT, Thought("hm"), {"text": "hm", "thought": True}, None, None),
    as_received(
        PartKind.EXECUTABLE_CODE,
        {"executableCode": {**CODE, "id": "e1"}, "thoughtSignature": "c2lnbmVk"},
        ExecutableCode("1 + 1", "PYTHON", "e1", provider_data=SIGNED),
        sent_to_others={"executableCode": CODE},
    ),
    as_received(
        PartKind.CODE_EXECUTION_RESULT,
        {"codeExecutionResult": {**RESULT, "id": "e1"}},
        CodeExecutionResult("2\n", "OUTCOME_OK", "e1"),
        sent_to_others={"codeExecutionResult": RESULT},
    ),
    as_received(
        PartKind.CODE_EXECUTION_RESULT,
        {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
        CodeExecutionResult(None, "OUTCOME_OK"),
        sent_to_others={"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
    ),
    as_received(
        PartKind.CODE_EXECUTION_RESULT,
        {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED", "output": ""}},
        CodeExecutionResult("", "OUTCOME_DEADLINE_EXCEEDED"),
        sent_to_others={"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED", "output": ""}},
    ),
    as_received(
        PartKind.INLINE_DATA,
        {"inlineData": {"mimeType": "image/png", "data": "+/8=", "displayName": "n.png"}},
        InlineData("image/png", "n.png", b"\xfb\xff"),
        sent_to_others={"inlineData": {"mimeType": "image/png", "data": "+/8=", "displayName": "n.png"}},
    ),
    # A draft that an image model made while it thought.
    Row(
        PartKind.INLINE_DATA,
        InlineData("image/png", "", b"x", provider_data={"fields": {"thought": True}}),
        {"inlineData": {"mimeType": "image/png", "data": "eA=="}, "thought": True},
        None,
        {"inlineData": {"mimeType": "image/png", "data": "eA=="}},
    ),
    as_received(
        PartKind.FILE_DATA,
        {"fileData": {"fileUri": "gs://a", "mimeType": "text/csv", "displayName": "a.csv"}},
        FileData("gs://a", "text/csv", provider_data={"content": {"displayName": "a.csv"}}),
        sent_to_others={"fileData": {"fileUri": "gs://a", "mimeType": "text/csv"}},
    ),
    as_received(
        PartKind.FUNCTION_CALL,
        {"functionCall": {**CALL, "id": "c1"}, "thoughtSignature": "c2lnbmVk"},
        FunctionCall("run", ARGUMENTS, "c1", provider_data={**SIGNED, "content": {"id": "c1"}}),
        sent_to_others={"functionCall": CALL, "thoughtSignature": DUMMY_SIGNATURE},
    ),
    as_received(
        PartKind.FUNCTION_CALL,
        {"functionCall": {"name": "run"}},
        FunctionCall("run", {}, provider_data={"content": {"args": None}}),
        sent_to_others={"functionCall": {"name": "run", "args": {}}, "thoughtSignature": DUMMY_SIGNATURE},
    ),
    as_received(
        PartKind.FUNCTION_CALL,
        {"functionCall": {"name": "run", "args": "value=1"}},
        FunctionCall("run", None, provider_data={"content": {"args": "value=1"}}),
        sent_to_others={"functionCall": {"name": "run"}, "thoughtSignature": DUMMY_SIGNATURE},
    ),
    # Vertex AI sends arguments in pieces, if it is asked to.
    as_received(
        PartKind.FUNCTION_CALL,
        {"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "b"}], "willContinue": True}},
        FunctionCall(
            "",
            {},
            provider_data={
                "content": {
                    "partialArgs": [{"jsonPath": "$.a", "stringValue": "b"}],
                    "willContinue": True,
                    "args": None,
                }
            },
        ),
        sent_to_others={"functionCall": {"args": {}}, "thoughtSignature": DUMMY_SIGNATURE},
    ),
    as_received(
        PartKind.FUNCTION_RESPONSE,
        {"functionResponse": {"name": "run", "response": {"a": None}}},
        FunctionResponse("run", {"a": None}),
        sent_to_others={"functionResponse": {"name": "run", "response": {"a": None}}},
    ),
    Row(PartKind.DISPLAY, Display({"text/html": "<b>2</b>"}), None, None, None),
    as_received(
        PartKind.TOOL_CALL,
        {"toolCall": SEARCH, "thoughtSignature": "c2lnbmVk"},
        ToolCall("GOOGLE_SEARCH_WEB", {"queries": ["a"]}, "s1", provider_data=SIGNED),
    ),
    as_received(PartKind.TOOL_CALL, {"toolCall": {}}, ToolCall()),
    as_received(
        PartKind.TOOL_RESPONSE,
        {
            "toolResponse": {"toolType": "URL_CONTEXT", "response": {"a": None}, "id": "s1"},
            "thoughtSignature": "c2lnbmVk",
        },
        ToolResponse("URL_CONTEXT", {"a": None}, "s1", provider_data=SIGNED),
    ),
    as_received(PartKind.TOOL_RESPONSE, {"toolResponse": {"response": {}}}, ToolResponse(result={})),
    as_received(
        PartKind.UNSUPPORTED,
        {"text": "a", "fileData": {"fileUri": "b"}},
        Unsupported(provider_data={"fields": {"text": "a", "fileData": {"fileUri": "b"}}}),
    ),
    # A part without content is refused. Gemini attaches a thought signature to an empty text part.
    Row(
        PartKind.TEXT,
        Text("", provider_data=SIGNED),
        {"thoughtSignature": "c2lnbmVk"},
        {"text": "", "thoughtSignature": "c2lnbmVk"},
        {"text": ""},
    ),
    Row(
        PartKind.THOUGHT,
        Thought("", provider_data=SIGNED),
        {"thought": True, "thoughtSignature": "c2lnbmVk"},
        None,
        None,
    ),
    # The API may refuse fields in a request that the SDK's models do not have.
    Row(
        PartKind.UNSUPPORTED,
        Unsupported(provider_data={**SIGNED, "fields": {"hologram": {"x": 1}}}),
        {"hologram": {"x": 1}, "thoughtSignature": "c2lnbmVk"},
        {"text": "", "thoughtSignature": "c2lnbmVk"},
        None,
    ),
    Row(
        PartKind.UNSUPPORTED,
        Unsupported(provider_data={"fields": {"hologram": {"x": 1}}}),
        {"hologram": {"x": 1}},
        None,
        None,
    ),
    Row(
        PartKind.EXECUTABLE_CODE,
        ExecutableCode("1 + 1", "PYTHON", provider_data={"content": {"mood": "good", "hue": {"a": 1}}}),
        {"executableCode": {**CODE, "mood": "good", "hue": {"a": 1}}},
        {"executableCode": CODE},
        {"executableCode": CODE},
    ),
    Row(PartKind.TEXT, Text(""), {}, {"text": ""}, {"text": ""}),
]

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}-{json.dumps(row.received)[:60]}")


def sent_parts(*parts: Part, is_own: bool = True, role: Role = Role.MODEL) -> list[dict[str, Any]]:
    """Return the parts of a request with one content."""
    sent = sent_contents(Content(role, parts, is_own))
    assert len(sent) <= 1
    return [part for content in sent for part in content["parts"]]


def test_test_table_has_a_row_for_every_kind_of_part() -> None:
    assert {row.kind for row in ROWS} == set(PartKind)
    assert all(row.kind is row.part.kind for row in ROWS)


@each_row
def test_part_is_received_with_all_its_fields(row: Row) -> None:
    if row.received is not None:
        assert part_from_wire(row.received) == row.part


@each_row
def test_part_is_sent_back_to_its_model(row: Row) -> None:
    assert sent_parts(row.part) == ([] if row.sent_to_its_model is None else [row.sent_to_its_model])


@each_row
def test_part_is_sent_to_another_model_without_signatures_or_is_left_out(row: Row) -> None:
    for part in (row.part, replace(row.part, provider_data={})):
        assert sent_parts(part, is_own=False) == ([] if row.sent_to_others is None else [row.sent_to_others])


def test_fields_that_are_null_are_treated_as_missing() -> None:
    assert part_from_wire({"text": "a", "thought": None, "functionCall": None}) == Text("a")
    assert part_from_wire({"executableCode": {"code": "1", "id": None}}) == ExecutableCode("1")


@pytest.mark.parametrize(
    "wire",
    [
        {"text": 5},
        {"thoughtSignature": 5},
        {"executableCode": 5},
        {"executableCode": {"code": 5}},
        {"codeExecutionResult": {"output": []}},
        {"inlineData": {"data": "%%%"}},
        {"inlineData": {"data": 5}},
        {"functionCall": {"name": {}}},
    ],
)
def test_part_with_a_field_of_the_wrong_type_is_refused(wire: Mapping[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        part_from_wire(wire)


def test_message_without_parts_to_send_is_left_out() -> None:
    thought, signature = Thought("hm", provider_data=SIGNED), Text("", provider_data=SIGNED)
    first, second = Content(Role.MODEL, (thought,)), Content(Role.MODEL, (thought, Text(""), signature))
    assert sent_contents(first, second) == [
        {"role": "model", "parts": [{"text": ""}, {"text": "", "thoughtSignature": "c2lnbmVk"}]}
    ]


def test_error_of_a_function_is_sent_in_its_function_response() -> None:
    response = FunctionResponse("run", {"error": "It failed."}, "c1", is_error=True)
    assert sent_parts(response, role=Role.USER) == [
        {"functionResponse": {"name": "run", "response": {"error": "It failed."}}}
    ]
