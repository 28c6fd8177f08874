"""Items of a source are handed over in lists of everything that it has produced meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from chat.providers.batches import LIMIT, read_in_batches
from tests.chat.providers.raw_server import WAIT_LIMIT_S


async def numbers(count: int) -> AsyncGenerator[int, None]:
    """Yield the numbers below `count` without waiting."""
    for number in range(count):
        yield number


async def test_items_that_were_produced_together_are_one_list() -> None:
    assert [batch async for batch in read_in_batches(numbers(3))] == [[0, 1, 2]]


async def test_source_without_items_makes_no_list() -> None:
    assert [batch async for batch in read_in_batches(numbers(0))] == []


async def test_item_is_handed_over_before_the_source_produces_the_next() -> None:
    has_room = asyncio.Semaphore(0)

    async def source() -> AsyncGenerator[str, None]:
        for item in "abc":
            yield item
            await has_room.acquire()

    batches = []
    async with asyncio.timeout(WAIT_LIMIT_S):
        async for batch in read_in_batches(source()):
            batches.append(batch)
            has_room.release()
    assert batches == [["a"], ["b"], ["c"]]


async def test_error_of_the_source_is_raised_after_its_items() -> None:
    async def source() -> AsyncGenerator[int, None]:
        yield 1
        raise OSError("of the source")

    batches = read_in_batches(source())
    assert await anext(batches) == [1]
    with pytest.raises(OSError, match="of the source"):
        await anext(batches)


async def test_source_has_to_wait_for_a_caller_that_takes_nothing() -> None:
    produced = 0

    async def source() -> AsyncGenerator[int, None]:
        nonlocal produced
        while produced < 10 * LIMIT:
            yield produced
            produced += 1
            await asyncio.sleep(0)

    batches = read_in_batches(source())
    assert await anext(batches) == [0]
    for _ in range(20 * LIMIT):
        await asyncio.sleep(0)
    assert produced <= LIMIT + 1
    rest = [item async for batch in batches for item in batch]
    assert rest == list(range(1, 10 * LIMIT))


async def test_closing_ends_the_source() -> None:
    is_closed = asyncio.Event()

    async def source() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            is_closed.set()

    batches = read_in_batches(source())
    assert await anext(batches) == [1]
    tasks = asyncio.all_tasks()
    await batches.aclose()
    assert is_closed.is_set()
    assert asyncio.all_tasks() < tasks


async def test_closing_ends_a_source_that_waits_for_its_caller() -> None:
    is_closed = asyncio.Event()

    async def source() -> AsyncGenerator[int, None]:
        try:
            async for number in numbers(2 * LIMIT):
                yield number
        finally:
            is_closed.set()

    batches = read_in_batches(source())
    assert len(await anext(batches)) == LIMIT
    await batches.aclose()
    assert is_closed.is_set()
