"""Goals are held against the worst figure that they are about, and say so where none was measured."""

from __future__ import annotations

import pytest

from bench.figures import Figures, limit_of
from bench.goals import GOALS, goal_figures, goals_table


def cells(figures: Figures, words: str) -> list[str]:
    line = next(line for line in goals_table(figures).splitlines() if words in line)
    return [cell.strip() for cell in line.split("|")[2:-1]]


@pytest.mark.parametrize(
    ("value", "expected"), [(6.0, ["yes", "yes"]), (6.1, ["yes", "NO"]), (15.0, ["yes", "NO"]), (15.1, ["NO", "NO"])]
)
def test_a_time_is_kept_up_to_its_mark(value: float, expected: list[str]) -> None:
    measured, _, reach, _, aim = cells({"first_part_p50_ms single": value}, "one chat")
    assert (measured, [reach, aim]) == (str(value), expected)


def test_of_a_rate_more_is_better() -> None:
    assert cells({"highest_rate_per_s": 4000}, "highest rate with") == ["4,000", ">= 3,800", "yes", ">= 12,000", "NO"]


def test_worst_level_counts_and_faster_ones_are_no_part_of_it() -> None:
    figures = {"delivery_p50_ms 1x20": 2.0, "delivery_p50_ms 50x20": 9.0, "delivery_p50_ms 50x50": 30.0}
    assert cells(figures, "delivery p50")[:3] == ["9.0", "<= 5", "NO"]


def test_what_was_not_measured_is_neither_kept_nor_missed() -> None:
    for goal in GOALS:
        measured, _, reach, *_ = cells({}, goal.words)
        assert (measured, reach) == ("-", "not measured")


def test_highest_rate_is_also_held_against_the_bare_relay() -> None:
    figures = goal_figures({"plotline": {"highest_rate_per_s": 3000}, "relay": {"highest_rate_per_s": 4000}}, {})
    assert cells(figures, "of (b)") == ["0.75", ">= 1", "NO", "-", ""]


@pytest.mark.parametrize(
    ("server", "harness", "words"),
    [(0.97, 0.40, "the server was the limit"), (0.97, 0.95, "the harness was at its limit"), (0.5, 0.4, "neither")],
)
def test_what_ended_the_search_is_told(server: float, harness: float, words: str) -> None:
    figures = {"failed_rate_per_s": 4500.0, "failed_server_share": server, "failed_harness_share": harness}
    assert words in limit_of(figures)
    assert "above" in limit_of({})
