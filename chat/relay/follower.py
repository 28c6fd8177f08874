"""Keeps one open page up to date with its conversation.

The page applies frames in order. After a gap, while its send window is full, or when it joins in the middle of an
answer, it gets a snapshot from the database instead, and follows the frames from there.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from channels.db import database_sync_to_async

from chat.fragments import header_swaps, message_html, partial, socket_message, transcript_html
from chat.models import Conversation, User
from chat.relay import broadcast, socket_revalidation
from chat.relay.frames import Frame
from chat.relay.send_window import WINDOW_FRAMES, SendWindow
from chat.relay.stream_position import StreamPosition
from chat.transcript.snapshot import Snapshot, snapshot
from chat.transcript.usage import conversation_usage

logger = logging.getLogger(__name__)

RETRY_PAUSE_S = 1.0

CLOSE_TOO_SLOW = 1013
CLOSE_DELETED = 4404
DELETED = "This conversation is gone."

_snapshot_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="snapshot")
"""Separate from Django's shared thread, so that a long transcript does not delay handshakes of other sockets."""


class Socket(Protocol):
    """The connection to the page."""

    async def send_text(self, text: str) -> None:
        """Send one message."""
        ...

    async def complain(self, sentence: str) -> None:
        """Show a sentence above the composer."""
        ...

    async def close(self, code: int) -> None:
        """Close the connection."""
        ...


class Follower:
    """One page that follows a conversation."""

    def __init__(
        self, socket: Socket, conversation_id: uuid.UUID, *, user: User, session_key: str, revision: int | None
    ) -> None:
        """`revision`: at which the page was rendered. Frames are queued from now on, and sent after `start`."""
        self.user = user
        self.session_key = session_key
        self._socket = socket
        self._conversation_id = conversation_id
        self._position = StreamPosition(revision)
        self._window = SendWindow()
        self._frames: deque[Frame] = deque()
        self._is_outdated = False
        """Whether the page needs a snapshot."""
        self._has_work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        broadcast.subscribe(conversation_id, self)

    def start(self, *, is_outdated: bool) -> None:
        """Begin to send. `is_outdated`: whether something has changed since the page was loaded."""
        self._is_outdated = self._is_outdated or is_outdated
        self._task = asyncio.get_running_loop().create_task(self._send_repeatedly())
        socket_revalidation.ensure_running()
        self._has_work.set()

    def stop(self) -> None:
        """Stop following. Called once."""
        if self._task:
            self._task.cancel()
        broadcast.unsubscribe(self._conversation_id, self)

    def deliver(self, frame: Frame) -> None:
        """See `broadcast.Subscriber`."""
        if not frame.text:
            if self._is_outdated or frame.revision == self._position.revision:
                return
            self._is_outdated = True
        elif len(self._frames) >= WINDOW_FRAMES:
            self._frames.clear()
            self._is_outdated = True
        else:
            # Also while a snapshot is read: it may have been read just before this frame's changes were stored.
            self._frames.append(frame)
        self._has_work.set()

    def acknowledge(self, turn_id: str, seq: int) -> None:
        """Note that the page has applied all frames up to this one."""
        self._window.acknowledge(turn_id, seq)
        self._has_work.set()

    async def send_unordered(self, text: str) -> None:
        """Send a message that does not change the page's position in the stream."""
        if not await self._is_closed_as_too_slow():
            self._window.unordered_bytes += len(text.encode())
            await self._socket.send_text(text)

    async def end(self, code: int, sentence: str) -> None:
        """Close the socket, and tell the page why."""
        if self._task is None:
            # The handshake is not complete. It checks the permission itself.
            return
        await self._socket.complain(sentence)
        await self._socket.close(code)

    async def _send_repeatedly(self) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            try:
                await self._send_all()
            except Exception:
                # The database may be unavailable for a moment; the page must not stay outdated for ever.
                logger.exception("a page of conversation %s could not be brought up to date", self._conversation_id)
                self._is_outdated = True
                await asyncio.sleep(RETRY_PAUSE_S)
                self._has_work.set()

    async def _send_all(self) -> None:
        while (self._is_outdated or self._frames) and not self._window.is_full:
            if self._is_outdated:
                await self._send_snapshot()
            else:
                await self._send_frame(self._frames.popleft())

    async def _send_frame(self, frame: Frame) -> None:
        if frame.is_unordered:
            await self.send_unordered(frame.text)
        elif self._position.includes(frame):
            return
        elif self._position.precedes(frame):
            await self._send(frame.text, StreamPosition(frame.revision, frame.turn_id, frame.seq))
        else:
            self._is_outdated = True

    async def _send_snapshot(self) -> None:
        # A frame that arrives while the snapshot is read follows it, is part of it, or causes another snapshot.
        self._frames.clear()
        self._is_outdated = False
        read = database_sync_to_async(read_update, thread_sensitive=False, executor=_snapshot_threads)
        try:
            page, text = await read(self._conversation_id, self._position.revision)
        except Conversation.DoesNotExist:
            await self.end(CLOSE_DELETED, DELETED)
            return
        live = page.live
        position = StreamPosition(page.revision, str(live.turn_id), live.seq) if live else StreamPosition(page.revision)
        await self._send(text, position)

    async def _send(self, text: str, position: StreamPosition) -> None:
        """Send a message, unless it is empty. The position of the page changes only if sending succeeds."""
        if text:
            if await self._is_closed_as_too_slow():
                return
            self._window.add(position.turn_id, position.seq, len(text.encode()))
            await self._socket.send_text(text)
        self._position = position

    async def _is_closed_as_too_slow(self) -> bool:
        """Close the socket of a client that has stopped acknowledging; return whether it is one."""
        if self._window.is_client_stalled:
            await self._socket.close(CLOSE_TOO_SLOW)
        return self._window.is_client_stalled


def read_update(conversation_id: uuid.UUID, known_revision: int | None) -> tuple[Snapshot, str]:
    """Return a snapshot, and the socket message that brings a page of the known revision up to it.

    The message replaces the live answer if that is all that changed, else the whole transcript. Raises
    Conversation.DoesNotExist.
    """
    page = snapshot(conversation_id, known_revision=known_revision)
    if page.revision != known_revision:
        content = partial("transcript", "innerMorph", transcript_html(page.messages))
        content += header_swaps(Conversation.objects.get(pk=conversation_id), conversation_usage(conversation_id))
    elif page.live:
        content = partial(f"message-{page.live.message_id}", "outerMorph", message_html(page.messages[0]))
    else:
        return page, ""
    if page.live:
        return page, socket_message(content, turn=str(page.live.turn_id), seq=page.live.seq)
    return page, socket_message(content, turn="", seq=0)
