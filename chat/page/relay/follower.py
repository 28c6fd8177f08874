"""Keeps one open page up to date with its conversation.

The page applies frames in order. After a gap, if too many frames wait for it, or when it joins in the middle of an
answer, it gets a snapshot from the database instead. Then it follows the frames from there.

The page holds a window of the transcript (`transcript.window`). The follower alone changes it, in the order in which it
sends messages, so it always knows what the page holds.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from channels.db import database_sync_to_async

from chat.models import Conversation, User
from chat.page.relay import broadcast, position_polling, socket_revalidation
from chat.page.relay.frames import Announcement, ExpectedPosition, Frame, NewRevision, OrderedFrame, UnorderedUpdate
from chat.page.relay.page_updates import read_earlier, read_later, read_update
from chat.page.relay.send_window import WINDOW_FRAMES, SendWindow
from chat.page.relay.stream_position import StreamPosition
from chat.page.render_queue import PEOPLE, PEOPLE_AT_ONCE, Place
from chat.page.transcript.window import Direction, Window

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger(__name__)

RETRY_PAUSE_S = 1.0
WINDOW_WAIT_S = 2.0
"""Time in which a page has to send its window. After it, the page is taken to hold the newest messages."""

CLOSE_TOO_SLOW = 4408
CLOSE_DELETED = 4404
CLOSE_RESTARTING = 4503
DELETED = "This conversation is gone."

_snapshot_threads = ThreadPoolExecutor(max_workers=PEOPLE_AT_ONCE, thread_name_prefix="snapshot")
"""Separate from Django's shared thread, so that a long transcript does not delay handshakes of other sockets."""


class Socket(Protocol):
    """The connection to the page."""

    async def send(self, text_data: str) -> None:
        """Send one message."""
        ...

    async def complain(self, sentence: str) -> None:
        """Show a sentence above the composer."""
        ...

    async def close(self, code: int) -> None:
        """Close the connection."""
        ...


class Follower:
    """The server's side of one open page that follows a conversation."""

    def __init__(
        self, socket: Socket, conversation_id: uuid.UUID, *, user: User, session_key: str, revision: int | None
    ) -> None:
        """`revision`: the one at which the page was rendered. Frames are queued from now on, and sent after `start`."""
        self.user = user
        self.session_key = session_key
        self._socket = socket
        self._conversation_id = conversation_id
        self._position = StreamPosition(revision)
        self._window: Window | None = None
        """The window that the page holds. `None`: the page has not sent it, and gets the newest messages."""
        self._waits_for_window = False
        """Whether the page still has to send its window."""
        self._reader_at: uuid.UUID | int | None = None
        """The id or index of a message that the reader sees, if it is known."""
        self._extension: Direction | None = None
        """The direction in which the page has asked for more messages; `None` if it has not asked."""
        self._send_window = SendWindow()
        self._frames: deque[OrderedFrame | UnorderedUpdate] = deque()
        self._is_outdated = False
        """Whether the page needs a snapshot."""
        self._needs_whole = False
        """Whether the snapshot must hold all messages that the page shows, not only the live answer."""
        self._has_work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        broadcast.subscribe(conversation_id, self)

    def start(self, *, is_outdated: bool, waits_for_window: bool = False) -> None:
        """Begin to send. `is_outdated`: whether something has changed since the page was loaded.

        `waits_for_window`: the page first sends its window (`set_window`), which may have grown since it was loaded.
        """
        self._is_outdated = self._is_outdated or is_outdated
        self._waits_for_window = waits_for_window
        if waits_for_window:
            asyncio.get_running_loop().call_later(WINDOW_WAIT_S, self.stop_waiting)
        self._task = asyncio.get_running_loop().create_task(self._send_repeatedly())
        socket_revalidation.ensure_running()
        position_polling.ensure_running()
        self._has_work.set()

    def stop(self) -> None:
        """Stop following. Must be called only once."""
        if self._task:
            self._task.cancel()
        broadcast.unsubscribe(self._conversation_id, self)

    def deliver(self, frame: Frame) -> None:
        """Queue a frame for the page. A page that cannot apply it, or has too many to read, gets a snapshot."""
        if isinstance(frame, ExpectedPosition):
            shows_end = self._window is None or self._window.is_at_end
            # Frames that wait for the page will bring it to the position.
            if self._is_outdated or self._frames or not self._position.is_behind(frame, shows_end=shows_end):
                return
            self._is_outdated = True
        elif isinstance(frame, Announcement) and frame.is_whole:
            self._read_whole_window()
        elif isinstance(frame, Announcement):
            is_known = frame.revision is not None and frame.revision == self._position.revision
            if self._is_outdated or is_known:
                return
            self._is_outdated = True
        elif len(self._frames) >= WINDOW_FRAMES:
            self._frames.clear()
            self._is_outdated = True
        else:
            # Frames are queued also while a snapshot is read: it may not contain this frame's changes yet.
            self._frames.append(frame)
        self._has_work.set()

    def set_window(self, window: Window, reader_at: uuid.UUID | None) -> None:
        """Set the window that the page holds, and a message that its reader sees. A second call is ignored."""
        if self._window is not None:
            return
        self._window, self._reader_at = window, reader_at
        if not self._waits_for_window:
            # The window came late: the page may have got frames that do not fit it.
            self._read_whole_window()
        self.stop_waiting()

    def stop_waiting(self) -> None:
        """Begin to send to a page that has not sent its window."""
        self._waits_for_window = False
        self._has_work.set()

    def keep_in_view(self, message_id: uuid.UUID) -> None:
        """Record that the reader looks at this message, and not at the end."""
        self._reader_at = message_id

    def follow_end(self) -> None:
        """Record that the reader looks at the end, where a new answer is written."""
        self._reader_at = None

    def extend(self, direction: Direction) -> None:
        """Send the messages before or after those that the page holds."""
        if self._window is not None and (self._window.last is not None if direction == "later" else self._window.first):
            self._extension = direction
            self._has_work.set()

    def acknowledge(self, turn_id: str, seq: int) -> None:
        """Record that the page has applied all frames up to this one."""
        self._send_window.acknowledge(turn_id, seq)
        self._has_work.set()

    async def send_unordered(self, text: str) -> None:
        """Send a message that does not change the page's position in the stream."""
        if not await self._is_closed_as_too_slow():
            self._send_window.unordered_bytes += len(text.encode())
            await self._socket.send(text)

    async def end(self, code: int, sentence: str) -> None:
        """Close the socket, and tell the page why."""
        if self._task is None:
            # The handshake is not complete, and checks the permission itself.
            return
        await self._socket.complain(sentence)
        await self._socket.close(code)

    async def move(self) -> None:
        """Close the socket, so that its page connects to another process."""
        if self._task is not None:
            await self._socket.close(CLOSE_RESTARTING)

    async def _send_repeatedly(self) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            try:
                await self._send_all()
            except Exception:
                # The database may be unavailable for a moment; the page must not stay outdated for ever.
                logger.exception("a page of conversation %s could not be brought up to date", self._conversation_id)
                self._read_whole_window()
                await asyncio.sleep(RETRY_PAUSE_S)
                self._has_work.set()

    async def _send_all(self) -> None:
        while not self._waits_for_window and not self._send_window.is_full:
            if self._is_outdated:
                await self._send_snapshot()
            elif self._frames:
                await self._send_frame(self._frames.popleft())
            elif self._extension and self._window is not None:
                await self._send_extension(self._window, self._extension)
            else:
                return

    async def _send_frame(self, frame: OrderedFrame | UnorderedUpdate) -> None:
        if isinstance(frame, UnorderedUpdate):
            await self.send_unordered(frame.text)
        elif self._position.includes(frame):
            return
        elif self._window is not None and not self._window.is_at_end:
            # The page does not show the end, where answers grow. A new revision may have changed what it shows.
            self._is_outdated = frame.revision != self._position.revision
        elif self._position.precedes(frame) and not self._is_cut_by(frame):
            await self._send(frame.text, StreamPosition.of(frame))
        else:
            self._is_outdated = True

    def _is_cut_by(self, frame: OrderedFrame) -> bool:
        """Return whether the frame replaces all messages of the page, and the conversation has earlier ones."""
        window = self._window
        return isinstance(frame, NewRevision) and window is not None and window.is_cut_at(frame.replaced_from)

    async def _send_snapshot(self) -> None:
        try:
            async with PEOPLE.place(self.user.pk) as place:
                # The snapshot contains the frames so far. A frame that arrives while the snapshot is read follows it,
                # or is part of it. If a frame between them is missing, the page gets another snapshot.
                self._frames.clear()
                known_revision = None if self._needs_whole else self._position.revision
                self._is_outdated = self._needs_whole = False
                update = await self._read(place, read_update, known_revision, self._window, self._reader_at)
        except Conversation.DoesNotExist:
            await self.end(CLOSE_DELETED, DELETED)
            return
        if update.window is not None:
            self._window, self._reader_at = update.window, None
        await self._send(update.text, update.position)

    def _read_whole_window(self) -> None:
        """Let the next message be a snapshot of the whole window."""
        self._is_outdated = self._needs_whole = True
        self._has_work.set()

    async def _send_extension(self, held: Window, direction: Direction) -> None:
        self._extension = None
        read = read_earlier if direction == "earlier" else read_later
        try:
            async with PEOPLE.place(self.user.pk) as place:
                update = await self._read(place, read, self._position, held)
        except Conversation.DoesNotExist:
            await self.end(CLOSE_DELETED, DELETED)
            return
        if update is None:
            self._window = held.extended(direction)
            # If the snapshot must be shortened, it keeps the nearest of the messages that the page has asked for.
            self._reader_at = max(0, held.first - 1) if held.last is None or direction == "earlier" else held.last
            self._read_whole_window()
            return
        self._window = update.window
        await self._send(update.text, update.position)

    async def _read(
        self, place: Place, read: Callable[Concatenate[uuid.UUID, P], R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Call a function that reads and renders messages, with the place that this person got in the render queue."""
        run = database_sync_to_async(place.run, thread_sensitive=False, executor=_snapshot_threads)
        update: R = await run(read, self._conversation_id, *args, **kwargs)
        return update

    async def _send(self, text: str, position: StreamPosition) -> None:
        """Send a message, unless it is empty. The position of the page changes only if sending succeeds."""
        if text:
            if await self._is_closed_as_too_slow():
                return
            self._send_window.add(position.turn_id, position.seq, len(text.encode()))
            await self._socket.send(text)
        self._position = position

    async def _is_closed_as_too_slow(self) -> bool:
        """If the client has stopped acknowledging, close its socket and return True."""
        if self._send_window.is_client_stalled:
            await self._socket.close(CLOSE_TOO_SLOW)
        return self._send_window.is_client_stalled
