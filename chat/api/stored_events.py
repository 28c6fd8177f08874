"""Reads the events of a turn from the database, a page at a time, from a given number on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TypeAlias

from django.db import DatabaseError
from django.db.models import Max
from django.utils import timezone

from chat.api.turn_events import (
    FIRST_SEQ_FROM_PARTS,
    STATUS_ROW,
    Event,
    LogTranslator,
    events_from_parts,
    final_events,
    status_content,
)
from chat.messages.records import Deleted, records_in_order
from chat.models import Turn, TurnEvent
from chat.vocabulary.parts import JSONObject

BEFORE_FIRST = -1
"""The last event number of a client that has received no event."""
ROWS_LIMIT = 32
"""Maximum number of log rows that one query reads."""
EVENTS_LIMIT = 20
"""Maximum number of events that one page has if they are made from parts."""
PAGE_LIMIT_CHARS = 64 * 1024
"""A page of a log ends when it has this many characters. The process holds one page in memory for each client."""
OPENING_MARGIN = timedelta(minutes=5)
"""A stream reads the log only if it will be kept for at least this time, so that a client can read all of it."""
READING_MARGIN = timedelta(minutes=1)
"""Reading stops if the log will be deleted within this time, so that it is never read half deleted."""


class LogForgotten(Exception):
    """The log will soon be deleted, and a slow client has not read all of it."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """The events that one call of `next_page` returns."""

    events: list[Event]
    is_last: bool
    """Whether the stream ends with these events."""
    has_more: bool
    """Whether more events may be ready already."""
    is_waiting: bool = False
    """Whether the turn waits for a decision, so that nothing happens until somebody makes it."""


@dataclass(slots=True)
class LogEvents:
    """Reads a turn's log. Any thread may use it, one at a time."""

    turn_id: uuid.UUID
    after: int
    """Number of the last event that the client has."""
    _last_seq: int = 0
    """Number of the last row that was read."""
    _row_count: int = 1
    """How many rows to read next: 1 at first, more while rows are short. A single row may hold a long text."""
    _translator: LogTranslator = field(default_factory=LogTranslator)

    def is_at_end(self) -> bool:
        """Return whether the client has the very last event."""
        turn = Turn.objects.filter(pk=self.turn_id).exclude(status__in=Turn.LIVE).first()
        if turn is None:
            return False
        rows = TurnEvent.objects.filter(turn=turn).exclude(name=STATUS_ROW)
        last_seq = rows.aggregate(last=Max("seq"))["last"] or 0
        return self.after >= final_events(turn, last_seq)[-1].seq

    def next_page(self) -> EventPage:
        """Return the next events.

        Raises Turn.DoesNotExist if the conversation was deleted, and LogForgotten if the log will soon be deleted.
        """
        # The turn is read before its rows: if it has ended by now, all rows are there.
        turn = Turn.objects.get(pk=self.turn_id)
        if not turn.is_live and not is_log_kept(turn, READING_MARGIN):
            raise LogForgotten
        events = [Event(0, status_content(Turn.Status.RUNNING))]
        has_more, size_chars = True, 0
        first_seq = self._last_seq
        while has_more and size_chars < PAGE_LIMIT_CHARS:
            try:
                rows = self._next_rows()
            except DatabaseError:
                if self._last_seq == first_seq:
                    raise
                # The rows before are not read again, so return their events now. The next page repeats the query.
                break
            has_more = len(rows) == self._row_count
            new = list(self._translated(rows))
            events += new
            new_chars = sum(event.size_chars for event in new)
            size_chars += new_chars
            self._row_count = min(2 * self._row_count, ROWS_LIMIT) if new_chars < PAGE_LIMIT_CHARS / 4 else 1
        is_last = not turn.is_live and not has_more
        if is_last:
            events += final_events(turn, self._last_seq)
        unknown = [event for event in events if event.seq > self.after]
        if unknown:
            self.after = unknown[-1].seq
        return EventPage(unknown, is_last, has_more, is_waiting=turn.status == Turn.Status.WAITING)

    def _next_rows(self) -> list[tuple[int, str, JSONObject]]:
        rows = TurnEvent.objects.filter(turn_id=self.turn_id, seq__gt=self._last_seq).order_by("seq")
        return list(rows.values_list("seq", "name", "data")[: self._row_count])

    def _translated(self, rows: list[tuple[int, str, JSONObject]]) -> Iterator[Event]:
        for seq, name, data in rows:
            # `final_events` makes the last events, in place of this row.
            if name != STATUS_ROW:
                self._last_seq = seq
                if content := self._translator.translate((name, data)):
                    yield Event(seq, content)


@dataclass(slots=True)
class PartsEvents:
    """Reads the stored parts of a turn whose log is deleted."""

    turn_id: uuid.UUID
    after: int
    """Number of the last event that the client has."""
    _events: Iterator[Event] | None = None

    def is_at_end(self) -> bool:
        """Return whether the client has the very last event."""
        return self.after >= FIRST_SEQ_FROM_PARTS and not any(self._read())

    def next_page(self) -> EventPage:
        """Return the next events. Raises Turn.DoesNotExist if the conversation was deleted."""
        if self._events is None:
            self._events = self._read()
        events = list(islice(self._events, EVENTS_LIMIT))
        has_more = len(events) == EVENTS_LIMIT
        return EventPage(events, not has_more, has_more)

    def _read(self) -> Iterator[Event]:
        turn = Turn.objects.get(pk=self.turn_id)
        try:
            (record,) = records_in_order([turn.message_id])
        except Deleted:
            raise Turn.DoesNotExist from None
        return (event for event in events_from_parts(turn, record) if event.seq > self.after)


StoredEvents: TypeAlias = LogEvents | PartsEvents


def open_events(turn: Turn, after: int) -> StoredEvents | None:
    """Return the events after a number; `None` if the number belongs to a log that is deleted by now."""
    if has_log(turn):
        return LogEvents(turn.pk, after)
    return PartsEvents(turn.pk, after) if after == BEFORE_FIRST or after >= FIRST_SEQ_FROM_PARTS else None


def has_log(turn: Turn) -> bool:
    """Return whether a turn has a log that is kept long enough to be read. Imported turns never have one."""
    if turn.is_live:
        return True
    return is_log_kept(turn, OPENING_MARGIN) and TurnEvent.objects.filter(turn=turn).exists()


def is_log_kept(turn: Turn, margin: timedelta) -> bool:
    """Return whether the log of an ended turn will be kept for at least `margin`."""
    return turn.log_kept_until is not None and turn.log_kept_until > timezone.now() + margin
