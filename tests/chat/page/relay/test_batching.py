"""Batched calls: items that wait for one another are passed on as one call, and each gets its own result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from chat.page.relay.batching import BatchedCalls

LIMIT = 10


class Refused(Exception):
    """A result for one item alone."""


class Unavailable(Exception):
    """A failure of the whole call."""


class Recorder:
    """The batched function. It refuses `refused`, and fails for a batch with `broken` or `unavailable`."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.done: list[str] = []
        self.may_finish = asyncio.Event()
        """The first call waits for it."""
        self.calls: BatchedCalls[str, str] = BatchedCalls(self, limit=LIMIT, fails_all=(Unavailable,))

    async def __call__(self, items: Sequence[str]) -> list[str | Exception]:
        self.batches.append(list(items))
        await self.may_finish.wait()
        if "broken" in items:
            raise ZeroDivisionError
        if "unavailable" in items:
            raise Unavailable
        self.done += items
        return [Refused() if item == "refused" else item.upper() for item in items]

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """Keep a first call running for the length of the block."""
        first = self.calls.submit("first")
        await asyncio.sleep(0)
        yield
        self.may_finish.set()
        assert await first == "FIRST"

    async def submit_while_busy(self, *items: str) -> list[str | BaseException]:
        """Submit items while another call runs; return their results."""
        async with self.busy():
            futures = [self.calls.submit(item) for item in items]
        return await asyncio.gather(*futures, return_exceptions=True)


async def test_item_is_passed_on_at_once_if_no_call_is_running() -> None:
    recorder = Recorder()
    recorder.may_finish.set()
    assert [await recorder.calls.submit(item) for item in ("a", "b")] == ["A", "B"]
    assert recorder.batches == [["a"], ["b"]]


async def test_items_that_arrive_during_a_call_are_passed_on_in_batches_up_to_the_limit() -> None:
    recorder, items = Recorder(), [f"item {number}" for number in range(LIMIT + 3)]
    assert await recorder.submit_while_busy(*items) == [item.upper() for item in items]
    assert recorder.batches == [["first"], items[:LIMIT], items[LIMIT:]]


async def test_exception_in_the_results_is_raised_only_for_the_item_it_belongs_to() -> None:
    recorder = Recorder()
    a, refusal, b = await recorder.submit_while_busy("a", "refused", "b")
    assert (a, b) == ("A", "B")
    assert isinstance(refusal, Refused)
    assert len(recorder.batches) == 2


async def test_items_of_a_failed_batch_are_retried_one_by_one() -> None:
    recorder = Recorder()
    a, error, b = await recorder.submit_while_busy("a", "broken", "b")
    assert (a, b) == ("A", "B")
    assert isinstance(error, ZeroDivisionError)
    assert recorder.batches == [["first"], ["a", "broken", "b"], ["a"], ["broken"], ["b"]]


async def test_error_type_that_is_declared_for_the_whole_batch_is_raised_for_each_item() -> None:
    recorder = Recorder()
    outcomes = await recorder.submit_while_busy("a", "unavailable", "b")
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    assert len(recorder.batches) == 2
    assert await recorder.calls.submit("later") == "LATER"


async def test_cancelled_item_is_still_passed_on_and_does_not_delay_other_items() -> None:
    recorder = Recorder()
    async with recorder.busy():
        cancelled, other = recorder.calls.submit("cancelled"), recorder.calls.submit("other")
        cancelled.cancel()
    assert await other == "OTHER"
    assert recorder.done == ["first", "cancelled", "other"]


def test_items_that_wait_when_the_event_loop_ends_are_cancelled() -> None:
    async def leave() -> asyncio.Future[str]:
        recorder = Recorder()
        recorder.calls.submit("first")
        await asyncio.sleep(0)
        return recorder.calls.submit("second")

    assert asyncio.run(leave()).cancelled()
