"""Failure reasons."""

from __future__ import annotations

from chat.admin.statistics.statistics import count_failures


def test_failed_turns_are_counted_by_their_most_specific_reason() -> None:
    outcomes = {
        ("done", "", "stop"): 90,
        ("done", "", ""): 3,
        ("done", "", "length"): 2,
        ("failed", "overloaded", ""): 4,
        ("failed", "overloaded", "unknown"): 1,
        ("failed", "", ""): 1,
        ("stopped", "", ""): 3,
        ("interrupted", "", ""): 2,
        ("running", "", ""): 8,
    }
    assert list(count_failures(outcomes).items()) == [
        ("overloaded", 5),
        ("stopped by the user", 3),
        ("interrupted", 2),
        ("length", 2),
        ("failed", 1),
    ]
