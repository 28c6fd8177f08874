"""The statistics of the overview as values: daily numbers of a period, and the state of this moment. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property

from chat.python.kernels.places import ServiceStatus

UPLOAD_AGES = (
    ("under a minute", timedelta(minutes=1)),
    ("1 to 10 minutes", timedelta(minutes=10)),
    ("10 minutes to 1 hour", timedelta(hours=1)),
    ("1 hour to 1 day", timedelta(days=1)),
    ("over a day", None),
)
"""Age ranges of pending uploads, as (name, upper bound); the last range has no upper bound."""


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Sums over a group of turns."""

    turns: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    """US dollars; turns without a known price add nothing."""
    unpriced_turns: int = 0
    """Turns that used tokens and have no known price."""
    uncounted_turns: int = 0
    """Turns whose provider reported no tokens, or not for all requests."""
    estimated_tokens: int = 0
    """Estimated number of tokens that were not reported. `tokens` does not include them."""

    def __add__(self, other: UsageTotals) -> UsageTotals:
        return UsageTotals(
            self.turns + other.turns,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.unpriced_turns + other.unpriced_turns,
            self.uncounted_turns + other.uncounted_turns,
            self.estimated_tokens + other.estimated_tokens,
        )


@dataclass(frozen=True, slots=True)
class WaitPercentiles:
    """Time from the question to the first part of its answer: the median and 95th percentile of one day's turns."""

    p50_s: float
    p95_s: float


@dataclass(frozen=True, slots=True)
class UploadBacklog:
    """The uploads of one age range and status that storage has not confirmed."""

    age: str
    """A name from `UPLOAD_AGES`."""
    status: str
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LiveTurns:
    """The live turns of one server process."""

    process: str
    """The lease owner; empty for turns that no process has started."""
    turns: int
    expired_leases: int
    """How many of the turns have a lease that has expired, because the process did not renew it in time."""
    oldest_at: datetime


@dataclass(frozen=True)
class Overview:
    """All statistics of one period, in UTC days. Imported turns and turns of deleted conversations are excluded."""

    days: tuple[date, ...]
    """Every day of the period in order; the last one is today."""
    measured_at: datetime
    usage_by_day_and_model: Mapping[tuple[date, str], UsageTotals]
    failures: Mapping[str, int]
    """Number of turns by failure reason; see `failure_reason`."""
    users_by_day: Mapping[date, int]
    users: int
    """Number of distinct users who asked something in the period."""
    waits_by_day: Mapping[date, WaitPercentiles]
    """The percentiles of days on which an answer began. Other days have no entry."""
    backlog: tuple[UploadBacklog, ...]
    live_turns: tuple[LiveTurns, ...]
    kernels: ServiceStatus | None
    """What the service for Python sessions reports; `None` if it does not answer or runs elsewhere."""

    @cached_property
    def usage_by_day(self) -> Mapping[date, UsageTotals]:
        """Totals for every day of the period, including days without turns."""
        totals = dict.fromkeys(self.days, UsageTotals())
        for (day, _), usage in self.usage_by_day_and_model.items():
            totals[day] += usage
        return totals

    @cached_property
    def usage_by_model(self) -> Mapping[str, UsageTotals]:
        """Totals for each model, the most used model first."""
        totals: defaultdict[str, UsageTotals] = defaultdict(UsageTotals)
        for (_, model), usage in self.usage_by_day_and_model.items():
            totals[model] += usage
        return dict(sorted(totals.items(), key=lambda item: (-item[1].turns, item[0])))

    @cached_property
    def total_usage(self) -> UsageTotals:
        """Totals of the whole period."""
        return sum(self.usage_by_day_and_model.values(), UsageTotals())


def failure_reason(status: str, error_code: str, finish: str) -> str:
    """Return why a turn gave no complete answer, or an empty string if it is complete or still live.

    The reason is the `Finish` of a turn that is done, the error code of a failed turn, and otherwise the status.
    """
    if status == "done":
        return "" if finish in ("", "stop") else finish
    if status == "stopped":
        return "stopped by the user"
    if status == "interrupted":
        return "interrupted"
    return error_code or "failed" if status == "failed" else ""


def count_failures(outcomes: Mapping[tuple[str, str, str], int]) -> dict[str, int]:
    """Return the number of turns by failure reason, the most frequent reason first.

    `outcomes` maps (status, error code, finish) to a number of turns.
    """
    failures: Counter[str] = Counter()
    for outcome, turns in outcomes.items():
        if reason := failure_reason(*outcome):
            failures[reason] += turns
    return dict(sorted(failures.items(), key=lambda item: (-item[1], item[0])))


def percentile_rank(count: int, percent: int) -> int:
    """Return the nearest rank of a percentile in `count` sorted values: ceil(count * percent / 100), counted from 1."""
    return -(-count * percent // 100)
