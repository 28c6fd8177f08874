"""Frames to whoever looks at a conversation: sockets of this process directly, others by the channel layer.

Nothing here is relied on: each frame says what it follows (`after`), so that a reader who missed one, whether the
layer dropped it or the reader was slow, sees the gap and reads a snapshot instead.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import uuid
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

PROCESS = f"{os.getpid()}-{secrets.token_hex(4)}"
"""Names this process among all that serve the same database."""

OUTBOX_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a conversation's page."""

    conversation_id: str
    revision: int
    """Of the conversation's shape once this frame is applied."""
    turn_id: str
    after: int
    """The seq that it follows; -1 begins a turn, and needs the revision just before this one."""
    seq: int
    text: str
    """The socket message; empty: there is something new, and only a snapshot tells what."""


class Subscriber(Protocol):
    """Whoever follows a conversation."""

    def deliver(self, frame: Frame) -> None:
        """Take a frame without waiting."""
        ...


_local: dict[str, set[Subscriber]] = defaultdict(set)
_outboxes: dict[asyncio.AbstractEventLoop, asyncio.Queue[Frame]] = {}
_senders: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}


def group_name(conversation_id: uuid.UUID | str) -> str:
    """The channel layer's group of a conversation."""
    return f"conversation.{conversation_id}"


def subscribe(conversation_id: uuid.UUID | str, subscriber: Subscriber) -> None:
    """Deliver a conversation's frames from now on."""
    _local[str(conversation_id)].add(subscriber)


def unsubscribe(conversation_id: uuid.UUID | str, subscriber: Subscriber) -> None:
    """Stop delivering."""
    key = str(conversation_id)
    _local[key].discard(subscriber)
    if not _local[key]:
        del _local[key]


def followed() -> list[str]:
    """Conversations that someone in this process follows."""
    return list(_local)


def followers(conversation_id: str) -> list[Subscriber]:
    """Who follows a conversation in this process."""
    return list(_local.get(conversation_id, ()))


def crosses_processes() -> bool:
    """Whether a channel layer that reaches other processes is configured."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


def publish(frame: Frame) -> None:
    """Hand a frame to this process's sockets, and to the others' by the layer; never waits, never fails."""
    for subscriber in followers(frame.conversation_id):
        subscriber.deliver(frame)
    if crosses_processes():
        _post(frame)


def deliver_remote(message: dict[str, Any], subscriber: Subscriber) -> None:
    """A frame that came by the layer, for one socket; this process's own have been delivered already."""
    if message["process"] != PROCESS:
        subscriber.deliver(Frame(**message["frame"]))


def _post(frame: Frame) -> None:
    loop = asyncio.get_running_loop()
    outbox = _outboxes.setdefault(loop, asyncio.Queue(OUTBOX_LIMIT))
    sender = _senders.get(loop)
    if sender is None or sender.done():
        _senders[loop] = loop.create_task(_send(outbox))
    try:
        outbox.put_nowait(frame)
    except asyncio.QueueFull:
        logger.warning("the channel layer is too slow; other processes will read a snapshot instead of frames")


async def _send(outbox: asyncio.Queue[Frame]) -> None:
    layer = get_channel_layer()
    while True:
        frame = await outbox.get()
        message = {"type": "conversation.frame", "process": PROCESS, "frame": asdict(frame)}
        try:
            await layer.group_send(group_name(frame.conversation_id), message)
        except Exception:  # any failure of any layer means the same: others read a snapshot
            logger.warning("the channel layer did not take a frame", exc_info=True)
