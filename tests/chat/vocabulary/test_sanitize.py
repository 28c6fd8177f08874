"""Characters and numbers that no database can store are replaced, wherever they are in an event."""

from __future__ import annotations

import json

from chat.vocabulary.parts import FunctionCall, Text
from chat.vocabulary.sanitize import sanitize_event, sanitize_json
from chat.vocabulary.stream_events import PartReceived, Usage, UsageReported


def test_characters_that_a_database_cannot_store_are_replaced() -> None:
    assert sanitize_event(PartReceived(Text("a\0b\ud800"))) == PartReceived(Text("a\ufffdb\ufffd"))


def test_numbers_that_are_not_finite_become_null() -> None:
    value = json.loads('{"a": [NaN, 1e999, -Infinity, 1.5], "b": {"c": NaN}}')
    assert sanitize_json(value) == {"a": [None, None, None, 1.5], "b": {"c": None}}
    call = FunctionCall("f", {"x": float("nan")}, "1")
    assert sanitize_event(PartReceived(call)) == PartReceived(FunctionCall("f", {"x": None}, "1"))
    report = UsageReported(Usage(prompt=1), {"cost": float("inf")})
    assert sanitize_event(report) == UsageReported(Usage(prompt=1), {"cost": None})
