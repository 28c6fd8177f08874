"""Group commit: the changes of many live turns are stored in one transaction.

While one transaction is written, the changes of other turns are queued for the next one. A single turn does not wait,
and many turns share each commit. If the changes of one turn cannot be stored, only this turn fails.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from chat.relay.batching import BatchedCalls

logger = logging.getLogger(__name__)

UNAVAILABLE = (OperationalError, InterfaceError)
"""A full disk, or a database that is locked or restarting."""

GIVE_UP_AFTER_S = 60.0
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class GroupCommit(Generic[Item, Result]):
    """Writes changes in batches, and retries while the database is unavailable."""

    def __init__(self, write: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]]) -> None:
        """`write`: stores all items in one transaction, and returns a result for each."""
        self._write = write
        self._calls: BatchedCalls[Item, Result] = BatchedCalls(self._write_with_retries, fails_all=UNAVAILABLE)

    def submit(self, item: Item) -> asyncio.Future[Result]:
        """Return the future result of storing an item.

        Its exception is one of `UNAVAILABLE` after the database was unavailable for GIVE_UP_AFTER_S, or any other for
        an item that cannot be stored.
        """
        return self._calls.submit(item)

    async def _write_with_retries(self, items: Sequence[Item]) -> Sequence[Result | Exception]:
        return await retry_while_unavailable(lambda: self._write(items))


async def retry_while_unavailable(call: Callable[[], Awaitable[Result]]) -> Result:
    """Await a call that reaches the database, and repeat it while the database is unavailable.

    Raises one of `UNAVAILABLE` after GIVE_UP_AFTER_S. A call that has failed must not have changed anything.
    """
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + GIVE_UP_AFTER_S
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await call()
        except UNAVAILABLE as error:
            if loop.time() > give_up_at:
                raise
            logger.warning("live turns could not reach the database, trying again: %s", error)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
