"""From what was observed to figures: percentiles, medians over repeats, ratios; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.answers import Level, Reading

Figures = dict[str, float]
"""By name, `measure level`; the unit is in the name."""

MB = 1024 * 1024
RATE_LIMIT_MS = 250.0
"""A level is kept up with while the 99th percentile of delivery is at most this."""
OFFERED_SHARE = 0.95
"""Of the rate that was asked for, what the upstream must really have sent for a level to count."""
BUSY_SHARE = 0.88
"""Of its core: who uses more has no time left."""


@dataclass(frozen=True, slots=True)
class Sample:
    """CPU seconds and memory so far."""

    server_cpu_s: float
    server_rss_bytes: int
    upstream_cpu_s: float
    client_cpu_s: float


@dataclass(slots=True)
class Observed:
    """One level as it was measured."""

    first_part_ms: list[float] = field(default_factory=list)
    """From "send" to the first stamp, one for each answer."""
    delivery_ms: list[float] = field(default_factory=list)
    """From the upstream's write to the client's receipt, one for each chunk."""
    offered_per_s: float = 0.0
    """Chunks a second that the upstream sent while all answers were live."""
    asked_per_s: float = 0.0
    """The same as it was ordered; 0: flat out."""
    lost: int = 0
    """Chunks that never arrived."""
    wall_s: float = 0.0
    frames: int = 0
    """Socket messages, all of them."""
    bytes: int = 0
    """Of these."""
    progress_frames: int = 0
    """Socket messages that brought new chunks while the answer went on."""
    progress_bytes: int = 0
    rss_live_bytes: int = 0
    """Of the server's process tree, when most of the answers were there."""
    cpu_s: float = 0.0
    """Of the server's process tree, from before the first question to after the last answer."""
    server_share: float = 0.0
    """CPU of the server, as a share of its core, while all answers were live."""
    client_share: float = 0.0
    """The same of the client; upstream and client have one core between them."""
    upstream_share: float = 0.0
    commits: int | None = None
    """Transactions of the product's database."""

    def add(self, reading: Reading, expected: int) -> None:
        """Take in one answer, of which `expected` stamps were sent."""
        if not reading.delays_us:
            self.lost += expected
            return
        self.first_part_ms.append((reading.first_us - reading.sent_us) / 1000)
        self.delivery_ms += [delay_us / 1000 for delay_us in reading.delays_us]
        self.offered_per_s += reading.offered_per_s
        self.lost += expected - len(reading.delays_us)

    @property
    def keeps_up(self) -> bool:
        """Whether all came, and in time, at the rate that was asked for."""
        return (
            self.lost == 0
            and percentile(self.delivery_ms, 99) <= RATE_LIMIT_MS
            and self.offered_per_s >= OFFERED_SHARE * self.asked_per_s
        )

    @property
    def harness_share(self) -> float:
        """CPU of client and upstream, as a share of the core that they have between them."""
        return self.client_share + self.upstream_share


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest rank: the smallest value that `percent` of all do not exceed. Raises ValueError when there is none."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def figures_of(level: Level, observed: Observed) -> Figures:
    """One level's figures."""
    chunks = len(observed.delivery_ms)
    if not chunks:
        return {f"lost {level.name}": observed.lost}
    figures = {
        "first_part_p50_ms": percentile(observed.first_part_ms, 50),
        "first_part_p99_ms": percentile(observed.first_part_ms, 99),
        "delivery_p50_ms": percentile(observed.delivery_ms, 50),
        "delivery_p99_ms": percentile(observed.delivery_ms, 99),
        "cpu_s_per_1000": 1000 * observed.cpu_s / chunks,
        "offered_per_s": observed.offered_per_s,
        "delivered_per_s": chunks / observed.wall_s,
        "server_share": observed.server_share,
        "client_share": observed.client_share,
        "upstream_share": observed.upstream_share,
        "lost": observed.lost,
    }
    if observed.progress_frames:
        figures["bytes_per_frame"] = observed.progress_bytes / observed.progress_frames
        figures["bytes_per_chunk"] = observed.bytes / chunks
        figures["frames_per_s"] = observed.frames / observed.wall_s
    if observed.commits:
        figures["commits_per_s"] = observed.commits / observed.wall_s
        figures["chunks_per_commit"] = chunks / observed.commits
    return {f"{name} {level.name}": value for name, value in figures.items()}


def medians(repeats: Iterable[Mapping[str, float]]) -> Figures:
    """Each figure's median over the repeats that have it."""
    values: dict[str, list[float]] = {}
    for figures in repeats:
        for name, value in figures.items():
            values.setdefault(name, []).append(value)
    return {name: statistics.median(found) for name, found in values.items()}


def ratios(figures: Mapping[str, float], base: Mapping[str, float]) -> Figures:
    """Each figure divided by the base's, where that has it and it is not 0."""
    return {name: value / base[name] for name, value in figures.items() if base.get(name)}


def limit_of(figures: Mapping[str, float]) -> str:
    """What ended the search for the highest rate, in words: the server, or what measures it."""
    if "failed_rate_per_s" not in figures:
        return "kept up with every level tried: its limit lies above"
    server, harness = figures["failed_server_share"], figures["failed_harness_share"]
    busy = (
        f"at {figures['failed_rate_per_s']:,.0f}/s the server used {server:.0%} of its core, the harness {harness:.0%}"
    )
    if harness >= BUSY_SHARE:
        return f"{busy}: the harness was at its limit, so the server's may lie above"
    if server >= BUSY_SHARE:
        return f"{busy}: the server was the limit"
    return f"{busy}: neither was busy all the time; the server fell behind in between"
