"""Combines concurrent calls: items that arrive during one call become the next call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


class BatchedCalls(Generic[Item, Result]):
    """Calls a function with all items that arrived during the previous call.

    A single item is passed on at once. Items that arrive together share the fixed cost of a call: queries, a commit,
    and a switch to another thread.
    """

    def __init__(
        self,
        function: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        limit: int = 1024,
        fails_all: tuple[type[Exception], ...] = (),
    ) -> None:
        """`function`: returns a result or an exception for each item, in order. `limit`: maximum items in a call.

        An exception of the types `fails_all` is the result of all items of the call. After any other exception, each
        item is tried alone, because one item may be the cause. The failed call must not have changed anything.
        """
        self._function = function
        self._limit = limit
        self._fails_all = fails_all
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._task: asyncio.Task[None] | None = None

    def submit(self, item: Item) -> asyncio.Future[Result]:
        """Return the future result of an item. Cancelling the future does not withdraw the item."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, future))
        if self._task is None:
            self._task = loop.create_task(self._run(), name="batched calls")
        return future

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[: self._limit], self._waiting[self._limit :]
                await self._call(batch)
                # Let the callers handle their results before the next call.
                await asyncio.sleep(0)
        finally:
            self._task = None
            # Items still wait here only if the event loop ends and has cancelled this task.
            for _, future in self._waiting:
                future.cancel()

    async def _call(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._function([item for item, _ in batch])
        except self._fails_all as error:
            _settle(batch, [error] * len(batch))
        except Exception as error:
            if len(batch) == 1:
                _settle(batch, [error])
                return
            logger.info("a call with %d items failed; each is tried alone", len(batch), exc_info=True)
            for one in batch:
                await self._call([one])
        else:
            _settle(batch, results)


def _settle(batch: Sequence[tuple[Item, asyncio.Future[Result]]], results: Sequence[Result | Exception]) -> None:
    for (_, future), result in zip(batch, results, strict=True):
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
