"""The quota of the time that the code of one person may run in Python sessions.

The time is counted when a session's kernel is released: after a cell, or after all blocks of code that run again. So
the quota can be exceeded in each of at most `KERNELS_PER_USER_LIMIT` sessions, by one cell of `KERNEL_CELL_LIMIT_S` or
by one rerun of `TURN_LIMIT_S`.

The duration of a cell counts. Of threads and processes that it leaves behind, the CPU time counts, which the service
of the kernels measures. Other Jupyter servers do not measure it, so it is not counted there. The CPU time of a session
that is held without a cell, as for a download, counts too. If code still runs in an idle session when the quota is used
up, the reaper ends the session.
"""

from __future__ import annotations

import asyncio
import logging

from chat.models import PythonSession
from chat.people.quotas.enforcement import check_quota, count_usage
from chat.people.quotas.resources import Resource
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.sessions.errors import KernelTimeUsedUp
from chat.python.sessions.rows import session_store

logger = logging.getLogger(__name__)

CPU_ANSWER_LIMIT_S = 2.0
"""Maximum time that the release of a kernel waits for the CPU time from the service."""
IDLE_CPU_S = 0.01
"""CPU time below which a kernel counts as idle between two passes of the reaper: one clock tick of Linux."""


async def check_kernel_time(owner_id: int | None) -> None:
    """Raise KernelTimeUsedUp if code of a person may not run now. `None`, for a deleted account, has no limit."""
    if owner_id is not None:
        await session_store.run(check_quota, owner_id, Resource.KERNEL_TIME, error=KernelTimeUsedUp)


async def count_kernel_time(owner_id: int | None, duration_s: float) -> None:
    """Count the time that cells ran in a kernel. `owner_id`: the person whose quota counts, if any."""
    if owner_id is not None:
        await session_store.run(count_usage, owner_id, Resource.KERNEL_TIME, round(duration_s * 1000))


async def count_left_running(client: JupyterClient, session: PythonSession, *, held_s: float = 0.0) -> float:
    """Count the CPU time that a session's kernel has used outside of cells since the last call; return the seconds.

    `held_s`: how long the kernel was held for cells. That much CPU time belongs to the cells, and is not counted.
    """
    try:
        async with asyncio.timeout(CPU_ANSWER_LIMIT_S):
            cpu_s = await client.take_cpu_s(session.kernel_id)
    except (KernelsUnavailable, TimeoutError) as error:
        logger.warning("the CPU time of session %s is not known: %r", session.pk, error)
        return 0.0
    left_running_s = (cpu_s or 0.0) - held_s
    if left_running_s < IDLE_CPU_S:
        return 0.0
    await count_kernel_time(session.owner_id, left_running_s)
    return left_running_s
