"""Repeats calls while the database is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError

logger = logging.getLogger(__name__)

UNAVAILABLE = (OperationalError, InterfaceError)
"""A full disk, or a database that is locked or restarting."""

LOCK_STATES = frozenset({"55P03", "40P01"})
"""What PostgreSQL says of a row that was locked for too long, and of two transactions that wait for each other."""

GIVE_UP_AFTER_S = 60.0
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0

Result = TypeVar("Result")


class LockConflict(DatabaseError):
    """A locked row made a whole batch of calls fail. Tried one by one, most of the calls may succeed."""


def is_lock_conflict(error: Exception) -> bool:
    """Return whether a statement failed because of the lock of another transaction, and not of the database."""
    return getattr(error.__cause__, "sqlstate", None) in LOCK_STATES


async def retry_while_unavailable(call: Callable[[], Awaitable[Result]]) -> Result:
    """Await a call that reaches the database, and repeat it while the database is unavailable.

    Raises one of `UNAVAILABLE` after GIVE_UP_AFTER_S. A call that has failed must not have changed anything,
    or must find out when it is repeated, as `store.write` does.
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
