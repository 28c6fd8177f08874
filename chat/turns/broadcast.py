"""Frames to whoever looks at a conversation: sockets of this process directly, others by the channel layer.

Nothing here is relied on: each frame says what it follows (`after`), so that a reader who missed one, whether the
layer dropped it or the reader was slow, sees the gap and reads a snapshot instead.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import uuid
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Protocol

from chat.turns.crossing import Crossing, Message, is_configured

PROCESS = f"{os.getpid()}-{secrets.token_hex(4)}"
"""Names this process among all that serve the same database."""


ASIDE = -2


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
    """The socket message; empty: only says at which revision the conversation is."""

    @classmethod
    def aside(cls, conversation_id: uuid.UUID | str, text: str) -> Frame:
        """Beside the transcript: changes nobody's place, and may be lost."""
        return cls(str(conversation_id), -1, turn_id="", after=ASIDE, seq=0, text=text)

    @property
    def is_aside(self) -> bool:
        """Whether it is beside the transcript."""
        return self.after == ASIDE

    @classmethod
    def at_revision(cls, conversation_id: uuid.UUID | str, revision: int) -> Frame:
        """For readers that may have missed something: those at another revision read a snapshot."""
        return cls(str(conversation_id), revision, turn_id="", after=-1, seq=0, text="")

    @classmethod
    def unseen(cls, conversation_id: uuid.UUID | str) -> Frame:
        """There is something new that no frame can tell: every reader reads a snapshot."""
        return cls.at_revision(conversation_id, -1)


class Subscriber(Protocol):
    """Whoever follows a conversation."""

    def deliver(self, frame: Frame) -> None:
        """Take a frame without waiting."""
        ...


_local: dict[str, set[Subscriber]] = defaultdict(set)
_crossings: dict[asyncio.AbstractEventLoop, Crossing] = {}


def subscribe(conversation_id: uuid.UUID | str, subscriber: Subscriber) -> None:
    """Deliver a conversation's frames from now on."""
    _local[str(conversation_id)].add(subscriber)
    if is_configured():
        _crossing().note_followed()


def unsubscribe(conversation_id: uuid.UUID | str, subscriber: Subscriber) -> None:
    """Stop delivering; harmless to repeat."""
    key = str(conversation_id)
    _local[key].discard(subscriber)
    if not _local[key]:
        del _local[key]
    if is_configured():
        _crossing().note_followed()


def followed() -> list[str]:
    """Conversations that someone in this process follows."""
    return list(_local)


def followers(conversation_id: str) -> list[Subscriber]:
    """Who follows a conversation in this process."""
    return list(_local.get(conversation_id, ()))


def publish(frame: Frame) -> None:
    """Hand a frame to this process's sockets, and to the others' by the layer; never waits, never fails."""
    _deliver(frame)
    if is_configured():
        _crossing().post(frame.conversation_id, lambda: asdict(frame))


def _deliver(frame: Frame) -> None:
    for subscriber in followers(frame.conversation_id):
        subscriber.deliver(frame)


def _take(message: Message) -> None:
    _deliver(Frame(**message))


def _crossing() -> Crossing:
    loop = asyncio.get_running_loop()
    if loop not in _crossings:
        _crossings[loop] = Crossing(_take, followed)
    return _crossings[loop]
