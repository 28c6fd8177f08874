"""Carries frames between server processes by the channel layer, with one sender and one receiver for each event loop.

Each process announces which conversations are followed in it: soon after that changes, and every few seconds. A frame
is sent only to processes that follow its conversation. Frames for one process are combined into one message.

Frames may be lost while the layer is unavailable, when it drops messages, or before a process is announced. Pages
of other processes then read snapshots (see `socket_revalidation`). Failures of the layer are logged here and not
raised.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

PROCESSES = "processes"
"""The layer's group of all processes."""

GATHER_S = 0.01
"""How long a message waits for more of the same kind."""
ANNOUNCE_INTERVAL_S = 3.0
FORGET_AFTER_S = 4 * ANNOUNCE_INTERVAL_S
"""A process that has announced nothing for this time is considered dead."""
JOIN_INTERVAL_S = 600.0
"""The layer forgets members of its groups after a day."""

OUTBOX_LIMIT = 1_000
SEND_LIMIT_S = 2.0
RETRY_PAUSE_S = 1.0

FrameData: TypeAlias = Mapping[str, Any]
"""A frame as JSON."""
LayerMessage: TypeAlias = Mapping[str, Any]
"""What the channel layer carries: `{"type": "frames", ...}` or `{"type": "followed", ...}`."""


def is_configured() -> bool:
    """Return whether a channel layer is set up that reaches other processes."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


@dataclass(slots=True)
class OtherProcess:
    """A process that has announced what it follows."""

    conversations: frozenset[str]
    announced_at: float
    """On this event loop's clock."""


class ChannelBridge:
    """One event loop's connection to the channel layer."""

    def __init__(self, deliver: Callable[[FrameData], None], followed: Callable[[], Iterable[str]]) -> None:
        """`deliver`: takes each frame that arrives.

        `followed`: returns the conversations whose frames are wanted here.
        """
        self._deliver = deliver
        self._followed = followed
        self._channel = ""
        self._others: dict[str, OtherProcess] = {}
        """Other processes by the name of their channel."""
        self._outboxes: defaultdict[str, list[FrameData]] = defaultdict(list)
        self._has_frames = asyncio.Event()
        self._has_changes = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def post(self, conversation_id: str, frame: Callable[[], FrameData]) -> None:
        """Queue a frame for the processes that follow its conversation. `frame` is called only if there is one."""
        self._ensure_running()
        channels = [name for name, other in self._others.items() if conversation_id in other.conversations]
        data = frame() if channels else {}
        for channel in channels:
            if len(self._outboxes[channel]) < OUTBOX_LIMIT:
                self._outboxes[channel].append(data)
                self._has_frames.set()
            else:
                logger.warning("the channel layer is too slow; another process will read snapshots instead of frames")

    def announce_soon(self) -> None:
        """Announce that other conversations are followed in this process now."""
        self._ensure_running()
        self._has_changes.set()

    def _ensure_running(self) -> None:
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._tasks = [loop.create_task(self._send_frames()), loop.create_task(self._stay_connected())]

    async def _send_frames(self) -> None:
        while True:
            await self._has_frames.wait()
            await asyncio.sleep(GATHER_S)
            self._has_frames.clear()
            outboxes, self._outboxes = self._outboxes, defaultdict(list)
            await asyncio.gather(*(self._send_to(channel, frames) for channel, frames in outboxes.items()))

    async def _send_to(self, channel: str, frames: list[FrameData]) -> None:
        try:
            async with asyncio.timeout(SEND_LIMIT_S):
                await get_channel_layer().send(channel, {"type": "frames", "frames": frames})
        except Exception:
            # Any failure of any layer has the same effect: the other process reads a snapshot.
            logger.warning("the channel layer did not accept frames", exc_info=True)

    async def _stay_connected(self) -> None:
        while True:
            try:
                await self._connect()
            except Exception:
                logger.warning("the channel layer cannot be reached", exc_info=True)
                await asyncio.sleep(RETRY_PAUSE_S)

    async def _connect(self) -> None:
        """Announce and receive, on a new channel, until the layer fails."""
        self._channel = await get_channel_layer().new_channel()
        tasks = [asyncio.create_task(self._announce()), asyncio.create_task(self._receive_messages())]
        try:
            # Not a task group: it cancels its tasks once and then waits for them, see `_is_cancelled`.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _receive_messages(self) -> None:
        layer = get_channel_layer()
        while not _is_cancelled():
            self._receive(await layer.receive(self._channel))

    async def _announce(self) -> None:
        """Announce periodically which conversations are followed in this process."""
        layer, loop = get_channel_layer(), asyncio.get_running_loop()
        join_at = 0.0
        while not _is_cancelled():
            if loop.time() >= join_at:
                await layer.group_add(PROCESSES, self._channel)
                join_at = loop.time() + JOIN_INTERVAL_S
            self._has_changes.clear()
            announcement = {"type": "followed", "channel": self._channel, "conversations": list(self._followed())}
            await layer.group_send(PROCESSES, announcement)
            self._forget_silent()
            try:
                async with asyncio.timeout(ANNOUNCE_INTERVAL_S):
                    await self._has_changes.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(GATHER_S)

    def _receive(self, message: LayerMessage) -> None:
        if message["type"] == "frames":
            for frame in message["frames"]:
                self._deliver(frame)
        elif message["channel"] != self._channel:
            if message["channel"] not in self._others:
                # A new process does not know yet what is followed here.
                self._has_changes.set()
            now = asyncio.get_running_loop().time()
            self._others[message["channel"]] = OtherProcess(frozenset(message["conversations"]), now)

    def _forget_silent(self) -> None:
        oldest = asyncio.get_running_loop().time() - FORGET_AFTER_S
        self._others = {name: other for name, other in self._others.items() if other.announced_at >= oldest}


def _is_cancelled() -> bool:
    """Return whether this task was cancelled and the cancellation was lost.

    Before Python 3.12 `asyncio.wait_for`, with which the Redis client sends each command, swallows a cancellation that
    arrives just after the command was sent. The caller of `cancel` would wait for ever.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
