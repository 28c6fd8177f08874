"""The quota of the time that the code of one person may run in Python sessions.

The time is counted when a cell has ended. So cells that run at once can exceed the quota, by at most
`KERNELS_PER_USER_LIMIT` cells of `KERNEL_CELL_LIMIT_S`.
"""

from __future__ import annotations

from chat.python_sessions.errors import KernelTimeUsedUp
from chat.python_sessions.rows import session_store
from chat.quotas.enforcement import check_quota, count_usage
from chat.quotas.resources import Resource


async def check_kernel_time(owner_id: int | None) -> None:
    """Raise KernelTimeUsedUp if code of a person may not run now. `None`: of a person whose account was deleted."""
    if owner_id is not None:
        await session_store.run(check_quota, owner_id, Resource.KERNEL_TIME, error=KernelTimeUsedUp)


async def count_kernel_time(owner_id: int | None, duration_s: float) -> None:
    """Count the time that a cell took."""
    if owner_id is not None:
        await session_store.run(count_usage, owner_id, Resource.KERNEL_TIME, round(duration_s * 1000))
