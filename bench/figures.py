"""Computes figures from the result of a level: percentiles, medians over repeats, and ratios. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.answers import AnswerTimings, Level

#: Figures by name. A name is `measure level`, and the measure ends with its unit.
Figures = dict[str, float]

MB = 1024 * 1024

#: A level is sustained only if the 99th percentile of the delivery time is at most this.
RATE_LIMIT_MS = 250.0

#: A level is sustained only if the upstream really sent at least this share of the requested rate.
OFFERED_SHARE = 0.95

#: A process that uses at least this share of its core counts as saturated.
BUSY_SHARE = 0.88


@dataclass(frozen=True, slots=True)
class ResourceSample:
    """CPU seconds and memory that the processes of a benchmark have used so far."""

    server_cpu_s: float
    server_rss_bytes: int
    upstream_cpu_s: float
    client_cpu_s: float


@dataclass(slots=True)
class LevelResult:
    """Everything that was measured while one level ran."""

    first_part_ms: list[float] = field(default_factory=list)
    """Times from the user message to the first stamp, one for each answer."""
    delivery_ms: list[float] = field(default_factory=list)
    """Times from the upstream's write to the client's receipt, one for each chunk."""
    offered_per_s: float = 0.0
    """Chunks per second that the upstream really sent, summed over all answers."""
    requested_per_s: float = 0.0
    """Chunks per second that the level requested; 0 means without pauses."""
    lost_chunks: int = 0
    """Number of chunks that never arrived."""
    wall_s: float = 0.0
    frames: int = 0
    """Number of all socket messages."""
    bytes: int = 0
    """Size of all socket messages."""
    progress_frames: int = 0
    """Number of socket messages that brought new chunks before the answer ended."""
    progress_bytes: int = 0
    """Size of the socket messages that brought new chunks before the answer ended."""
    rss_live_bytes: int = 0
    """Resident memory of the server's processes shortly before the first answer ends."""
    cpu_s: float = 0.0
    """CPU seconds of the server's processes, from before the first user message to after the last answer."""
    server_share: float = 0.0
    """CPU of the server as a share of its core while all answers were live."""
    client_share: float = 0.0
    """CPU of the client as a share of the core that client and upstream share."""
    upstream_share: float = 0.0
    """CPU of the upstream as a share of the core that client and upstream share."""
    commits: int | None = None
    """Number of write transactions in Plotline's database; None for other targets."""

    def add_answer(self, timings: AnswerTimings, expected_stamps: int) -> None:
        """Add the timings of one answer, which should have brought `expected_stamps` stamps."""
        if not timings.delays_us:
            self.lost_chunks += expected_stamps
            return
        self.first_part_ms.append((timings.first_received_at_us - timings.sent_at_us) / 1000)
        self.delivery_ms += [delay_us / 1000 for delay_us in timings.delays_us]
        self.offered_per_s += timings.offered_per_s
        self.lost_chunks += expected_stamps - len(timings.delays_us)

    @property
    def is_sustained(self) -> bool:
        """Whether every chunk arrived in time while the upstream sent at the requested rate."""
        return (
            self.lost_chunks == 0
            and compute_percentile(self.delivery_ms, 99) <= RATE_LIMIT_MS
            and self.offered_per_s >= OFFERED_SHARE * self.requested_per_s
        )

    @property
    def harness_share(self) -> float:
        """CPU of client and upstream together, as a share of the core that they share."""
        return self.client_share + self.upstream_share


def compute_percentile(values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile: the smallest value that is not exceeded by `percent` % of the values.

    Raise ValueError if there are no values.
    """
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def compute_figures(level: Level, result: LevelResult) -> Figures:
    """Return the figures of one level."""
    chunks = len(result.delivery_ms)
    if not chunks:
        return {f"lost {level.name}": result.lost_chunks}
    figures = {
        "first_part_p50_ms": compute_percentile(result.first_part_ms, 50),
        "first_part_p99_ms": compute_percentile(result.first_part_ms, 99),
        "delivery_p50_ms": compute_percentile(result.delivery_ms, 50),
        "delivery_p99_ms": compute_percentile(result.delivery_ms, 99),
        "delivery_max_ms": max(result.delivery_ms),
        "cpu_s_per_1000": 1000 * result.cpu_s / chunks,
        "offered_per_s": result.offered_per_s,
        "delivered_per_s": chunks / result.wall_s,
        "server_share": result.server_share,
        "client_share": result.client_share,
        "upstream_share": result.upstream_share,
        "lost": result.lost_chunks,
    }
    if result.progress_frames:
        figures["bytes_per_frame"] = result.progress_bytes / result.progress_frames
        figures["bytes_per_chunk"] = result.bytes / chunks
        figures["frames_per_s"] = result.frames / result.wall_s
    if result.commits:
        figures["commits_per_s"] = result.commits / result.wall_s
        figures["chunks_per_commit"] = chunks / result.commits
    return {f"{name} {level.name}": value for name, value in figures.items()}


def compute_medians(repeats: Iterable[Mapping[str, float]]) -> Figures:
    """Return the median of each figure over the repeats that have it."""
    values: dict[str, list[float]] = {}
    for figures in repeats:
        for name, value in figures.items():
            values.setdefault(name, []).append(value)
    return {name: statistics.median(figure_values) for name, figure_values in values.items()}


def compute_ratios(figures: Mapping[str, float], base: Mapping[str, float]) -> Figures:
    """Return each figure divided by the base's figure. Figures that the base lacks or has as 0 are left out."""
    return {name: value / base[name] for name, value in figures.items() if base.get(name)}


def describe_rate_limit(figures: Mapping[str, float]) -> str:
    """Return what ended the search for the highest rate: the server, the harness, or neither."""
    if "failed_rate_per_s" not in figures:
        return "sustained every level that was tried, so its limit is higher"
    server, harness = figures["failed_server_share"], figures["failed_harness_share"]
    usage = (
        f"at {figures['failed_rate_per_s']:,.0f}/s the server used {server:.0%} of its core, the harness {harness:.0%}"
    )
    if harness >= BUSY_SHARE:
        return f"{usage}: the harness was saturated, so the server's limit may be higher"
    if server >= BUSY_SHARE:
        return f"{usage}: the server was the limit"
    return f"{usage}: neither was saturated, but the server fell behind at times"
