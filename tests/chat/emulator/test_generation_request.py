"""Parsing of generation requests: what is accepted, and how malformed requests are rejected."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.emulator.generation_request import (
    decode_base64,
    has_code_execution,
    parse_body,
    parse_contents,
    wants_images,
    wants_thoughts,
)
from chat.emulator.wire import WireError, WireObject
from tests.gemini_emulator.titles import system_instruction

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["contents", "parts", "role", "text", "inlineData", "data", "tools", "generationConfig", "systemInstruction"]
)


def test_request_fields_in_snake_case_and_camel_case_are_parsed_alike() -> None:
    snake = parse_body(b'{"system_instruction": {"parts": []}, "tools": [{"code_execution": {}}]}')
    camel = parse_body(b'{"systemInstruction": {"parts": []}, "tools": [{"codeExecution": {}}]}')
    assert snake == camel
    assert has_code_execution(snake)


def test_snake_case_names_inside_function_arguments_are_not_converted() -> None:
    body = parse_body(b'{"function_call": {"name": "f", "args": {"city_name": 1}}}')
    assert body == {"functionCall": {"name": "f", "args": {"city_name": 1}}}


@given(st.binary(max_size=40))
def test_standard_and_url_safe_base64_are_decoded_with_and_without_padding(data: bytes) -> None:
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        assert decode_base64(encoded.decode()) == data
        assert decode_base64(encoded.decode().rstrip("=")) == data


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "contents is not specified"),
        ({"contents": []}, "contents is not specified"),
        ({"contents": [{"parts": []}]}, "parts must not be empty"),
        ({"contents": [{"parts": [{}]}]}, "required oneof field 'data'"),
        ({"contents": [{"role": "assistant", "parts": [{"text": "a"}]}]}, "Please use a valid role: user, model."),
        ({"contents": [{"parts": [{"text": 1}]}]}, "Invalid value at 'contents[0].parts[0].text'"),
        ({"contents": [{"parts": [{"inlineData": {"data": "%"}}]}]}, "Base64 decoding failed"),
        ({"contents": [{"parts": [{"text": "a"}]}], "prompt": 1}, 'Unknown name "prompt"'),
        ({"contents": [{"role": "model", "parts": [{"text": "a"}]}]}, "ending with a model turn"),
    ],
)
def test_malformed_request_is_rejected_with_the_message_of_the_api(body: WireObject, message: str) -> None:
    with pytest.raises(WireError) as caught:
        parse_contents(body)
    assert caught.value.status == 400
    assert message in caught.value.body["error"]["message"]
    assert caught.value.body["error"]["status"] == "INVALID_ARGUMENT"


def test_thinking_budget_and_level_together_are_rejected() -> None:
    config = {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}
    with pytest.raises(WireError):
        wants_thoughts({"generationConfig": config})


@pytest.mark.parametrize(
    ("modalities", "expected"), [(None, False), (["TEXT"], False), (["TEXT", "IMAGE"], True), (["Image"], True)]
)
def test_request_asks_for_images_if_its_response_modalities_include_image(
    modalities: list[str] | None, expected: bool
) -> None:
    assert wants_images({"generationConfig": {"responseModalities": modalities}}) is expected


@pytest.mark.parametrize(
    "instruction",
    [
        "Be brief.",
        {"parts": [{"text": "Be brief."}]},
        {"parts": {"text": "Be brief."}},
        {"role": "user", "parts": [{"text": "Be brief."}, {}, 1]},
    ],
)
def test_system_instruction_is_accepted_as_text_as_one_part_and_as_a_list_of_parts(instruction: object) -> None:
    assert system_instruction({"systemInstruction": instruction}) == "Be brief."
    assert system_instruction({}) == ""


@given(JSON | st.dictionaries(FIELDS, JSON | st.lists(st.dictionaries(FIELDS, JSON, max_size=3), max_size=2)))
def test_any_json_is_parsed_or_rejected_with_an_error(value: object) -> None:
    with suppress(WireError):
        body = parse_body(json.dumps(value).encode())
        has_code_execution(body)
        wants_thoughts(body)
        wants_images(body)
        system_instruction(body)
        parse_contents(body)
