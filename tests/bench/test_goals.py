"""Tests of the performance goals: each is compared with the worst figure that it covers."""

from __future__ import annotations

import pytest

from bench.figures import Figures
from bench.goals import GOALS, KERNEL_GOALS, collect_goal_figures, format_goals_table, missed_goals


def read_row(figures: Figures, label: str) -> list[str]:
    """Return the measured figure, the limit and whether it is kept, from the row whose label contains `label`."""
    line = next(line for line in format_goals_table(figures).splitlines() if label in line)
    return [cell.strip() for cell in line.split("|")[2:-1]]


@pytest.mark.parametrize(
    ("name", "label", "limit", "kept", "missed"),
    [
        ("first_part_p50_ms single", "one chat", "<= 15", 15.0, 15.1),
        ("first_part_p99_ms burst", "burst of 50", "<= 250", 250.0, 250.1),
        ("delivery_p50_ms 50x20", "delivery p50", "<= 5", 5.0, 5.1),
        ("delivery_p99_ms 50x50", "delivery p99", "<= 100", 100.0, 100.1),
        ("answer_of_upstream", "at 100/s", "<= 1.05", 1.05, 1.06),
        ("answer_at_once_s", "at once", "<= 1", 1.0, 1.01),
        ("highest_rate_of_relay", "highest rate", ">= 1", 1.0, 0.99),
        ("cpu_of_relay", "CPU per 1,000 chunks", "<= 1.5", 1.5, 1.51),
        ("memory_idle_mb", "memory idle", "<= 200", 200.0, 201.0),
        ("memory_per_stream_mb", "memory per stream", "<= 0.5", 0.5, 0.51),
        ("browser_s_per_1000", "main thread", "<= 2.5", 2.5, 2.51),
        ("browser_longest_task_ms", "longest task", "<= 50", 50.0, 50.1),
    ],
)
def test_goal_is_met_by_a_figure_at_its_limit_and_missed_beyond(
    name: str, label: str, limit: str, kept: float, missed: float
) -> None:
    assert read_row({name: kept}, label)[1:] == [limit, "yes"]
    assert read_row({name: missed}, label)[1:] == [limit, "NO"]


def test_goal_is_compared_with_the_figure_of_the_worst_load_level() -> None:
    assert read_row({"delivery_p50_ms 1x20": 2.0, "delivery_p50_ms 50x5": 9.0}, "delivery p50")[0] == "9.0"


@pytest.mark.parametrize("level", ["100x20", "100x5", "50x50", "1x50", "burst"])
def test_delivery_goal_ignores_load_levels_beyond_its_conversations_and_rates(level: str) -> None:
    assert read_row({"delivery_p50_ms 10x20": 2.0, f"delivery_p50_ms {level}": 99.0}, "delivery p50")[0] == "2.0"


def test_goal_without_a_figure_is_reported_as_not_measured() -> None:
    for goal in GOALS:
        measured, _, kept = read_row({}, goal.label)
        assert (measured, kept) == ("-", "not measured")


def test_rate_and_cpu_goals_use_the_ratio_of_plotline_to_the_bare_relay() -> None:
    plotline = {"highest_rate_per_s": 3000.0, "cpu_s_per_1000 50x50": 0.45}
    relay = {"highest_rate_per_s": 4000.0, "cpu_s_per_1000 50x50": 0.30}
    figures = collect_goal_figures({"plotline": plotline, "relay": relay}, {})
    assert read_row(figures, "highest rate") == ["0.75", ">= 1", "NO"]
    assert read_row(figures, "CPU per 1,000 chunks") == ["1.50", "<= 1.5", "yes"]


@pytest.mark.parametrize("relay", [{}, {"highest_rate_per_s": 0.0}])
def test_ratio_to_the_bare_relay_is_not_measured_if_the_relay_has_no_figure(relay: Figures) -> None:
    figures = collect_goal_figures({"plotline": {"highest_rate_per_s": 3000.0}, "relay": relay}, {})
    assert read_row(figures, "highest rate")[2] == "not measured"


def test_duration_goals_of_one_answer_use_the_delay_of_its_latest_chunk() -> None:
    openai = {"delivery_max_ms one answer 1x100": 120.0, "delivery_max_ms one answer at once": 300.0}
    figures = collect_goal_figures({"plotline": {}, "plotline-openai": openai}, {}, "plotline-openai")
    assert read_row(figures, "at 100/s") == ["1.03", "<= 1.05", "yes"]
    assert read_row(figures, "at once") == ["0.30", "<= 1", "yes"]


def test_browser_figures_are_included_in_the_goals() -> None:
    figures = collect_goal_figures({"plotline": {}}, {"browser_longest_task_ms": 14.3})
    assert read_row(figures, "longest task")[0] == "14.3"


def test_kernel_goal_is_missed_if_the_figure_is_above_the_limit_or_absent() -> None:
    kept: Figures = {
        "session, cold, of a bare ipykernel": 1.15,
        "session, warm: ready p95, ms": 300.0,
        "call of 1+1: p95, ms": 50.0,
        "call of 1+1 beside 6 endless loops: p95, ms": 250.0,
        "2,000 lines through the whole product: slowest, s": 2.0,
        "interrupt: slowest, ms": 500.0,
        "hard stop after the limit, s": 6.0,
    }
    assert missed_goals(kept, KERNEL_GOALS) == []
    for name, goal in zip(kept, KERNEL_GOALS, strict=True):
        assert missed_goals(kept | {name: kept[name] + 0.1}, KERNEL_GOALS) == [goal.label]
        assert missed_goals({other: kept[other] for other in kept if other != name}, KERNEL_GOALS) == [goal.label]
