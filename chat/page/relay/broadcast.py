"""Delivers frames to all subscribers of a conversation: directly in this process, and by the channel layer in others.

Frames may be lost, because the layer drops them or a reader is slow. Each step names the one that it follows (`after`),
so that a reader who has missed one notices the gap and reads a snapshot.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import uuid
from collections import defaultdict
from typing import Protocol, runtime_checkable

from chat.page.relay.channel_bridge import ChannelBridge, FrameData, is_configured
from chat.page.relay.frames import Frame, frame_from_json, frame_to_json

PROCESS = f"{os.getpid()}-{secrets.token_hex(4)}"
"""Name of this process, unique among all processes that serve the same database."""


class Subscriber(Protocol):
    """A reader of a conversation's frames."""

    def deliver(self, frame: Frame) -> None:
        """Take a frame, without waiting."""
        ...


@runtime_checkable
class Movable(Protocol):
    """A subscriber whose connection is closed some time before its process ends."""

    async def move(self) -> None:
        """End the connection. The client then connects again, to another process if there is one."""
        ...


_subscribers: dict[str, set[Subscriber]] = defaultdict(set)
_bridges: dict[asyncio.AbstractEventLoop, ChannelBridge] = {}


def subscribe(conversation_id: uuid.UUID | str, subscriber: Subscriber) -> None:
    """Deliver a conversation's frames to a subscriber from now on."""
    key = str(conversation_id)
    is_first = key not in _subscribers
    _subscribers[key].add(subscriber)
    if is_first and is_configured():
        _bridge().announce_soon(key)


def unsubscribe(conversation_id: uuid.UUID | str, subscriber: Subscriber) -> None:
    """Stop delivering frames to a subscriber. A second call is harmless."""
    key = str(conversation_id)
    _subscribers[key].discard(subscriber)
    if not _subscribers[key]:
        del _subscribers[key]
        if is_configured():
            _bridge().announce_soon(key)


def followed_conversations() -> list[str]:
    """Return the conversations that have subscribers in this process."""
    return list(_subscribers)


def subscribers(conversation_id: str) -> list[Subscriber]:
    """Return the subscribers of a conversation in this process."""
    return list(_subscribers.get(conversation_id, ()))


def all_subscribers() -> list[tuple[str, Subscriber]]:
    """Return all subscribers in this process, each with its conversation."""
    return [(key, subscriber) for key, following in _subscribers.items() for subscriber in following]


def publish(frame: Frame) -> None:
    """Deliver a frame to this process's subscribers, and pass it on to other processes. Never waits and never fails."""
    _deliver(frame)
    if is_configured():
        _bridge().post(frame.conversation_id, lambda: frame_to_json(frame))


def _deliver(frame: Frame) -> None:
    for subscriber in subscribers(frame.conversation_id):
        subscriber.deliver(frame)


def _deliver_data(data: FrameData) -> None:
    # A frame of another version of Plotline may be unreadable. The pages that miss it read a snapshot.
    if frame := frame_from_json(data):
        _deliver(frame)


def _bridge() -> ChannelBridge:
    loop = asyncio.get_running_loop()
    if loop not in _bridges:
        _bridges[loop] = ChannelBridge(_deliver_data, _subscribers.keys())
    return _bridges[loop]
