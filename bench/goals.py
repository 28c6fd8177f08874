"""What Plotline must reach, and what it aims at: one core, everything stored and rendered; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bench.figures import Figures
from bench.layout import markdown_table, number


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure and the two marks it is held against."""

    words: str
    pattern: str
    """Of the figures' names; the worst of those that match counts."""
    reach: float
    aim: float | None
    digits: int
    is_rate: bool = False
    """Of a rate more is better, of all else less."""

    def measured(self, figures: Figures) -> float | None:
        """The figure that counts; None where it was not measured."""
        found = [value for name, value in figures.items() if re.fullmatch(self.pattern, name)]
        if not found:
            return None
        return min(found) if self.is_rate else max(found)

    def is_met(self, value: float, mark: float) -> bool:
        """Whether the mark is kept."""
        return value >= mark if self.is_rate else value <= mark


GOALS = (
    Goal("time to first part, one chat: p50, ms", "first_part_p50_ms single", 15, 6, 1),
    Goal("time to first part, burst of 50: p99, ms", "first_part_p99_ms burst", 250, 100, 1),
    Goal("delivery p50 at <= 20 chunks/s each, ms", r"delivery_p50_ms \d+x(5|20)", 5, 3, 1),
    Goal("delivery p99, 50 conversations x 50 chunks/s, ms", "delivery_p99_ms 50x50", 100, 60, 1),
    Goal("highest rate with p99 <= 250 ms, chunks/s", "highest_rate_per_s", 3800, 12000, 0, is_rate=True),
    Goal("highest rate, of (b)", "highest_rate_of_relay", 1.0, None, 2, is_rate=True),
    Goal("CPU per 1,000 chunks, 50x50, s", "cpu_s_per_1000 50x50", 0.35, 0.12, 3),
    Goal("memory idle, MB", "memory_idle_mb", 160, 120, 0),
    Goal("memory per stream, MB", "memory_per_stream_mb", 0.5, 0.3, 2),
    Goal("browser's main thread, 20 KB answer in 20 s, s", "browser_main_thread_s", 2.5, 1.5, 2),
    Goal("browser's longest task while streaming, ms", "browser_longest_task_ms", 50, 16, 1),
)


def goal_figures(results: Mapping[str, Figures], browser: Figures) -> Figures:
    """All that goals are about, of Plotline's medians, the bare relay's, and the browser's."""
    figures = {**results.get("plotline", {}), **browser}
    bare = results.get("relay", {}).get("highest_rate_per_s")
    if bare and "highest_rate_per_s" in figures:
        figures["highest_rate_of_relay"] = figures["highest_rate_per_s"] / bare
    return figures


def goals_table(figures: Figures) -> str:
    """Markdown: each goal, what was measured, and whether it is kept."""
    rows = [("goal", "measured", "reach", "", "aim", "")]
    for goal in GOALS:
        value = goal.measured(figures)
        marks = [_mark(goal, value, mark) for mark in (goal.reach, goal.aim)]
        rows.append((goal.words, number(value, goal.digits), *marks[0], *marks[1]))
    return markdown_table(rows)


def _mark(goal: Goal, value: float | None, mark: float | None) -> tuple[str, str]:
    if mark is None:
        return "-", ""
    words = f"{'>=' if goal.is_rate else '<='} {mark:,g}"
    if value is None:
        return words, "not measured"
    return words, "yes" if goal.is_met(value, mark) else "NO"
