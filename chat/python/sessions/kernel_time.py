"""The quota of the time that the code of one person may run in Python sessions.

The time is counted when a session's kernel is released: after a cell, or after all blocks of code that run again. So
the quota can be exceeded in each of at most `KERNELS_PER_USER_LIMIT` sessions, by one cell of `KERNEL_CELL_LIMIT_S` or
by one rerun of `TURN_LIMIT_S`.
"""

from __future__ import annotations

from chat.people.quotas.enforcement import check_quota, count_usage
from chat.people.quotas.resources import Resource
from chat.python.sessions.errors import KernelTimeUsedUp
from chat.python.sessions.rows import session_store


async def check_kernel_time(owner_id: int | None) -> None:
    """Raise KernelTimeUsedUp if code of a person may not run now. `None`: of a person whose account was deleted."""
    if owner_id is not None:
        await session_store.run(check_quota, owner_id, Resource.KERNEL_TIME, error=KernelTimeUsedUp)


async def count_kernel_time(owner_id: int | None, duration_s: float) -> None:
    """Count the time that code ran in a kernel that was held."""
    if owner_id is not None:
        await session_store.run(count_usage, owner_id, Resource.KERNEL_TIME, round(duration_s * 1000))
