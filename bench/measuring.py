"""What is measured, in which order, on every target alike."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from bench.answers import Answer, Level
from bench.figures import BUSY_SHARE, MB, Figures, Observed, figures_of, percentile
from bench.processes import Stolen
from bench.targets import Target


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    conversations: tuple[int, ...]
    rates: tuple[int, ...]
    """Chunks a second of each answer."""
    level_s: float
    burst: int
    """Conversations that start at once."""
    search: tuple[int, ...]
    """Conversations of 50 chunks a second to try for the highest rate, ascending."""
    search_s: float
    extras: bool
    """Also answers with graphs, in bursts, and flat out."""

    def levels(self) -> list[Level]:
        """Those that are run once, in this order."""
        levels = [
            steady(count, rate, self.level_s, f"{count}x{rate}") for rate in self.rates for count in self.conversations
        ]
        levels.append(Level("burst", self.burst, Answer(chunks=int(20 * self.level_s), rate=20)))
        if self.extras:
            chunks = int(20 * self.level_s)
            levels += [
                Level("graphs", 10, Answer(chunks, 20, graphs=4), stagger_s=1),
                Level("bursts", 10, Answer(chunks, 20, burst=20), stagger_s=1),
                Level("flat out", 1, Answer(chunks=3000)),
            ]
        return levels

    @property
    def needed_conversations(self) -> int:
        """At most so many are used in one run of a target."""
        once = sum(level.conversations for level in self.levels())
        return once + TRIES * most_in_search(self.search) + SINGLES + WARM_UP.conversations

    @property
    def people(self) -> int:
        """As many as are live at once."""
        return max(*self.conversations, *self.search, self.burst)


SEARCH = (20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180, 210, 240, 270, 300, 350, 400)

QUICK = Plan((1, 10, 50), (20, 50), 8, 50, SEARCH, 5, False)
FULL = Plan((1, 10, 50, 100), (5, 20, 50), 10, 50, SEARCH, 10, True)
TINY = Plan((1, 10), (20,), 3, 10, (5, 10), 2, True)

SINGLES = 10
TRIES = 2
"""Of each level of the search, before it counts as failed."""
WARM_UP = Level("warm-up", 5, Answer(chunks=100, rate=50, graphs=1), stagger_s=0.5)
SINGLE = Level("single", 1, Answer(chunks=5, rate=50))


def steady(count: int, rate: int, duration_s: float, name: str) -> Level:
    """Answers that start within a second."""
    answer = Answer(chunks=max(2, int(rate * duration_s)), rate=rate)
    return Level(name, count, answer, stagger_s=1.0 if count > 1 else 0.0)


def measure(target: Target, plan: Plan, note: Callable[[Level, Observed], None]) -> Figures:
    """Run the whole plan on one target; `note` is told of every level."""
    since = Stolen()
    target.run(WARM_UP)
    idle_bytes = target.process.rss_bytes()
    singles = [target.run(SINGLE).first_part_ms[0] for _ in range(SINGLES)]
    figures: Figures = {
        "memory_idle_mb": idle_bytes / MB,
        "first_part_p50_ms single": percentile(singles, 50),
        "first_part_max_ms single": max(singles),
    }
    for level in plan.levels():
        observed = target.run(level)
        note(level, observed)
        figures |= figures_of(level, observed)
        is_fullest = level.conversations == max(plan.conversations) and level.name.endswith(f"x{plan.rates[-1]}")
        if is_fullest and observed.rss_live_bytes:
            figures["memory_per_stream_mb"] = (observed.rss_live_bytes - idle_bytes) / MB / level.conversations
    figures |= highest_rate(target, plan, note)
    return figures | {"stolen_share": since.share()}


def highest_rate(target: Target, plan: Plan, note: Callable[[Level, Observed], None]) -> Figures:
    """Chunks a second of the highest level that is kept up with, found by halving; 0 when none is.

    With it how busy all were in the lowest level that was not; without that when every one was kept up with. A level
    has failed when it has failed twice: one stall of the machine must not end the search.
    """
    figures: Figures = {"highest_rate_per_s": 0.0}
    low, high = 0, len(plan.search)
    while low < high:
        middle = (low + high) // 2
        count = plan.search[middle]
        level = steady(count, 50, plan.search_s, f"search {count}x50")
        for _ in range(TRIES):
            observed = target.run(level)
            note(level, observed)
            if observed.keeps_up:
                break
        if observed.keeps_up:
            figures["highest_rate_per_s"], low = observed.asked_per_s, middle + 1
        else:
            high = middle
            figures["failed_rate_per_s"] = observed.asked_per_s
            figures["failed_server_share"] = observed.server_share
            figures["failed_harness_share"] = observed.harness_share
    return figures


def most_in_search(search: tuple[int, ...]) -> int:
    """The conversations of the most expensive way through the search."""
    if not search:
        return 0
    middle = len(search) // 2
    return search[middle] + max(most_in_search(search[:middle]), most_in_search(search[middle + 1 :]))


def tell(target_name: str) -> Callable[[Level, Observed], None]:
    """A `note` that says on stderr how a level went, and when upstream and client were too busy to trust it."""

    def note(level: Level, observed: Observed) -> None:
        print(
            f"  {target_name:<9} {level.name:<16} p50 {_percentile(observed.delivery_ms, 50):7.1f} ms"
            f"  p99 {_percentile(observed.delivery_ms, 99):7.1f} ms  {observed.offered_per_s:7.0f}/s offered"
            f"  CPU: server {observed.server_share:4.0%} client {observed.client_share:4.0%}"
            f" upstream {observed.upstream_share:4.0%}"
            f"{'  <- the harness may have been the limit' if observed.harness_share >= BUSY_SHARE else ''}"
            f"{f'  LOST {observed.lost}' if observed.lost else ''}",
            file=sys.stderr,
            flush=True,
        )

    return note


def _percentile(values: list[float], percent: float) -> float:
    return percentile(values, percent) if values else float("nan")
