"""Frames between server processes, by the channel layer; one sender and one receiver for each event loop.

Each process tells all others which conversations are followed in it: soon after that changes, and every few seconds. A
frame goes to those processes alone whose sockets want it, which is mostly none, and what goes to one of them within a
moment is one message.

Nothing relies on it: while the layer is away, or drops frames, or a process has not been heard of yet, pages of other
processes read snapshots instead (see `watch`). Its failures end here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

PROCESSES = "processes"
"""The layer's group of all processes."""

GATHER_S = 0.01
"""How long a message waits for more of the same kind."""
TELL_EVERY_S = 3.0
FORGET_AFTER_S = 4 * TELL_EVERY_S
"""A process that says nothing for so long has ended."""
JOIN_EVERY_S = 600.0
"""The layer forgets members of its groups after a day."""

OUTBOX_LIMIT = 1_000
SEND_LIMIT_S = 2.0
RETRY_PAUSE_S = 1.0

Message = dict[str, Any]


def is_configured() -> bool:
    """Whether a channel layer that reaches other processes is set up."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


@dataclass(slots=True)
class Neighbour:
    """Another process."""

    followed: frozenset[str]
    """Conversations that its sockets follow."""
    heard_at: float
    """On this event loop's clock."""


class Crossing:
    """This process's end of the channel layer, for one event loop."""

    def __init__(self, take: Callable[[Message], None], followed: Callable[[], Iterable[str]]) -> None:
        """`take` gets each frame that comes; `followed` names the conversations whose frames are wanted here."""
        self._take = take
        self._followed = followed
        self._channel = ""
        self._neighbours: dict[str, Neighbour] = {}
        """By the name of their channel."""
        self._outboxes: defaultdict[str, list[Message]] = defaultdict(list)
        self._has_frames = asyncio.Event()
        self._has_changes = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def post(self, conversation_id: str, frame: Callable[[], Message]) -> None:
        """Send what `frame` makes to the processes where the conversation is followed, without waiting."""
        self._ensure_running()
        followed_in = [name for name, one in self._neighbours.items() if conversation_id in one.followed]
        message = frame() if followed_in else {}
        for channel in followed_in:
            if len(self._outboxes[channel]) < OUTBOX_LIMIT:
                self._outboxes[channel].append(message)
                self._has_frames.set()
            else:
                logger.warning("the channel layer is too slow; another process will read snapshots instead of frames")

    def note_followed(self) -> None:
        """What is followed in this process has changed."""
        self._ensure_running()
        self._has_changes.set()

    def _ensure_running(self) -> None:
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._tasks = [loop.create_task(self._send()), loop.create_task(self._attend())]

    async def _send(self) -> None:
        while True:
            await self._has_frames.wait()
            await asyncio.sleep(GATHER_S)
            self._has_frames.clear()
            outboxes, self._outboxes = self._outboxes, defaultdict(list)
            await asyncio.gather(*(self._send_to(channel, frames) for channel, frames in outboxes.items()))

    async def _send_to(self, channel: str, frames: list[Message]) -> None:
        try:
            async with asyncio.timeout(SEND_LIMIT_S):
                await get_channel_layer().send(channel, {"type": "frames", "frames": frames})
        except Exception:
            # Any failure of any layer means the same: there a snapshot is read.
            logger.warning("the channel layer did not take frames", exc_info=True)

    async def _attend(self) -> None:
        while True:
            try:
                await self._be_there()
            except Exception:
                logger.warning("the channel layer cannot be followed", exc_info=True)
                await asyncio.sleep(RETRY_PAUSE_S)

    async def _be_there(self) -> None:
        """Tell and listen, on a channel of our own, until the layer fails."""
        self._channel = await get_channel_layer().new_channel()
        both = [asyncio.create_task(self._tell()), asyncio.create_task(self._listen())]
        try:
            # Not a task group, which says a cancellation once and then waits: see `_is_cancelled`.
            await asyncio.gather(*both)
        finally:
            for task in both:
                task.cancel()

    async def _listen(self) -> None:
        layer = get_channel_layer()
        while not _is_cancelled():
            self._receive(await layer.receive(self._channel))

    async def _tell(self) -> None:
        """Say again and again what is followed here."""
        layer, loop = get_channel_layer(), asyncio.get_running_loop()
        join_at = 0.0
        while not _is_cancelled():
            if loop.time() >= join_at:
                await layer.group_add(PROCESSES, self._channel)
                join_at = loop.time() + JOIN_EVERY_S
            self._has_changes.clear()
            told = {"type": "followed", "channel": self._channel, "conversations": list(self._followed())}
            await layer.group_send(PROCESSES, told)
            self._forget_silent()
            try:
                async with asyncio.timeout(TELL_EVERY_S):
                    await self._has_changes.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(GATHER_S)

    def _receive(self, message: Message) -> None:
        if message["type"] == "frames":
            for frame in message["frames"]:
                self._take(frame)
        elif message["channel"] != self._channel:
            if message["channel"] not in self._neighbours:
                # It has just come, and has not heard of us.
                self._has_changes.set()
            now = asyncio.get_running_loop().time()
            self._neighbours[message["channel"]] = Neighbour(frozenset(message["conversations"]), now)

    def _forget_silent(self) -> None:
        oldest = asyncio.get_running_loop().time() - FORGET_AFTER_S
        self._neighbours = {name: one for name, one in self._neighbours.items() if one.heard_at >= oldest}


def _is_cancelled() -> bool:
    """Whether this task was cancelled and that was lost on the way.

    Before Python 3.12 `asyncio.wait_for`, by which the Redis client sends each command, swallows a cancellation that
    comes as the command has just been sent; whoever cancelled the task would wait for its end for ever.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
