"""Frames between processes: two ends of one layer over a real Redis, in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from channels.layers import get_channel_layer
from pytest_django import Settings

from bench.growth import running_redis
from chat.turns import crossing
from chat.turns.crossing import Crossing, Message


class Process:
    """One end, and what came to it."""

    def __init__(self, *followed: str) -> None:
        self.followed = set(followed)
        self.taken: list[Message] = []
        self.end = Crossing(self.taken.append, lambda: self.followed)
        self.end.note_followed()

    def post(self, conversation_id: str, text: str) -> None:
        self.end.post(conversation_id, lambda: {"conversation": conversation_id, "text": text})

    @property
    def texts(self) -> list[str]:
        return [str(frame["text"]) for frame in self.taken]


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("redis")
    with running_redis(folder) as url:
        yield url


@pytest.fixture(autouse=True)
def layer(redis_url: str, settings: Settings) -> None:
    backend = "channels_redis.core.RedisChannelLayer"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [redis_url]}}}


async def reaches(sender: Process, receiver: Process, conversation_id: str) -> bool:
    """Whether a frame gets there, once both had time to hear of each other."""
    for attempt in range(60):
        sender.post(conversation_id, f"probe {attempt}")
        await asyncio.sleep(0.05)
        if receiver.taken:
            await asyncio.sleep(0.1)
            receiver.taken.clear()
            return True
    return False


async def end(process: Process) -> None:
    """End its tasks."""
    # One that comes as the layer has just sent a command is lost (see `crossing`): said again, until it is heard.
    while left := [task for task in process.end._tasks if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.2)


async def close(*processes: Process) -> None:
    """End their tasks, and the layer's connections of this event loop."""
    for process in processes:
        await end(process)
    await get_channel_layer().close_pools()


async def test_frames_go_in_order_to_the_processes_that_follow_and_to_no_other() -> None:
    here, there, elsewhere = Process("a", "b"), Process("a"), Process("b")
    assert await reaches(here, there, "a")
    assert await reaches(here, elsewhere, "b")
    for process in (here, there, elsewhere):
        process.taken.clear()
    for number in range(200):
        here.post("a", str(number))
    here.post("b", "other")
    await asyncio.sleep(0.3)
    assert there.texts == [str(number) for number in range(200)]
    assert elsewhere.texts == ["other"]
    assert here.texts == []
    await close(here, there, elsewhere)


async def test_process_hears_soon_of_what_is_followed_from_now_on() -> None:
    here, there = Process(), Process()
    assert not here.taken
    there.followed.add("late")
    there.end.note_followed()
    assert await reaches(here, there, "late")
    there.followed.clear()
    there.end.note_followed()
    await asyncio.sleep(0.2)
    there.taken.clear()
    here.post("late", "gone")
    await asyncio.sleep(0.2)
    assert there.texts == []
    await close(here, there)


async def test_process_that_has_ended_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossing, "TELL_EVERY_S", 0.05)
    monkeypatch.setattr(crossing, "FORGET_AFTER_S", 0.3)
    here, there = Process(), Process("a")
    assert await reaches(here, there, "a")
    await end(there)
    made: list[str] = []

    def frame() -> Message:
        made.append("")
        return {}

    # Looked at again and again: on a busy machine nothing happens for a while.
    async with asyncio.timeout(20):
        while True:
            await asyncio.sleep(0.1)
            made.clear()
            here.end.post("a", frame)
            if not made:
                break
    await close(here, there)
