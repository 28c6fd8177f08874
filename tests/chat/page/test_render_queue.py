"""The queue in which pages are rendered: the order of readers, and the place of a reader who disconnects."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory

from chat.models import User
from chat.page import queued_views
from chat.page.queued_views import RETRY_AFTER_S, TOO_MANY, queued
from chat.page.render_queue import Place, QueueIsFull, ReaderLeft, RenderQueue, check_reader

LIMIT_S = 60.0


class Readers:
    """Readers of a queue, each of whose requests notes when it is served."""

    def __init__(self, queue: RenderQueue) -> None:
        self.queue = queue
        self.served: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def ask(self, *names: str) -> None:
        """Request a place for each name, whose first letter is the reader, and let all requests run until they wait."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._hold(name))
        await self.settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self.tasks[name]
        await self.settle()

    async def leave(self, name: str) -> None:
        self.tasks[name].cancel()
        await asyncio.wait([self.tasks[name]])
        await self.settle()

    async def settle(self) -> None:
        """Let all callbacks run that are due: one iteration of the loop for each step of a request."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def _hold(self, name: str) -> None:
        async with self.queue.place(name[0]):
            self.served.append(name)
            await self._ends[name].wait()


@asynccontextmanager
async def readers(at_once: int, waiting: int = 10) -> AsyncGenerator[Readers, None]:
    people = Readers(RenderQueue(at_once, waiting))
    async with asyncio.timeout(LIMIT_S):
        yield people
        for task in people.tasks.values():
            task.cancel()


async def test_reader_has_at_most_one_rendering_at_a_time() -> None:
    async with readers(at_once=2) as people:
        await people.ask("a1", "a2", "a3", "b1")
        assert people.served == ["a1", "b1"]
        await people.end("b1")
        assert people.served == ["a1", "b1"]
        await people.end("a1")
        assert people.served == ["a1", "b1", "a2"]


async def test_waiting_readers_are_served_in_turn() -> None:
    async with readers(at_once=1) as people:
        await people.ask("a1", "a2", "a3", "b1", "b2", "c1")
        for _ in range(5):
            await people.end(people.served[-1])
        assert people.served == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_reader_who_leaves_makes_room_in_the_full_queue() -> None:
    async with readers(at_once=1, waiting=2) as people:
        await people.ask("a1", "a2", "a3")
        with pytest.raises(QueueIsFull):
            async with people.queue.place("a", is_refusable=True):
                pass
        await people.leave("a2")
        await people.ask("a4")
        await people.leave("a1")
        await people.end("a3")
        assert people.served == ["a1", "a3", "a4"]


async def test_rendering_thread_of_a_reader_who_left_blocks_the_queue_until_the_thread_ends() -> None:
    queue = RenderQueue(at_once=1, waiting_per_reader=1)
    has_begun, goes_on, has_ended = threading.Event(), threading.Event(), threading.Event()

    def render() -> None:
        try:
            has_begun.set()
            assert goes_on.wait(LIMIT_S)
            check_reader()
        finally:
            has_ended.set()

    async def read() -> None:
        async with queue.place("a") as place:
            await asyncio.to_thread(place.run, render)

    async with asyncio.timeout(LIMIT_S):
        first = asyncio.create_task(read())
        await asyncio.to_thread(has_begun.wait)
        first.cancel()
        await asyncio.wait([first])
        second = asyncio.create_task(anext(aiter_of(queue)))
        await asyncio.sleep(0)
        assert not second.done()
        goes_on.set()
        await asyncio.to_thread(has_ended.wait)
        await second


async def aiter_of(queue: RenderQueue) -> AsyncGenerator[Place, None]:
    async with queue.place("a") as place:
        yield place


async def test_thread_renders_nothing_for_a_reader_who_left_before_it_began() -> None:
    queue = RenderQueue(at_once=1, waiting_per_reader=1)
    async with queue.place("a") as place:
        place.leave()
        with pytest.raises(ReaderLeft):
            place.run(check_reader)
    async with asyncio.timeout(LIMIT_S), queue.place("a") as next_place:
        next_place.run(check_reader)


async def test_response_says_when_to_retry_if_the_queue_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = RenderQueue(at_once=1, waiting_per_reader=1)
    monkeypatch.setattr(queued_views, "PEOPLE", queue)
    request = AsyncRequestFactory().get("/s/token/")
    request.user = User(pk=7)

    @queued
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("rendered")

    async with asyncio.timeout(LIMIT_S):
        async with queue.place(7):
            waiting = asyncio.create_task(view(request))
            while not queue._waiting.get(7):
                await asyncio.sleep(0)
            refused = await view(request)
        assert (await waiting).status_code == 200
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, str(RETRY_AFTER_S))
    assert refused.headers["Cache-Control"] == "no-store"
    assert isinstance(refused, HttpResponse)
    assert TOO_MANY in refused.content.decode()
