"""Renews the leases of sessions that this process holds."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from chat.python.sessions import rows
from chat.python.sessions.rows import LEASE_S, session_store

logger = logging.getLogger(__name__)

RENEWALS_PER_LEASE = 3

_held: Counter[tuple[int, int]] = Counter()
"""Number of tasks of this process that hold a lease, by the session's id and generation."""


def is_held_here(session_id: int, generation: int) -> bool:
    """Return whether this process holds the lease. It may have expired in an outage of the database."""
    return _held[session_id, generation] > 0


@contextmanager
def renewed_lease(session_id: int, generation: int) -> Iterator[None]:
    """Renew a lease that this process has taken, until the block ends."""
    key = session_id, generation
    _held[key] += 1
    renewal = asyncio.create_task(_renew_repeatedly(session_id, generation))
    try:
        yield
    finally:
        renewal.cancel()
        _held[key] -= 1
        if not _held[key]:
            del _held[key]


async def _renew_repeatedly(session_id: int, generation: int) -> None:
    while True:
        await asyncio.sleep(LEASE_S / RENEWALS_PER_LEASE)
        try:
            await session_store.run(rows.renew_lease, session_id, generation)
        except Exception:
            logger.warning("the lease of a Python session could not be renewed", exc_info=True)
