"""Groups the entries of the conversation list under headings: pinned ones, then days, weeks and months.

Days are those of the reader's time zone (`time_zones`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import groupby

from chat.models import Conversation

WEEK_DAYS, MONTH_DAYS = 7, 30


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the list."""

    name: str
    """`open`, `pinned`, `today`, `yesterday`, `week`, `days` (the previous 30 days) or `month`."""
    month: date | None = None
    """The first day of the month, for headings of months."""

    @property
    def key(self) -> str:
        """The part of the element's id that is unique for this heading."""
        return f"{self.month:%Y-%m}" if self.month else self.name


@dataclass(frozen=True, slots=True)
class ListGroup:
    """Entries under one heading."""

    heading: Heading
    entries: list[Conversation]
    is_begun: bool = False
    """True if the group began on the previous page, which has its heading."""


OPEN, PINNED = Heading("open"), Heading("pinned")


def heading_of(day: date, today: date) -> Heading:
    """Return the heading for conversations that changed last on this day."""
    age_days = (today - day).days
    if age_days <= 0:
        return Heading("today")
    if age_days == 1:
        return Heading("yesterday")
    if age_days <= WEEK_DAYS:
        return Heading("week")
    if age_days <= MONTH_DAYS:
        return Heading("days")
    return Heading("month", day.replace(day=1))


def group_by_day(
    conversations: Iterable[Conversation], today: date, zone: tzinfo, *, after: datetime | None = None
) -> Iterator[ListGroup]:
    """Yield the groups of conversations that are ordered by their last change, newest first.

    `after`: the last change of the previous entry, whose heading is on the previous page.
    """

    def heading_at(changed_at: datetime) -> Heading:
        return heading_of(changed_at.astimezone(zone).date(), today)

    begun = None if after is None else heading_at(after)
    for heading, entries in groupby(conversations, lambda conversation: heading_at(conversation.updated_at)):
        yield ListGroup(heading, list(entries), is_begun=heading == begun)
