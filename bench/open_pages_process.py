"""One of two processes of the benchmark of open pages: follows conversations and publishes frames.

It reads commands from standard input, one JSON array in each line, and answers each with a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import redis
import uvloop
from channels.layers import get_channel_layer
from django.conf import settings
from django.test import override_settings

from chat.page.relay.channel_bridge import ChannelBridge

PUBLISH_INTERVAL_S = 0.04
"""The interval between two frames of a turn."""

FrameData = Mapping[str, str]


class Carrier(Protocol):
    """A way to carry frames to the processes that follow their conversation."""

    async def follow(self, conversation_id: str) -> None:
        """Receive the frames of a conversation from now on."""
        ...

    async def publish(self, conversation_id: str, frame: FrameData) -> None:
        """Send a frame to the other processes that follow its conversation."""
        ...


class BridgeCarrier:
    """Plotline's own way: `chat.page.relay.channel_bridge`."""

    def __init__(self, deliver: Callable[[FrameData], None]) -> None:
        """`deliver`: takes each frame that arrives."""
        self._followed: set[str] = set()
        self._bridge = ChannelBridge(deliver, self._followed)

    async def follow(self, conversation_id: str) -> None:
        """Receive the frames of a conversation from now on."""
        self._followed.add(conversation_id)
        self._bridge.announce_soon(conversation_id)

    async def publish(self, conversation_id: str, frame: FrameData) -> None:
        """Send a frame to the other process."""
        self._bridge.post(conversation_id, lambda: frame)


class GroupCarrier:
    """Groups of the channel layer: one for each conversation, whose members are processes."""

    def __init__(self, deliver: Callable[[FrameData], None]) -> None:
        """`deliver`: takes each frame that arrives."""
        self._deliver = deliver
        self._channel = ""

    async def follow(self, conversation_id: str) -> None:
        """Receive the frames of a conversation from now on."""
        layer = get_channel_layer()
        if not self._channel:
            self._channel = await layer.new_channel()
            self._task = asyncio.create_task(self._receive())
        await layer.group_add(conversation_id, self._channel)

    async def publish(self, conversation_id: str, frame: FrameData) -> None:
        """Send a frame to the other process."""
        await get_channel_layer().group_send(conversation_id, {"type": "frame", "frame": frame})

    async def _receive(self) -> None:
        while True:
            try:
                message = await get_channel_layer().receive(self._channel)
            except redis.TimeoutError:
                # redis-py gives up a silent connection just when the layer's own wait ends.
                continue
            self._deliver(message["frame"])


CORE = "channels_redis.core.RedisChannelLayer"
CARRIERS: dict[str, tuple[type[BridgeCarrier | GroupCarrier], str]] = {
    "bridge": (BridgeCarrier, CORE),
    "groups": (GroupCarrier, CORE),
    "pubsub-groups": (GroupCarrier, "channels_redis.pubsub.RedisPubSubChannelLayer"),
}
"""Carriers with their channel layer, by name."""


class Process:
    """Runs the commands."""

    def __init__(self, carrier: str) -> None:
        self._delays_ms: list[float] = []
        self._carrier: Carrier = CARRIERS[carrier][0](self._note)

    def _note(self, frame: FrameData) -> None:
        self._delays_ms.append((time.time() - float(frame["sent_at"])) * 1000)

    async def follow(self, conversation_ids: Sequence[str], rate: float) -> None:
        """Follow conversations, so many a second."""
        began_at = time.monotonic()
        for number, conversation_id in enumerate(conversation_ids):
            await self._carrier.follow(conversation_id)
            await asyncio.sleep(max(0.0, began_at + number / rate - time.monotonic()))

    async def publish(self, conversation_ids: Sequence[str], count: int, text: str) -> None:
        """Publish so many frames of each conversation, at the rate of a turn."""

        async def publish_one(conversation_id: str) -> None:
            for _ in range(count):
                await self._carrier.publish(conversation_id, {"sent_at": str(time.time()), "text": text})
                await asyncio.sleep(PUBLISH_INTERVAL_S)

        await asyncio.gather(*(publish_one(conversation_id) for conversation_id in conversation_ids))

    async def report(self) -> Mapping[str, object]:
        """Return the CPU time of this process, and the delays of the frames since the last report."""
        delays_ms, self._delays_ms = sorted(self._delays_ms), []
        return {"cpu_s": time.process_time(), "delays_ms": delays_ms}


async def _serve(carrier: str) -> None:
    process, loop = Process(carrier), asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        name, *arguments = json.loads(line)
        result = await getattr(process, name)(*arguments)
        print(json.dumps(result), flush=True)


def main(carrier: str, redis_url: str) -> None:
    """Serve until standard input ends."""
    groups = {"default": {"BACKEND": CARRIERS[carrier][1], "CONFIG": {"hosts": [redis_url]}}}
    # At the end of its capacity, the layer logs each message that it drops.
    logging.getLogger("channels_redis").setLevel(logging.WARNING)
    with override_settings(CHANNEL_LAYERS=settings.CHANNEL_LAYERS if carrier == "bridge" else groups):
        uvloop.run(_serve(carrier))
