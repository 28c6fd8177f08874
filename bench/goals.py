"""The performance goals of Plotline. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.figures import Figures
from bench.measurement import ANSWER_CHUNKS, ANSWER_RATE, AT_ITS_PACE, AT_ONCE
from bench.tables import format_markdown_table, format_number


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit that a figure must keep."""

    label: str
    pattern: str
    """Regular expression for the names of the figures. The worst figure that matches counts."""
    keep: float
    """The limit: a maximum, or a minimum if `is_minimum`."""
    digits: int
    """Decimal places of the figure in the table."""
    is_minimum: bool = False

    def select_figure(self, figures: Figures) -> float | None:
        """Return the worst figure that matches, or None if none was measured."""
        values = [value for name, value in figures.items() if re.fullmatch(self.pattern, name)]
        if not values:
            return None
        return min(values) if self.is_minimum else max(values)

    def is_kept(self, value: float) -> bool:
        """Return whether the figure keeps the limit."""
        return value >= self.keep if self.is_minimum else value <= self.keep


#: 1 to 50 conversations at 5 or 20 chunks/s each.
MODERATE_LEVELS = r"([1-9]|[1-4]\d|50)x(5|20)"

#: Goals for a model of any API.
RELAY_GOALS = (
    Goal("time to first part, one chat: p50, ms", "first_part_p50_ms single", 15, 1),
    Goal("time to first part, burst of 50: p99, ms", "first_part_p99_ms burst", 250, 1),
    Goal("delivery p50, up to 50 conversations at <= 20 chunks/s each, ms", f"delivery_p50_ms {MODERATE_LEVELS}", 5, 1),
    Goal("delivery p99, 50 conversations at 50 chunks/s each, ms", "delivery_p99_ms 50x50", 100, 1),
    Goal("answer of 400 chunks at 100/s, divided by the upstream's own time", "answer_of_upstream", 1.05, 2),
    Goal("answer of 400 chunks at once, s", "answer_at_once_s", 1, 2),
    Goal("highest rate, divided by the bare relay's", "highest_rate_of_relay", 1.0, 2, is_minimum=True),
    Goal("CPU per 1,000 chunks at 50x50, divided by the bare relay's", "cpu_of_relay", 1.5, 2),
    # The packages alone take 172 MB, before the first page; see docs/benchmarks.md.
    Goal("memory idle, MB", "memory_idle_mb", 200, 0),
    Goal("memory per stream, MB", "memory_per_stream_mb", 0.5, 2),
)

#: The browser is measured only with Gemini's API. Its page does not depend on the API.
GOALS = (
    *RELAY_GOALS,
    Goal("browser's main thread for 1,000 chunks, s", "browser_s_per_1000", 2.5, 2),
    Goal("browser's longest task while streaming, ms", "browser_longest_task_ms", 50, 1),
)

#: Goals of Python sessions. A cell that ignores the interrupt at its limit is ended after 5 s; the goal adds 1 s.
KERNEL_GOALS = (
    Goal("cold session: ready, p50, of a bare ipykernel", "session, cold, of a bare ipykernel", 1.15, 2),
    Goal("warm session: ready, p95, ms", "session, warm: ready p95, ms", 300, 0),
    Goal("call of 1+1: p95, ms", r"call of 1\+1: p95, ms", 50, 1),
    Goal("the same beside endless loops: p95, ms", r"call of 1\+1 beside \d+ endless loops: p95, ms", 250, 1),
    Goal("2,000 printed lines, whole product: slowest, s", "2,000 lines through the whole product: slowest, s", 2, 2),
    Goal("interrupt: slowest, ms", "interrupt: slowest, ms", 500, 0),
    Goal("end of a cell in C after its limit, s", "hard stop after the limit, s", 6, 2),
)

#: Ratios to the bare relay, by name, and the figure that each of them divides.
RATIOS_TO_RELAY = {"highest_rate_of_relay": "highest_rate_per_s", "cpu_of_relay": "cpu_s_per_1000 50x50"}


def collect_goal_figures(results: Mapping[str, Figures], browser: Figures, target: str = "plotline") -> Figures:
    """Return every figure that a goal may name, from the medians of one run.

    `results` maps targets to their figures; `browser` holds the figures of Plotline's page. A ratio is left out if
    the run did not measure both of its figures, or if the bare relay's figure is 0.
    """
    plotline, relay = results.get(target, {}), results.get("relay", {})
    ratios = {
        ratio: plotline[name] / relay[name]
        for ratio, name in RATIOS_TO_RELAY.items()
        if name in plotline and relay.get(name)
    }
    if f"delivery_max_ms {AT_ITS_PACE}" in plotline:
        # The delay of the last chunk is at most that of the latest chunk.
        upstream_s = ANSWER_CHUNKS / ANSWER_RATE
        ratios["answer_of_upstream"] = 1 + plotline[f"delivery_max_ms {AT_ITS_PACE}"] / 1000 / upstream_s
    if f"delivery_max_ms {AT_ONCE}" in plotline:
        ratios["answer_at_once_s"] = plotline[f"delivery_max_ms {AT_ONCE}"] / 1000
    return plotline | browser | ratios


def missed_goals(figures: Figures, goals: Sequence[Goal]) -> list[str]:
    """Return the labels of the goals that are not kept. One without a figure is missed, too."""
    values = [(goal, goal.select_figure(figures)) for goal in goals]
    return [goal.label for goal, value in values if value is None or not goal.is_kept(value)]


def format_goals_table(figures: Figures, goals: Sequence[Goal] = GOALS) -> str:
    """Return a Markdown table with each goal, the measured figure, the limit, and whether it is kept."""
    rows = [("goal", "measured", "keep", "kept")]
    for goal in goals:
        value = goal.select_figure(figures)
        limit = f"{'>=' if goal.is_minimum else '<='} {goal.keep:,g}"
        kept = "not measured" if value is None else "yes" if goal.is_kept(value) else "NO"
        rows.append((goal.label, format_number(value, goal.digits), limit, kept))
    return format_markdown_table(rows)
