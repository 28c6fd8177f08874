"""The JSON and the bytes of answers."""

from __future__ import annotations

import json

from chat.emulator import wire
from chat.emulator.wire import UnaryResponse, text_part, thought_part
from tests.gemini_emulator.steps import http_error


def test_event_is_one_data_line_that_ends_with_crlf_crlf() -> None:
    data = wire.sse_event({"candidates": [{"content": {"parts": [{"text": "a\nb\u2028c"}]}}]})
    assert data.startswith(b"data: {")
    assert data.endswith(b"}\r\n\r\n")
    assert data.count(b"\n") == 2
    assert "\u2028".encode() in data


def test_adjacent_texts_are_joined_but_not_across_a_signature() -> None:
    parts = [
        *(text_part("a"), text_part("b"), text_part("", "c2ln")),
        *(text_part("c"), thought_part("t"), text_part("d")),
    ]
    assert wire.join_text_parts(parts) == [
        *(text_part("ab"), text_part("", "c2ln")),
        *(text_part("c"), thought_part("t"), text_part("d")),
    ]


def test_result_without_output_has_no_output_field() -> None:
    assert wire.result_part("OUTCOME_OK") == {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}


def test_unary_body_has_the_parts_in_order_and_the_last_value_of_other_fields() -> None:
    response = UnaryResponse()
    response.add({"candidates": [{"content": {"parts": [text_part("a")], "role": "model"}}], "usageMetadata": {"n": 1}})
    response.add({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"n": 2}})
    candidate = {"index": 0, "content": {"role": "model", "parts": [text_part("a")]}, "finishReason": "STOP"}
    assert response.body == {"candidates": [candidate], "usageMetadata": {"n": 2}}


def test_unary_body_of_a_blocked_prompt_has_no_candidates() -> None:
    response = UnaryResponse()
    response.add({"promptFeedback": {"blockReason": "SAFETY"}})
    assert response.body == {"promptFeedback": {"blockReason": "SAFETY"}}


def test_http_error_has_the_form_of_the_api() -> None:
    reply = http_error(429, "Slow down.", "RESOURCE_EXHAUSTED", [{"retryDelay": "1s"}])
    assert reply.status == 429
    assert json.loads(reply.body) == {
        "error": {
            "code": 429,
            "message": "Slow down.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"retryDelay": "1s"}],
        }
    }
