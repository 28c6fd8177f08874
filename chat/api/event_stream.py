"""Streams the events of a turn to a client that may read them. The turn may run in any server process.

The database holds the events. A frame of the relay is only a signal to read them again. For a slow client, this process
holds one page of events in memory, and reads the next page when the client has received it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError

from chat.answering.turns.runner import live_turns
from chat.api.stored_events import EventPage, LogForgotten, StoredEvents
from chat.api.turn_events import done_content, encode_event
from chat.models import Turn
from chat.page.relay import broadcast
from chat.page.relay.frames import Frame

POLL_INTERVAL_S = 0.25
"""Seconds between two reads of the log for turns of other processes, whose frames may be lost."""
LOCAL_POLL_INTERVAL_S = 1.0
"""Seconds between two reads of the log for turns of this process, in case a frame is lost."""
WAITING_POLL_INTERVAL_S = 4.0
"""Seconds between two reads of the log while the turn waits for a decision, whose frame may be lost."""
HEARTBEAT_INTERVAL_S = 15.0
RECHECK_INTERVAL_S = 4.0
"""Seconds between two checks of the client's permission."""
RETRY_INTERVAL_S = 1.0
"""Pause after a failure of the database."""

HEARTBEAT = b": still here\n\n"

logger = logging.getLogger(__name__)

_reader_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="events")

_open_streams: Counter[int] = Counter()
"""Number of open streams of this process, by user."""


def open_stream_count(user_id: int) -> int:
    """Return how many streams of a user are open in this process."""
    return _open_streams[user_id]


def too_many_sentence() -> str:
    """Return the error sentence for a user who may not open another stream."""
    return f"You follow {settings.SOCKETS_LIMIT} answers already. Close one of them."


class _ChangeListener:
    """A subscriber that records whether a frame has arrived."""

    def __init__(self) -> None:
        self.is_moved = False
        """Whether this process is about to end. The client then resumes the stream elsewhere."""
        self._has_changed = asyncio.Event()

    def deliver(self, frame: Frame) -> None:
        """Note that something has changed. The stream then reads the log, so the frame's content is not used."""
        self._has_changed.set()

    async def move(self) -> None:
        """End the stream, because this process is about to end. The client then connects to another one."""
        self.is_moved = True
        self._has_changed.set()

    def reset(self) -> None:
        """Forget earlier frames."""
        self._has_changed.clear()

    async def wait(self, timeout_s: float) -> None:
        """Return when a frame arrives, or after the timeout."""
        with suppress(TimeoutError):
            # `wait_for` is not used, because it may lose a cancellation before Python 3.12.
            async with asyncio.timeout(timeout_s):
                await self._has_changed.wait()


async def stream_events(
    turn: Turn, events: StoredEvents, user_id: int, may_read: Callable[[], bool]
) -> AsyncGenerator[bytes]:
    """Yield all events in the format `text/event-stream`. `may_read` is called on a thread, every few seconds."""
    if open_stream_count(user_id) >= settings.SOCKETS_LIMIT:
        # The view has checked the limit too, but several streams may be requested before any of them is open.
        yield _abort(turn, "too_many", too_many_sentence())
        return
    listener = _ChangeListener()
    broadcast.subscribe(turn.conversation_id, listener)
    _open_streams[user_id] += 1
    try:
        async for block in _blocks(turn, events, listener, may_read):
            yield block
    finally:
        _open_streams[user_id] -= 1
        broadcast.unsubscribe(turn.conversation_id, listener)


async def _blocks(
    turn: Turn, events: StoredEvents, listener: _ChangeListener, may_read: Callable[[], bool]
) -> AsyncGenerator[bytes]:
    read_page = database_sync_to_async(events.next_page, thread_sensitive=False, executor=_reader_threads)
    check = database_sync_to_async(may_read, thread_sensitive=False, executor=_reader_threads)
    sent_at = checked_at = time.monotonic()
    while True:
        listener.reset()
        try:
            if time.monotonic() - checked_at > RECHECK_INTERVAL_S:
                if not await check():
                    yield _abort(turn, "signed_out", "You may not follow this answer any more.")
                    return
                checked_at = time.monotonic()
            page = await read_page()
        except Turn.DoesNotExist:
            yield _abort(turn, "gone", "This conversation is gone.")
            return
        except LogForgotten:
            # The stream ends without `done`. If the client resumes it, the view's error says to begin again.
            return
        except DatabaseError:
            logger.warning("the events of turn %s could not be read", turn.pk, exc_info=True)
            await asyncio.sleep(RETRY_INTERVAL_S)
            page = EventPage([], is_last=False, has_more=False)
        if page.events:
            yield b"".join(event.encode() for event in page.events)
            sent_at = time.monotonic()
        elif time.monotonic() - sent_at > HEARTBEAT_INTERVAL_S:
            yield HEARTBEAT
            sent_at = time.monotonic()
        if page.is_last or listener.is_moved:
            return
        if not page.has_more:
            await listener.wait(_poll_interval_s(turn, page))


def _poll_interval_s(turn: Turn, page: EventPage) -> float:
    if page.is_waiting:
        return WAITING_POLL_INTERVAL_S
    return LOCAL_POLL_INTERVAL_S if turn.pk in live_turns() else POLL_INTERVAL_S


def _abort(turn: Turn, code: str, detail: str) -> bytes:
    """Return the last events of a stream that stops early. They have no numbers, so it cannot be resumed after them."""
    error = "error", {"code": code, "detail": detail}
    return encode_event(error, None) + encode_event(done_content(turn, ""), None)
