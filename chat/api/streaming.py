"""Following a turn: its log as it grows, from any process, for as long as the reader may read it.

The database is the truth; frames of this process (or of others, by the channel layer) only say when to look. Nothing is
kept for a reader but its place: one that is slow is simply asked for less often by the server that sends to it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Max
from django.utils import timezone

from chat.api.events import RETOLD_FROM, STATUS_ROW, Event, Teller, ending, opening, retold
from chat.exports.reading import Vanished, told
from chat.models import Turn, TurnEvent
from chat.turns import broadcast
from chat.turns.broadcast import Frame
from chat.turns.recovery import LOG_LIFE
from chat.turns.runner import live_turns

ROWS_AT_ONCE = 32
EVENTS_AT_ONCE = 20
#: What is sent at once, and so held in memory for each reader.
PAGE_CHARS = 64 * 1024
#: Where no frame may come: the turn runs in another process.
POLL_S = 0.25
#: Where frames come: in case one was lost.
LOOK_S = 1.0
HEARTBEAT_S = 15.0
RECHECK_S = 4.0
RETRY_S = 1.0
#: A log may be half deleted when its time has come.
LOG_MARGIN = timedelta(hours=1)

HEARTBEAT = b": still here\n\n"

logger = logging.getLogger(__name__)

_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="events")

_streams: Counter[int] = Counter()
"""Open streams of this process, by user."""


def open_streams(user_id: int) -> int:
    """How many streams somebody has open in this process."""
    return _streams[user_id]


def too_many_sentence() -> str:
    """For who has as many open as they may."""
    return f"You follow {settings.SOCKETS_LIMIT} answers already. Close one of them."


def is_forgotten(turn: Turn) -> bool:
    """Whether its steps are told from its parts: its log is gone, or about to go, or there never was one."""
    if turn.is_live:
        return False
    is_old = turn.ended_at is None or turn.ended_at < timezone.now() - (LOG_LIFE - LOG_MARGIN)
    return is_old or not TurnEvent.objects.filter(turn=turn).exists()


@dataclass(slots=True)
class Page:
    """Some events, and what to expect."""

    events: list[Event]
    is_last: bool
    is_full: bool
    """There may be more at once."""


@dataclass(slots=True)
class LogReader:
    """Reads on from a place in a turn's log, a page at a time; on any thread, one at a time."""

    turn_id: uuid.UUID
    after: int
    """The number of the last event the reader has; -1: none."""
    _row: int = 0
    """The last row that was read."""
    _rows_at_once: int = 1
    """As many as are likely to be small: one may hold all that a fast model said within a round of group commit."""
    _teller: Teller = field(default_factory=Teller)

    def has_nothing_left(self) -> bool:
        """Whether the reader has the very last event."""
        turn = Turn.objects.filter(pk=self.turn_id).exclude(status__in=Turn.LIVE).first()
        if turn is None:
            return False
        rows = TurnEvent.objects.filter(turn=turn).exclude(name=STATUS_ROW)
        last = rows.aggregate(last=Max("seq"))["last"] or 0
        return self.after >= ending(turn, last)[-1].seq

    def next_page(self) -> Page:
        """Raises Turn.DoesNotExist."""
        # Before its rows: a turn that has ended by now has all of them.
        turn = Turn.objects.get(pk=self.turn_id)
        events = [opening()]
        is_full, chars = True, 0
        while is_full and chars < PAGE_CHARS:
            found = self._next_rows()
            is_full = len(found) == self._rows_at_once
            before = chars
            for seq, name, data in found:
                if name == STATUS_ROW:
                    continue
                self._row = seq
                if event := self._teller.tell(seq, (name, data)):
                    events.append(event)
                    chars += event.size_chars
            is_small = chars - before < PAGE_CHARS / 4
            self._rows_at_once = min(2 * self._rows_at_once, ROWS_AT_ONCE) if is_small else 1
        is_last = not turn.is_live and not is_full
        if is_last:
            events += ending(turn, self._row)
        new = [event for event in events if event.seq > self.after]
        if new:
            self.after = new[-1].seq
        return Page(new, is_last, is_full)

    def _next_rows(self) -> list[tuple[int, str, dict[str, Any]]]:
        rows = TurnEvent.objects.filter(turn_id=self.turn_id, seq__gt=self._row).order_by("seq")
        return list(rows.values_list("seq", "name", "data")[: self._rows_at_once])


@dataclass(slots=True)
class PartsReader:
    """Tells a turn whose log is forgotten."""

    turn_id: uuid.UUID
    after: int
    _events: Iterator[Event] | None = None

    def has_nothing_left(self) -> bool:
        """Whether the reader has the very last event."""
        return self.after >= RETOLD_FROM and not any(self._retold())

    def next_page(self) -> Page:
        """Raises Turn.DoesNotExist."""
        if self._events is None:
            self._events = self._retold()
        events = list(islice(self._events, EVENTS_AT_ONCE))
        is_full = len(events) == EVENTS_AT_ONCE
        return Page(events, not is_full, is_full)

    def _retold(self) -> Iterator[Event]:
        turn = Turn.objects.get(pk=self.turn_id)
        try:
            (message,) = told([turn.message_id])
        except Vanished:
            raise Turn.DoesNotExist from None
        return (event for event in retold(turn, message) if event.seq > self.after)


def reader_of(turn: Turn, after: int) -> LogReader | PartsReader | None:
    """Who tells the events after a number, -1 for all; None: it is a number of a log that is gone."""
    if not is_forgotten(turn):
        return LogReader(turn.pk, after)
    return PartsReader(turn.pk, after) if after < 0 or after >= RETOLD_FROM else None


class _News:
    """Follows a conversation: something was stored."""

    def __init__(self) -> None:
        self.came = asyncio.Event()

    def deliver(self, frame: Frame) -> None:
        """Note it; the database says what it is."""
        self.came.set()


async def stream(
    turn: Turn, reader: LogReader | PartsReader, user_id: int, may_read: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """The events as bytes, to the last; a comment now and then while nothing happens."""
    if open_streams(user_id) >= settings.SOCKETS_LIMIT:
        # Many were asked for at once, before any of them was open.
        yield _parting(turn, "too_many", too_many_sentence())
        return
    news = _News()
    conversation_id = turn.conversation_id
    broadcast.subscribe(conversation_id, news)
    _streams[user_id] += 1
    try:
        async for block in _blocks(turn, reader, news, may_read):
            yield block
    finally:
        _streams[user_id] -= 1
        broadcast.unsubscribe(conversation_id, news)


async def _blocks(
    turn: Turn, reader: LogReader | PartsReader, news: _News, may_read: Callable[[], bool]
) -> AsyncIterator[bytes]:
    read = database_sync_to_async(reader.next_page, thread_sensitive=False, executor=_readers)
    check = database_sync_to_async(may_read, thread_sensitive=False, executor=_readers)
    said_at = checked_at = time.monotonic()
    while True:
        news.came.clear()
        try:
            if time.monotonic() - checked_at > RECHECK_S:
                if not await check():
                    yield _parting(turn, "signed_out", "You may not follow this answer any more.")
                    return
                checked_at = time.monotonic()
            page = await read()
        except Turn.DoesNotExist:
            yield _parting(turn, "gone", "This conversation is gone.")
            return
        except DatabaseError:
            logger.warning("a stream of turn %s could not be read", turn.pk, exc_info=True)
            await asyncio.sleep(RETRY_S)
            page = Page([], is_last=False, is_full=False)
        if page.events:
            yield b"".join(event.encoded() for event in page.events)
            said_at = time.monotonic()
        elif time.monotonic() - said_at > HEARTBEAT_S:
            yield HEARTBEAT
            said_at = time.monotonic()
        if page.is_last:
            return
        if not page.is_full:
            await _wait(news, LOOK_S if turn.pk in live_turns() else POLL_S)


async def _wait(news: _News, limit_s: float) -> None:
    try:
        await asyncio.wait_for(news.came.wait(), limit_s)
    except TimeoutError:
        return


def _parting(turn: Turn, code: str, detail: str) -> bytes:
    """The end of a stream that may not be told to its end: without numbers, as nobody can come back to it."""
    said = {"code": code, "detail": detail}
    events = (Event(0, "error", said), Event(0, "done", {"finish_reason": "", "message_id": str(turn.message_id)}))
    return b"".join(event.encoded().replace(b"\nid: 0\n", b"\n") for event in events)
