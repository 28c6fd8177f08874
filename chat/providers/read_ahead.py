"""What a stream has said and its caller has not taken yet."""

from __future__ import annotations

import asyncio

from chat.parts import StreamEvent

LIMIT_EVENTS = 200
"""How far reading may run ahead of the caller. It is not for speed: aiohttp throws away what has come but was not yet
read when the connection breaks."""


class ReadAhead:
    """Between the task that reads a stream and the caller that takes from it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._said: list[StreamEvent] = []
        self._has_ended = False
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether to wait before more is read."""
        return len(self._said) >= LIMIT_EVENTS

    async def wait_for_room(self) -> None:
        """Return when what there is has been taken."""
        self._room.clear()
        await self._room.wait()

    def put(self, said: list[StreamEvent]) -> None:
        """Add what one piece of the stream said."""
        self._said += said
        self._news.set()

    def end(self) -> None:
        """Nothing follows."""
        self._has_ended = True
        self._news.set()

    async def take(self) -> list[StreamEvent]:
        """All that there is, at least one event; none at the end."""
        while not self._said and not self._has_ended:
            self._news.clear()
            await self._news.wait()
        said, self._said = self._said, []
        self._room.set()
        return said
