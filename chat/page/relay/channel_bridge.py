"""Carries frames between server processes by the channel layer, with one sender and one receiver for each event loop.

Each process announces which conversations are followed in it. An announcement holds only what has changed since the
previous one, and a number. A process that does not know another one, or has missed an announcement, asks it for all of
its conversations. So the traffic grows linearly with the number of open pages, and the layer stores no list of them. A
frame is sent only to processes that follow its conversation. Frames for one process are combined into one message.

Frames may be lost while the layer is unavailable, when it drops messages, or before a process is announced. Pages
of other processes then read snapshots (see `position_polling`). Failures of the layer are not raised. They are logged
once when the layer becomes unavailable, and once when it is back.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from channels.exceptions import ChannelFull
from channels.layers import InMemoryChannelLayer, get_channel_layer

from chat.vocabulary.outage_log import Outage

logger = logging.getLogger(__name__)

PROCESSES = "processes"
"""Name of the layer's group that contains all processes."""

GATHER_S = 0.01
"""How long a message waits for others that can be sent with it."""
ANNOUNCE_INTERVAL_S = 3.0
FORGET_AFTER_S = 4 * ANNOUNCE_INTERVAL_S
"""A process that has announced nothing for this time is considered dead."""
ASK_INTERVAL_S = 1.0
JOIN_INTERVAL_S = 15.0
"""How often a process joins the group again, because the layer removes it after `group_expiry`, as if it was killed."""

OUTBOX_LIMIT = 1_000
SEND_LIMIT_S = 2.0
RETRY_PAUSE_S = 1.0

FrameData: TypeAlias = Mapping[str, Any]
"""A frame as JSON."""
LayerMessage: TypeAlias = Mapping[str, Any]
"""A message of the channel layer. `channel` names the sender.

- `{"type": "frames", "frames"}`
- `{"type": "followed", "channel", "number", "added", "removed"}`: what has changed since the announcement before
- `{"type": "ask", "channel"}`: the receiver is asked for all of its conversations
- `{"type": "all", "channel", "number", "added"}`: all conversations, as of the announcement with this number
"""


def is_configured() -> bool:
    """Return whether the configured channel layer reaches other processes."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


@dataclass(slots=True)
class OtherProcess:
    """A process that has announced what it follows."""

    conversations: set[str]
    number: int
    """The number of the last announcement of the process."""
    announced_at: float
    """The time of the last announcement, in seconds on the clock of this event loop."""


class ChannelBridge:
    """One event loop's connection to the channel layer."""

    def __init__(self, deliver: Callable[[FrameData], None], followed: Collection[str]) -> None:
        """`deliver`: takes each frame that arrives.

        `followed`: the conversations whose frames are wanted here; the caller keeps it up to date.
        """
        self._deliver = deliver
        self._followed = followed
        self._channel = ""
        self._number = 0
        """The number of the last announcement on this channel."""
        self._changed: set[str] = set()
        """Conversations that were followed or left in this process since the last announcement."""
        self._asked_by: set[str] = set()
        """Channels of processes that have asked for all conversations."""
        self._unknown: set[str] = set()
        """Channels of processes to ask for all of their conversations."""
        self._asked_at: dict[str, float] = {}
        """Channel of a process that was asked and has not answered -> when it was asked."""
        self._others: dict[str, OtherProcess] = {}
        """Other processes by the name of their channel."""
        self._outboxes: defaultdict[str, list[FrameData]] = defaultdict(list)
        self._outage = Outage("the channel layer", "pages read the database until it is back")
        self._has_frames = asyncio.Event()
        self._has_changes = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def post(self, conversation_id: str, frame: Callable[[], FrameData]) -> None:
        """Queue a frame for the processes that follow its conversation. `frame`: called only if needed."""
        self._ensure_running()
        channels = [name for name, other in self._others.items() if conversation_id in other.conversations]
        data = frame() if channels else {}
        for channel in channels:
            if len(self._outboxes[channel]) < OUTBOX_LIMIT:
                self._outboxes[channel].append(data)
                self._has_frames.set()
            else:
                self._drop_slow(channel)

    def announce_soon(self, conversation_id: str) -> None:
        """Announce that this conversation is followed in this process now, or not any more."""
        self._ensure_running()
        self._changed.add(conversation_id)
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
        except ChannelFull:
            self._drop_slow(channel)
        except Exception as error:  # noqa: BLE001 - any failure of any layer has the same effect, and is logged once
            self._note_failure(error)

    def _drop_slow(self, channel: str) -> None:
        """Send nothing more to a process that receives too slowly, until it announces its conversations again."""
        if self._others.pop(channel, None):
            self._outboxes.pop(channel, None)
            logger.warning("another process receives too slowly, or was killed; its pages read the database")

    # --- the connection -------------------------------------------------------------------------------------------

    async def _stay_connected(self) -> None:
        while True:
            try:
                await self._connect()
            except Exception as error:  # noqa: BLE001 - as above
                self._note_failure(error)
                await asyncio.sleep(RETRY_PAUSE_S)

    def _note_failure(self, error: Exception) -> None:
        """Post no more frames until the layer is back. Pages of other processes read the database meanwhile."""
        self._others.clear()
        self._outboxes.clear()
        self._outage.note_failure(error)

    async def _connect(self) -> None:
        """Open a new channel, and send announcements and receive messages until the layer fails."""
        self._channel = await get_channel_layer().new_channel()
        tasks = [asyncio.create_task(self._announce()), asyncio.create_task(self._receive_messages())]
        try:
            # No task group is used, because it cancels its tasks only once and then waits for them (see
            # `_is_cancelled`).
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _receive_messages(self) -> None:
        layer = get_channel_layer()
        while not _is_cancelled():
            self._receive(await layer.receive(self._channel))

    # --- announcements --------------------------------------------------------------------------------------------

    async def _announce(self) -> None:
        """Announce changes soon after they happen, and send an empty announcement every few seconds."""
        layer, loop = get_channel_layer(), asyncio.get_running_loop()
        join_at = 0.0
        # Other processes do not know this channel, so they ask for all conversations.
        self._number = 0
        self._changed.clear()
        while not _is_cancelled():
            async with asyncio.timeout(SEND_LIMIT_S):
                if loop.time() >= join_at:
                    await layer.group_add(PROCESSES, self._channel)
                    join_at = loop.time() + JOIN_INTERVAL_S
                self._has_changes.clear()
                await layer.group_send(PROCESSES, self._next_announcement())
                await self._ask_and_answer()
            self._outage.note_success()
            self._forget_silent()
            try:
                async with asyncio.timeout(ANNOUNCE_INTERVAL_S):
                    await self._has_changes.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(GATHER_S)

    def _next_announcement(self) -> dict[str, object]:
        changed, self._changed = self._changed, set()
        added = [conversation_id for conversation_id in changed if conversation_id in self._followed]
        removed = [conversation_id for conversation_id in changed if conversation_id not in self._followed]
        self._number += 1
        return {
            "type": "followed",
            "channel": self._channel,
            "number": self._number,
            "added": added,
            "removed": removed,
        }

    async def _ask_and_answer(self) -> None:
        """Ask unknown processes for their conversations, and answer those that have asked."""
        while self._unknown:
            await self._send(self._unknown.pop(), {"type": "ask", "channel": self._channel})
        if self._asked_by:
            # The number is that of the last announcement. The next one repeats changes since then, which does no harm.
            everything = {"channel": self._channel, "number": self._number, "added": list(self._followed)}
            while self._asked_by:
                await self._send(self._asked_by.pop(), {"type": "all", **everything})

    async def _send(self, channel: str, message: LayerMessage) -> None:
        """Send a message that may be lost: a process that needs it asks again."""
        try:
            await get_channel_layer().send(channel, message)
        except ChannelFull:
            self._drop_slow(channel)

    def _receive(self, message: LayerMessage) -> None:
        kind = message["type"]
        if kind == "frames":
            for frame in message["frames"]:
                self._deliver(frame)
            return
        sender = message["channel"]
        if sender == self._channel:
            return
        now = asyncio.get_running_loop().time()
        if kind == "ask":
            self._asked_by.add(sender)
            self._has_changes.set()
        elif kind == "all":
            self._asked_at.pop(sender, None)
            self._others[sender] = OtherProcess(set(message["added"]), message["number"], now)
        elif not self._apply(sender, message) and now - self._asked_at.get(sender, -ASK_INTERVAL_S) >= ASK_INTERVAL_S:
            self._asked_at[sender] = now
            self._unknown.add(sender)
            self._has_changes.set()

    def _apply(self, sender: str, message: LayerMessage) -> bool:
        """Apply an announcement; return False if the one before it is not known."""
        other = self._others.get(sender)
        if other is None or message["number"] != other.number + 1:
            return False
        other.conversations.difference_update(message["removed"])
        other.conversations.update(message["added"])
        other.number, other.announced_at = message["number"], asyncio.get_running_loop().time()
        return True

    def _forget_silent(self) -> None:
        oldest = asyncio.get_running_loop().time() - FORGET_AFTER_S
        self._others = {name: other for name, other in self._others.items() if other.announced_at >= oldest}
        self._asked_at = {name: asked_at for name, asked_at in self._asked_at.items() if asked_at >= oldest}


def _is_cancelled() -> bool:
    """Return whether this task was cancelled and the cancellation was lost.

    Before Python 3.12 `asyncio.wait_for`, with which the Redis client sends each command, swallows a cancellation that
    arrives just after the command was sent. The caller of `cancel` would wait for ever.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
