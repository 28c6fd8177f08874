"""What comes at once is done at once: while one batch is being stored, the next one gathers.

A lone start waits for nothing. Of fifty at once, each is spared what a batch pays once: queries, a commit, a crossing
to the store's thread, and taking turns with what the event loop does meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from chat.turns import store

logger = logging.getLogger(__name__)

TOGETHER_LIMIT = 64
"""So many are done at once; first questions take 0.1 s then, in which no live turn is stored."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Together(Generic[Item, Result]):
    """Calls a function on the store's thread with as many items as have come."""

    def __init__(self, function: Callable[[Sequence[Item]], Sequence[Result | Exception]]) -> None:
        """`function` gives a result, or what is to be raised, for each; where it raises itself, none is done."""
        self._function = function
        self._is_busy = False
        self._waiting: list[tuple[Item, asyncio.Future[Result | Exception | None]]] = []
        self._sharing: asyncio.Task[None] | None = None

    async def run(self, item: Item) -> Result:
        """What comes of one, or raises it."""
        if not self._is_busy:
            self._is_busy = True
            try:
                return await self._alone(item)
            finally:
                self._go_on()
        future: asyncio.Future[Result | Exception | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        outcome = await future
        if outcome is None:
            return await self._alone(item)
        return _result(outcome)

    async def _alone(self, item: Item) -> Result:
        [outcome] = await store.run(self._function, [item])
        return _result(outcome)

    def _go_on(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._waiting:
            self._sharing = asyncio.get_running_loop().create_task(self._share(), name="starts")

    async def _share(self) -> None:
        taken, self._waiting = self._waiting[:TOGETHER_LIMIT], self._waiting[TOGETHER_LIMIT:]
        outcomes: Sequence[Result | Exception | None] = [None] * len(taken)
        try:
            outcomes = await store.run(self._function, [item for item, _ in taken])
        except (OperationalError, InterfaceError) as error:
            # The database is away or locked: to ask it for each would take all that time as many times.
            outcomes = [error] * len(taken)
        except Exception:
            # None is done, as one of them is wrong: each for itself, then, and that one is told so.
            logger.info("%d items could not be done at once", len(taken), exc_info=True)
        finally:
            for (_, future), outcome in zip(taken, outcomes, strict=True):
                if not future.done():
                    future.set_result(outcome)
            self._go_on()


def _result(outcome: Result | Exception) -> Result:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
