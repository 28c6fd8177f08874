"""A source is read ahead within limits, and everything that it has produced meanwhile is one list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from chat.answering.turns.read_ahead import ITEMS_LIMIT, SIZE_LIMIT, read_ahead
from tests.chat.providers.raw_server import WAIT_LIMIT_S


def no_size(_: object) -> int:
    """Return 0, so that items count only by their number."""
    return 0


async def numbers(count: int) -> AsyncGenerator[list[int], None]:
    """Yield the numbers below `count`, each in a list of its own, without waiting."""
    for number in range(count):
        yield [number]


async def test_items_that_are_produced_before_the_caller_reads_are_one_list() -> None:
    assert [batch async for batch in read_ahead(numbers(3), no_size)] == [[0, 1, 2]]


async def test_source_without_items_yields_no_list() -> None:
    assert [batch async for batch in read_ahead(numbers(0), no_size)] == []


async def test_first_item_is_yielded_before_the_source_produces_the_next() -> None:
    has_room = asyncio.Semaphore(0)

    async def source() -> AsyncGenerator[list[str], None]:
        for item in "abc":
            yield [item]
            await has_room.acquire()

    batches = []
    async with asyncio.timeout(WAIT_LIMIT_S):
        async for batch in read_ahead(source(), no_size):
            batches.append(batch)
            has_room.release()
    assert batches == [["a"], ["b"], ["c"]]


async def test_error_of_the_source_is_raised_after_the_items_before_it() -> None:
    async def source() -> AsyncGenerator[list[int], None]:
        yield [1]
        raise OSError("of the source")

    batches = read_ahead(source(), no_size)
    assert await anext(batches) == [1]
    with pytest.raises(OSError, match="of the source"):
        await anext(batches)


async def test_source_is_paused_at_the_limit_of_unread_items() -> None:
    produced = 0

    async def source() -> AsyncGenerator[list[int], None]:
        nonlocal produced
        while produced < 10 * ITEMS_LIMIT:
            yield [produced]
            produced += 1
            await asyncio.sleep(0)

    batches = read_ahead(source(), no_size)
    assert await anext(batches) == [0]
    for _ in range(20 * ITEMS_LIMIT):
        await asyncio.sleep(0)
    assert produced <= ITEMS_LIMIT + 1
    rest = [item async for batch in batches for item in batch]
    assert rest == list(range(1, 10 * ITEMS_LIMIT))


async def test_closing_the_generator_closes_a_waiting_source() -> None:
    is_closed = asyncio.Event()

    async def source() -> AsyncGenerator[list[int], None]:
        try:
            yield [1]
            await asyncio.Event().wait()
        finally:
            is_closed.set()

    batches = read_ahead(source(), no_size)
    assert await anext(batches) == [1]
    tasks = asyncio.all_tasks()
    await batches.aclose()
    assert is_closed.is_set()
    assert asyncio.all_tasks() < tasks


async def test_closing_the_generator_closes_a_paused_source() -> None:
    is_closed = asyncio.Event()

    async def source() -> AsyncGenerator[list[int], None]:
        try:
            async for number in numbers(2 * ITEMS_LIMIT):
                yield number
        finally:
            is_closed.set()

    batches = read_ahead(source(), no_size)
    assert len(await anext(batches)) == ITEMS_LIMIT
    await batches.aclose()
    assert is_closed.is_set()


async def test_source_is_paused_at_the_limit_of_unread_text() -> None:
    produced = 0

    async def source() -> AsyncGenerator[list[str], None]:
        nonlocal produced
        while True:
            yield ["a" * (SIZE_LIMIT // 4)]
            produced += 1
            await asyncio.sleep(0)

    async with aclosing(read_ahead(source(), len)) as lists:
        first = await anext(lists)
        for _ in range(100):
            await asyncio.sleep(0)
        second = await anext(lists)
    assert [len(first), len(second)] == [1, 4]
    assert produced <= 6


async def test_list_that_exceeds_the_size_limit_is_yielded_alone() -> None:
    async def source() -> AsyncGenerator[list[str], None]:
        yield ["small"]
        yield ["large" * SIZE_LIMIT, "with it"]
        yield ["last"]

    batches = [batch async for batch in read_ahead(source(), len)]
    assert [[item[:5] for item in batch] for batch in batches] == [["small"], ["large", "with "], ["last"]]
