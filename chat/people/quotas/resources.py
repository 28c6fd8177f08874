"""The limited resources, the days by which usage is counted, and the sentences of refusals. Pure.

A day begins at 00:00 UTC. Every amount is a whole number in the unit of its counter: bytes, milliseconds, or a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum

from chat.people.account.number_format import format_count

MB = 1024**2


class Resource(Enum):
    """A resource whose usage is limited."""

    TURNS = "turns", "turns_per_day", 1
    TOKENS = "tokens", "tokens_per_day", 1
    CONVERSATIONS = "conversations", "conversations_per_day", 1
    KERNEL_TIME = "kernel_ms", "kernel_seconds_per_day", 1000
    IMPORTS = "import_bytes", "import_mb_per_day", MB
    UPLOADS = "upload_bytes", "upload_mb_per_day", MB
    STORAGE = "storage_bytes", "storage_mb", MB

    def __init__(self, counter: str, limit: str, unit: int) -> None:
        self.counter = counter
        """The column of `QuotaUse` that counts the resource. Storage has none: its usage is the sum of a person's
        files.
        """
        self.limit = limit
        """The name of the limit: a column of `Quota`, and a key of the setting `QUOTAS`."""
        self.unit = unit
        """How many units of the counter make 1 in the limit, such as 1000 for ms and s."""

    @property
    def is_daily(self) -> bool:
        """Whether the usage starts again at 0 each day."""
        return self is not Resource.STORAGE


DAILY = tuple(resource for resource in Resource if resource.is_daily)


def limit_of(resource: Resource, own: int | None, for_everyone: Mapping[str, int]) -> int | None:
    """Return a limit in the unit of the counter; `None` if there is none.

    `own`: the limit in the rows of the person, 0 for no limit; `None` if no row has one. `for_everyone`: the setting
    `QUOTAS`.
    """
    limit = for_everyone[resource.limit] if own is None else own
    return limit * resource.unit or None


_FILE_REASON = "{subject} has {amount}, which is too much. "
_REASONS = {
    Resource.TURNS: "You have started {used} today, of at most {limit} a day.",
    Resource.TOKENS: "Your answers have used {used} today, of at most {limit} a day.",
    Resource.CONVERSATIONS: "You have created {used} today, of at most {limit} a day.",
    Resource.KERNEL_TIME: "Your code in Python sessions has run for {used} today, of at most {limit} a day.",
    Resource.IMPORTS: "You have imported {used} today, of at most {limit} a day.",
    Resource.UPLOADS: "You have uploaded {used} today, of at most {limit} a day.",
    Resource.STORAGE: "Your files take up {used}, of at most {limit}. Delete conversations with graphs and files"
    " that you do not need.",
}


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """How much of a resource a person has used, and how much they may use."""

    resource: Resource
    used: int
    limit: int | None
    """The limit in the unit of the counter; `None` if there is none."""
    estimated: int = 0
    """Number of tokens that are estimated, because a provider reported none. `add_usage` does not read it."""

    @property
    def left(self) -> int | None:
        """How much may still be used; `None` if there is no limit."""
        return None if self.limit is None else max(0, self.limit - self.used)

    def allows(self, amount: int) -> bool:
        """Return whether this amount may be used in addition. If nothing is left, not even 0 is allowed."""
        return self.limit is None or (self.used + amount <= self.limit and self.used < self.limit)

    def without(self, amount: int) -> ResourceUsage:
        """Return the usage reduced by this amount, in the unit of the counter."""
        return replace(self, used=self.used - amount)


class QuotaExceeded(Exception):
    """A quota would be exceeded. The text is a sentence with the numbers, and the time when more is allowed."""

    def __init__(self, usage: ResourceUsage, amount: int, *, now: datetime, subject: str = "") -> None:
        """`amount`: the requested amount. `now`: the time in the person's time zone.

        `subject`: the file that was refused, if it was one, such as `“a.csv”`.
        """
        super().__init__(refusal_sentence(usage, amount, now=now, subject=subject))
        is_daily = usage.resource.is_daily
        self.retry_after_s = int((day_end(now) - now).total_seconds()) + 1 if is_daily else None
        """Seconds until more is allowed; `None` if waiting does not help."""
        self.status = 429 if is_daily else 403
        """The HTTP status: 429 if waiting helps, otherwise 403."""


def day_of(now: datetime) -> date:
    """Return the day to which usage at this time is counted. `now`: an aware time."""
    return now.astimezone(UTC).date()


def day_end(now: datetime) -> datetime:
    """Return the time at which the next day begins."""
    return datetime.combine(day_of(now) + timedelta(days=1), time(), UTC)


def refusal_sentence(usage: ResourceUsage, amount: int, *, now: datetime, subject: str) -> str:
    """Return the sentence that says why something was refused. `now`: the time in the person's zone, which it names."""
    resource = usage.resource
    reason = (_FILE_REASON if subject else "") + _REASONS[resource]
    sentence = reason.format(
        subject=subject,
        amount=words(resource, amount),
        used=words(resource, usage.used),
        limit=words(resource, usage.limit or 0),
    )
    if not resource.is_daily:
        return sentence
    if usage.estimated:
        estimate = words(resource, usage.estimated)
        sentence += f" About {estimate} of these are an estimate, because a model's service reported none."
    end = day_end(now)
    time_there = end.astimezone(now.tzinfo).strftime("%H:%M")
    return f"{sentence} More is possible from {time_there} {now.tzinfo}, in {duration_words(end - now)}."


def words(resource: Resource, amount: int) -> str:
    """Return an amount in words, such as `1,200 tokens` or `1.5 MB`."""
    match resource:
        case Resource.TURNS:
            return format_count(amount, "answer")
        case Resource.TOKENS:
            return format_count(amount, "token")
        case Resource.CONVERSATIONS:
            return format_count(amount, "conversation")
        case Resource.KERNEL_TIME:
            return format_count(round(amount / 1000), "second")
        case Resource.IMPORTS:
            return f"{size_words(amount)} of text"
        case Resource.UPLOADS | Resource.STORAGE:
            return size_words(amount)


def duration_words(duration: timedelta) -> str:
    """Return a duration in hours and minutes, rounded up to a whole minute."""
    minutes = -(-int(duration.total_seconds()) // 60) or 1
    hours, rest = divmod(minutes, 60)
    parts = [format_count(hours, "hour")] if hours else []
    return " ".join([*parts, format_count(rest, "minute")] if rest else parts)


def size_words(size_bytes: int) -> str:
    """Return a size with its unit, such as `1.5 MB`. The units are powers of 1024, as in the limits."""
    if 0 < size_bytes < 1024:
        return "under 1 KB"
    if size_bytes < 1000 * 1024:
        return f"{size_bytes / 1024:.3g} KB"
    return f"{size_bytes / MB:.3g} MB" if size_bytes < 1000 * MB else f"{size_bytes / MB / 1024:.3g} GB"
