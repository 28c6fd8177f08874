"""Measurement plans, and the measurement of a target by a plan. Every target is measured in the same way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from bench.answers import Answer, Level
from bench.figures import BUSY_SHARE, MB, Figures, LevelResult, compute_figures, compute_percentile
from bench.processes import StealTimeMeter
from bench.targets import Target

#: One answer, sent at a steady pace and without pauses. Its last chunk should arrive when the upstream has sent it.
ANSWER_CHUNKS, ANSWER_RATE = 400, 100
AT_ITS_PACE, AT_ONCE = "one answer 1x100", "one answer at once"

LevelLogger = Callable[[Level, LevelResult], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which levels are measured, and how long they last."""

    conversations: tuple[int, ...]
    rates: tuple[int, ...]
    """Chunks per second of each answer."""
    level_s: float
    burst: int
    """Number of conversations that start at the same moment."""
    search: tuple[int, ...]
    """Numbers of conversations at 50 chunks/s that the search for the highest rate tries, ascending."""
    search_s: float
    has_extra_levels: bool
    """Whether answers with graphs, in bursts and without pauses are measured too."""

    def make_levels(self) -> list[Level]:
        """Return the levels that run once, in their order."""
        levels = [
            make_steady_level(count, rate, self.level_s, f"{count}x{rate}")
            for rate in self.rates
            for count in self.conversations
        ]
        levels += [Level(AT_ITS_PACE, 1, Answer(ANSWER_CHUNKS, ANSWER_RATE)), Level(AT_ONCE, 1, Answer(ANSWER_CHUNKS))]
        levels.append(Level("burst", self.burst, Answer(chunks=int(20 * self.level_s), rate=20)))
        if self.has_extra_levels:
            chunks = int(20 * self.level_s)
            levels += [
                Level("graphs", 10, Answer(chunks, 20, graphs=4), stagger_s=1),
                Level("bursts", 10, Answer(chunks, 20, burst=20), stagger_s=1),
                Level("flat out", 1, Answer(chunks=3000)),
            ]
        return levels

    @property
    def conversation_limit(self) -> int:
        """Upper bound of the conversations that one measurement of a target uses."""
        level_conversations = sum(level.conversations for level in self.make_levels())
        search_conversations = ATTEMPTS_PER_LEVEL * count_search_conversations(self.search)
        return level_conversations + search_conversations + SINGLE_RUNS + WARM_UP.conversations

    @property
    def user_count(self) -> int:
        """Number of users: the greatest number of conversations that are live at the same time."""
        return max(*self.conversations, *self.search, self.burst)


SEARCH = (20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180, 210, 240, 270, 300, 350, 400)

QUICK = Plan((1, 10, 50), (20, 50), 8, 50, SEARCH, 5, False)
FULL = Plan((1, 10, 50, 100), (5, 20, 50), 10, 50, SEARCH, 10, True)
TINY = Plan((1, 10), (20,), 3, 10, (5, 10), 2, True)

SINGLE_RUNS = 10

#: A level of the search has failed after as many failed attempts.
ATTEMPTS_PER_LEVEL = 2

WARM_UP = Level("warm-up", 5, Answer(chunks=100, rate=50, graphs=1), stagger_s=0.5)
SINGLE = Level("single", 1, Answer(chunks=5, rate=50))


def make_steady_level(count: int, rate: int, duration_s: float, name: str) -> Level:
    """Return a level whose answers start within one second and arrive at a constant rate."""
    answer = Answer(chunks=max(2, int(rate * duration_s)), rate=rate)
    return Level(name, count, answer, stagger_s=1.0 if count > 1 else 0.0)


def measure_target(target: Target, plan: Plan, log_level: LevelLogger) -> Figures:
    """Run the whole plan on one target. `log_level` is called after every level."""
    steal_time = StealTimeMeter()
    target.run(WARM_UP)
    idle_bytes = target.process.read_rss_bytes()
    singles = [target.run(SINGLE).first_part_ms[0] for _ in range(SINGLE_RUNS)]
    figures: Figures = {
        "memory_idle_mb": idle_bytes / MB,
        "first_part_p50_ms single": compute_percentile(singles, 50),
        "first_part_max_ms single": max(singles),
    }
    for level in plan.make_levels():
        result = target.run(level)
        log_level(level, result)
        figures |= compute_figures(level, result)
        is_largest = level.conversations == max(plan.conversations) and level.name.endswith(f"x{plan.rates[-1]}")
        if is_largest and result.rss_live_bytes:
            figures["memory_per_stream_mb"] = (result.rss_live_bytes - idle_bytes) / MB / level.conversations
    figures |= find_highest_rate(target, plan, log_level)
    return figures | {"stolen_share": steal_time.compute_share()}


def find_highest_rate(target: Target, plan: Plan, log_level: LevelLogger) -> Figures:
    """Return the chunks per second of the highest sustained level, found by binary search; 0 if there is none.

    The result also holds the CPU shares of the lowest level that failed, unless every level was sustained. A level
    fails only after two failed attempts, so that one stall of the machine does not end the search.
    """
    figures: Figures = {"highest_rate_per_s": 0.0}
    low, high = 0, len(plan.search)
    while low < high:
        middle = (low + high) // 2
        count = plan.search[middle]
        level = make_steady_level(count, 50, plan.search_s, f"search {count}x50")
        for _ in range(ATTEMPTS_PER_LEVEL):
            result = target.run(level)
            log_level(level, result)
            if result.is_sustained:
                break
        if result.is_sustained:
            figures["highest_rate_per_s"], low = result.requested_per_s, middle + 1
        else:
            high = middle
            figures["failed_rate_per_s"] = result.requested_per_s
            figures["failed_server_share"] = result.server_share
            figures["failed_harness_share"] = result.harness_share
    return figures


def count_search_conversations(search: tuple[int, ...]) -> int:
    """Return the greatest number of conversations that a binary search of these levels can use."""
    if not search:
        return 0
    middle = len(search) // 2
    halves = search[:middle], search[middle + 1 :]
    return search[middle] + max(count_search_conversations(half) for half in halves)


def make_level_logger(target_name: str) -> LevelLogger:
    """Return a function that prints the result of a level to stderr.

    The line says if upstream and client were so busy that the result cannot be trusted.
    """

    def log_level(level: Level, result: LevelResult) -> None:
        print(
            f"  {target_name:<9} {level.name:<16} p50 {_compute_percentile_or_nan(result.delivery_ms, 50):7.1f} ms"
            f"  p99 {_compute_percentile_or_nan(result.delivery_ms, 99):7.1f} ms"
            f"  {result.offered_per_s:7.0f}/s offered"
            f"  CPU: server {result.server_share:4.0%} client {result.client_share:4.0%}"
            f" upstream {result.upstream_share:4.0%}"
            f"{'  <- the harness may have been the limit' if result.harness_share >= BUSY_SHARE else ''}"
            f"{f'  LOST {result.lost_chunks}' if result.lost_chunks else ''}",
            file=sys.stderr,
            flush=True,
        )

    return log_level


def _compute_percentile_or_nan(values: list[float], percent: float) -> float:
    return compute_percentile(values, percent) if values else float("nan")
