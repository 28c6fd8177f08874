"""Frames between server processes, by the channel layer; one sender and one receiver for each event loop.

Nothing relies on it: while the layer is away, or drops frames, pages of other processes read snapshots instead (see
`watch`). Its failures end here.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

OUTBOX_LIMIT = 1_000
SEND_LIMIT_S = 2.0
RETRY_PAUSE_S = 1.0
JOIN_AGAIN_S = 600.0
"""The layer forgets members of its groups after a day."""

Message = dict[str, Any]


def is_configured() -> bool:
    """Whether a channel layer that reaches other processes is set up."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


def group_name(conversation_id: uuid.UUID | str) -> str:
    """The channel layer's group of a conversation."""
    return f"conversation.{conversation_id}"


class Crossing:
    """This process's end of the channel layer, for one event loop."""

    def __init__(self, take: Callable[[Message], None], followed: Callable[[], Iterable[str]]) -> None:
        """`take` gets each message that comes; `followed` names the conversations to receive."""
        self._take = take
        self._followed = followed
        self._outbox: asyncio.Queue[tuple[str, Message]] = asyncio.Queue(OUTBOX_LIMIT)
        self._changes = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def post(self, conversation_id: str, message: Message) -> None:
        """Send to the other processes, without waiting."""
        self._ensure_running()
        try:
            self._outbox.put_nowait((group_name(conversation_id), message))
        except asyncio.QueueFull:
            logger.warning("the channel layer is too slow; other processes will read snapshots instead of frames")

    def note_followed(self) -> None:
        """What is followed in this process has changed."""
        self._ensure_running()
        self._changes.set()

    def _ensure_running(self) -> None:
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._tasks = [loop.create_task(self._send()), loop.create_task(self._receive())]

    async def _send(self) -> None:
        layer = get_channel_layer()
        while True:
            group, message = await self._outbox.get()
            try:
                async with asyncio.timeout(SEND_LIMIT_S):
                    await layer.group_send(group, message)
            except Exception:
                # Any failure of any layer means the same: others read a snapshot.
                logger.warning("the channel layer did not take a frame", exc_info=True)

    async def _receive(self) -> None:
        while True:
            try:
                await self._follow()
            except Exception:
                logger.warning("the channel layer cannot be followed", exc_info=True)
                await asyncio.sleep(RETRY_PAUSE_S)

    async def _follow(self) -> None:
        """Receive on a channel of our own until the layer fails."""
        layer = get_channel_layer()
        channel = await layer.new_channel()
        joining = asyncio.get_running_loop().create_task(self._join(channel))
        try:
            while not joining.done():
                receiving = asyncio.ensure_future(layer.receive(channel))
                await asyncio.wait({receiving, joining}, return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    self._take(receiving.result())
                else:
                    receiving.cancel()
            joining.result()
        finally:
            joining.cancel()

    async def _join(self, channel: str) -> None:
        """Keep the channel in the groups of what is followed, and in no other."""
        layer = get_channel_layer()
        joined: set[str] = set()
        while True:
            self._changes.clear()
            wanted = {group_name(conversation_id) for conversation_id in self._followed()}
            for group in wanted - joined:
                await layer.group_add(group, channel)
            for group in joined - wanted:
                await layer.group_discard(group, channel)
            joined = wanted
            try:
                async with asyncio.timeout(JOIN_AGAIN_S):
                    await self._changes.wait()
            except TimeoutError:
                joined = set()
