"""Bytes and joins of answers."""

from __future__ import annotations

import json

from chat.emulator import wire
from chat.emulator.wire import Unary


def test_event_is_one_data_line_with_crlf_crlf() -> None:
    data = wire.event({"candidates": [{"content": {"parts": [{"text": "a\nb\u2028c"}]}}]})
    assert data.startswith(b"data: {")
    assert data.endswith(b"}\r\n\r\n")
    assert data.count(b"\n") == 2
    assert "\u2028".encode() in data


def test_neighbouring_texts_are_joined_but_never_across_a_signature() -> None:
    parts = [wire.text("a"), wire.text("b"), wire.text("", "c2ln"), wire.text("c"), wire.thought("t"), wire.text("d")]
    assert wire.join_text(parts) == [
        wire.text("ab"),
        wire.text("", "c2ln"),
        wire.text("c"),
        wire.thought("t"),
        wire.text("d"),
    ]


def test_result_without_output_has_no_output_field() -> None:
    assert wire.result("OUTCOME_OK") == {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}


def test_unary_body_keeps_parts_in_order_and_the_last_of_the_rest() -> None:
    whole = Unary()
    whole.add({"candidates": [{"content": {"parts": [wire.text("a")], "role": "model"}}], "usageMetadata": {"n": 1}})
    whole.add({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"n": 2}})
    assert whole.response == {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [wire.text("a")]}, "finishReason": "STOP"}],
        "usageMetadata": {"n": 2},
    }


def test_unary_body_of_a_blocked_prompt_has_no_candidates() -> None:
    whole = Unary()
    whole.add({"promptFeedback": {"blockReason": "SAFETY"}})
    assert whole.response == {"promptFeedback": {"blockReason": "SAFETY"}}


def test_error_has_the_form_of_the_api() -> None:
    reply = wire.refusal(429, "Slow down.", "RESOURCE_EXHAUSTED", [{"retryDelay": "1s"}])
    assert reply.status == 429
    assert json.loads(reply.body) == {
        "error": {
            "code": 429,
            "message": "Slow down.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"retryDelay": "1s"}],
        }
    }
