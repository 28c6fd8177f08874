"""Shows a stream of a provider or of a tool: everything that has arrived since the last frame is one commit.

A source is read while its earlier items are stored and shown, so its lists may be small. The number and the size of
the items that are read ahead are limited. Beyond that the source has to wait, and TCP slows down the server that sends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TypeVar

from chat.answering.turns.live_turn import LiveTurn
from chat.vocabulary.parts import Part
from chat.vocabulary.stream_events import OutputsRedrawn, PartReceived, StreamEvent, ToolOutput

T = TypeVar("T")

ITEMS_LIMIT = 1_024
SIZE_LIMIT = 1024 * 1024
"""Maximum size of items that are read ahead: characters of text plus bytes of files. A larger list is read only if no
other item waits.
"""


async def show_stream(
    turn: LiveTurn,
    source: AsyncGenerator[Sequence[T], None],
    size_of: Callable[[T], int],
    add: Callable[[list[T]], None],
) -> None:
    """Store and show all items of a source. `add` adds the items of the next frame to the turn.

    Raises the errors of the source, after its last items, and those of `LiveTurn.commit`. In every case the source is
    closed, which closes the request behind it.
    """
    async with aclosing(read_ahead(source, size_of)) as lists:
        async for items in lists:
            add(items)
            await turn.commit()
            await turn.wait_for_frame()


async def read_ahead(
    source: AsyncGenerator[Sequence[T], None], size_of: Callable[[T], int]
) -> AsyncGenerator[list[T], None]:
    """Yield lists of all items that the source has produced since the last list. No list is empty.

    Raises the errors of the source, after its last items. Closing the generator cancels a read of the source, and
    closes the source.
    """
    items: list[T] = []
    has_changed, has_room = asyncio.Event(), asyncio.Event()
    size = 0

    async def read() -> None:
        nonlocal size
        async with aclosing(source):
            async for more in source:
                more_size = sum(map(size_of, more))
                while items and (len(items) + len(more) > ITEMS_LIMIT or size + more_size > SIZE_LIMIT):
                    has_room.clear()
                    await has_room.wait()
                items.extend(more)
                size += more_size
                has_changed.set()

    reader = asyncio.get_running_loop().create_task(read())
    reader.add_done_callback(lambda _: has_changed.set())
    try:
        while items or not reader.done():
            has_changed.clear()
            if not items:
                await has_changed.wait()
            if items:
                batch, items[:], size = items[:], [], 0
                has_room.set()
                yield batch
        await reader
    finally:
        reader.cancel()
        # The error of the reader was already raised above, or the caller has closed this generator.
        await asyncio.gather(reader, return_exceptions=True)


def part_size(part: Part) -> int:
    """Return the characters of a part's text and the bytes of its file."""
    return len(part.long_text) + len(getattr(part, "data", None) or b"")


def output_size(output: ToolOutput) -> int:
    """Return the size of an output of a tool.

    Changed outputs count as large, so that only one at a time is read ahead: what changes between two frames is shown
    once.
    """
    return SIZE_LIMIT if isinstance(output, OutputsRedrawn) else part_size(output)


def event_size(event: StreamEvent) -> int:
    """Return the size of the part in an event. Events without a part are small."""
    return part_size(event.part) if isinstance(event, PartReceived) else 0
