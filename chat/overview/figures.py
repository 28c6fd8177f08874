"""The numbers, as values: of a period, a day at a time, and of this moment. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property

from chat.emulator.embedded import KernelCount

AGES = (
    ("under a minute", timedelta(minutes=1)),
    ("1 to 10 minutes", timedelta(minutes=10)),
    ("10 minutes to 1 hour", timedelta(hours=1)),
    ("1 hour to 1 day", timedelta(days=1)),
    ("over a day", None),
)
"""How long an upload has waited: names, and up to which age; none: any."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a model has answered."""

    turns: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    """US dollars, of turns whose price is known."""
    unpriced: int = 0
    """Turns that took tokens and have no known price."""

    def __add__(self, other: Use) -> Use:
        return Use(
            self.turns + other.turns,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class Waited:
    """From question to first part of the answer, in seconds: half of a day's turns, and 19 of 20, took no more."""

    p50_s: float
    p95_s: float


@dataclass(frozen=True, slots=True)
class Backlog:
    """Uploads of one age and status that storage has not confirmed."""

    age: str
    """One of `AGES`."""
    status: str
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LiveTurns:
    """Turns that one server process has begun and not ended."""

    process: str
    turns: int
    silent: int
    """Of them, those whose process has not renewed its lease in time."""
    oldest_at: datetime


@dataclass(frozen=True)
class Overview:
    """All of it. Days are UTC's; turns that were imported, and those of deleted conversations, do not count."""

    days: tuple[date, ...]
    """Of the period, without a gap; the last is today."""
    at: datetime
    uses: Mapping[tuple[date, str], Use]
    """By day and model."""
    failures: Mapping[str, int]
    """Turns by what went wrong: an error's code, a finish reason that is none of a whole answer, or a status."""
    users_by_day: Mapping[date, int]
    users: int
    """Different people who asked something in the period."""
    waits: Mapping[date, Waited]
    backlog: tuple[Backlog, ...]
    live: tuple[LiveTurns, ...]
    kernels: KernelCount | None
    """Of this process's emulator; None where it has none."""

    @cached_property
    def by_day(self) -> Mapping[date, Use]:
        """Every day of the period."""
        return {day: sum((use for (at, _), use in self.uses.items() if at == day), Use()) for day in self.days}

    @cached_property
    def by_model(self) -> Mapping[str, Use]:
        """The most used first."""
        found: defaultdict[str, Use] = defaultdict(Use)
        for (_, model), use in self.uses.items():
            found[model] += use
        return dict(sorted(found.items(), key=lambda item: (-item[1].turns, item[0])))

    @cached_property
    def total(self) -> Use:
        """Of the period."""
        return sum(self.uses.values(), Use())


def failure(status: str, error_code: str, finish_reason: str) -> str:
    """What went wrong with a turn, in a word; empty for one that went well or is still live."""
    if status == "done":
        return "" if finish_reason in ("", "STOP") else finish_reason
    if status == "stopped":
        return "stopped by the user"
    if status == "interrupted":
        return "interrupted"
    return error_code or "failed" if status == "failed" else ""


def counted(failures: Mapping[tuple[str, str, str], int]) -> dict[str, int]:
    """Status, error code and finish reason → turns, as what went wrong → turns; the most frequent first."""
    found: Counter[str] = Counter()
    for ending, turns in failures.items():
        if kind := failure(*ending):
            found[kind] += turns
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def place(number: int, percent: int) -> int:
    """Of so many values in order, from 1, the place of a percentile: the first with so many per cent up to it."""
    return -(-number * percent // 100)
