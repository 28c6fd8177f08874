"""Repeats calls while the database is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError

logger = logging.getLogger(__name__)

UNAVAILABLE = (OperationalError, InterfaceError)
"""Errors of an unavailable database: its disk is full, or it is locked or restarting."""

LOCK_STATES = frozenset({"55P03", "40P01"})
"""SQLSTATEs that PostgreSQL sends for a lock timeout and for a deadlock."""

GIVE_UP_AFTER_S = 60.0
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0

P = ParamSpec("P")
Result = TypeVar("Result")


class LockConflict(DatabaseError):
    """A locked row made a whole batch of calls fail. If they are repeated one by one, most of them may succeed."""


def is_lock_conflict(error: Exception) -> bool:
    """Return whether a statement failed because of another transaction's lock, and not because the database is
    unavailable.
    """
    return getattr(error.__cause__, "sqlstate", None) in LOCK_STATES


async def retry_while_unavailable(call: Callable[P, Awaitable[Result]], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Await a call that uses the database, and repeat it while the database is unavailable.

    Raises one of `UNAVAILABLE` after GIVE_UP_AFTER_S. A failed call must have changed nothing, or must notice its
    change when it is repeated, as `store.write` does.
    """
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + GIVE_UP_AFTER_S
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await call(*args, **kwargs)
        except UNAVAILABLE as error:
            if loop.time() > give_up_at:
                raise
            logger.warning("live turns could not reach the database, trying again: %s", error)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
