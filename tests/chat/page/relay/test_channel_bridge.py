"""Frames between processes: bridges that share one channel layer over a real Redis, in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from channels.layers import get_channel_layer
from pytest_django import Settings

from chat.page.relay import channel_bridge
from chat.page.relay.channel_bridge import ChannelBridge, FrameData
from tests.drills.services import Redis
from tests.polling import wait_until_async
from tests.ports import free_port

WAIT_LIMIT_S = 60.0
POLL_S = 0.02


class Process:
    """One bridge, and the frames that it has received."""

    def __init__(self, *followed: str) -> None:
        self.followed = set(followed)
        self.received: list[str] = []
        self.bridge = ChannelBridge(self._receive, self.followed)
        self.bridge.announce_soon("")
        self._has_frame = asyncio.Event()

    def _receive(self, frame: FrameData) -> None:
        self.received.append(frame["text"])
        self._has_frame.set()

    def follow(self, conversation_id: str) -> None:
        self.followed.add(conversation_id)
        self.bridge.announce_soon(conversation_id)

    def unfollow(self, conversation_id: str) -> None:
        self.followed.remove(conversation_id)
        self.bridge.announce_soon(conversation_id)

    def post(self, conversation_id: str, text: str) -> bool:
        """Post a frame; return whether it was queued for another process."""
        frames: list[FrameData] = []

        def make() -> FrameData:
            frames.append({"conversation": conversation_id, "text": text})
            return frames[0]

        self.bridge.post(conversation_id, make)
        return bool(frames)

    async def post_once_followed(self, conversation_id: str, text: str) -> None:
        """Post a frame as soon as another process has announced that it follows the conversation."""
        await wait_until_async(lambda: self.post(conversation_id, text))

    async def wait_until_not_followed(self, conversation_id: str) -> None:
        """Wait until this process knows that no other one follows the conversation."""
        await wait_until_async(lambda: not self.post(conversation_id, "probe"))

    async def receive_until(self, text: str) -> list[str]:
        """Return all frames up to this one."""
        async with asyncio.timeout(WAIT_LIMIT_S):
            while text not in self.received:
                self._has_frame.clear()
                await self._has_frame.wait()
        return self.received[: self.received.index(text) + 1]

    async def end(self) -> None:
        """End the tasks. The Redis client may swallow a cancellation (see `channel_bridge`), so it is repeated."""
        while tasks := [task for task in self.bridge._tasks if not task.done()]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=0.2)


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    redis = Redis(tmp_path_factory.mktemp("redis"), free_port())
    redis.start()
    yield redis.url
    redis.stop()


@pytest.fixture(autouse=True)
async def _layer(redis_url: str, settings: Settings) -> AsyncIterator[None]:
    backend = "channels_redis.core.RedisChannelLayer"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [redis_url]}}}
    yield
    await get_channel_layer().close_pools()


async def test_frames_go_in_order_to_the_processes_that_follow_their_conversation() -> None:
    sender, one, other = Process("a", "b"), Process("a", "end"), Process("b", "end")
    await sender.post_once_followed("a", "first of a")
    await sender.post_once_followed("b", "first of b")
    await sender.post_once_followed("end", "both are known")
    await one.receive_until("both are known")
    await other.receive_until("both are known")
    numbers = [str(number) for number in range(200)]
    for number in numbers:
        sender.post("a", number)
    sender.post("b", "other")
    sender.post("end", "end")
    assert await one.receive_until("end") == ["first of a", "both are known", *numbers, "end"]
    assert await other.receive_until("end") == ["first of b", "both are known", "other", "end"]
    assert sender.received == []
    for process in (sender, one, other):
        await process.end()


async def test_process_announces_when_it_follows_a_conversation_or_stops_following_it() -> None:
    sender, receiver = Process(), Process()
    receiver.follow("late")
    await sender.post_once_followed("late", "hello")
    assert await receiver.receive_until("hello") == ["hello"]
    receiver.unfollow("late")
    await sender.wait_until_not_followed("late")
    await sender.end()
    await receiver.end()


async def test_frames_are_no_longer_sent_to_a_process_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_bridge, "ANNOUNCE_INTERVAL_S", 0.05)
    monkeypatch.setattr(channel_bridge, "FORGET_AFTER_S", 0.3)
    sender, receiver = Process(), Process("a")
    await sender.post_once_followed("a", "hello")
    await receiver.end()
    await sender.wait_until_not_followed("a")
    await sender.end()
