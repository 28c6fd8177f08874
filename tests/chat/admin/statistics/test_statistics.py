"""Failure reasons and percentile ranks."""

from __future__ import annotations

from chat.admin.statistics.statistics import count_failures, percentile_rank


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


def test_percentile_rank_is_the_first_rank_that_covers_the_percentage() -> None:
    assert [percentile_rank(count, 50) for count in (1, 2, 3, 4, 100)] == [1, 1, 2, 2, 50]
    assert [percentile_rank(count, 95) for count in (1, 19, 20, 21, 100)] == [1, 19, 19, 20, 95]
