"""Reads ahead from a source, and returns the items that have arrived as one list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")

LIMIT = 256
"""The most items that are read before the caller asks for them. Then the source has to wait."""


async def read_in_batches(source: AsyncGenerator[T, None]) -> AsyncGenerator[list[T], None]:
    """Yield lists of all items that the source has produced since the last list.

    Raises what the source raises, after its last items. Closing the generator cancels a read of the source, and closes
    the source.
    """
    items: list[T] = []
    has_arrived, has_room = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with aclosing(source):
            async for item in source:
                items.append(item)
                has_arrived.set()
                if len(items) >= LIMIT:
                    has_room.clear()
                    await has_room.wait()

    reader = asyncio.get_running_loop().create_task(read())
    reader.add_done_callback(lambda _: has_arrived.set())
    try:
        while items or not reader.done():
            has_arrived.clear()
            if not items:
                await has_arrived.wait()
            if items:
                batch, items[:] = items[:], []
                has_room.set()
                yield batch
        await reader
    finally:
        reader.cancel()
        # The error of the reader was raised above, or the caller has closed this generator.
        await asyncio.gather(reader, return_exceptions=True)
