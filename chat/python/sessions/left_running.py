"""Counts the CPU time of threads and processes that cells have left behind, while no cell runs.

Every server process does this. The service gives each second of CPU time to one of them only.
"""

from __future__ import annotations

import asyncio

from chat.models import PythonSession
from chat.people.quotas.enforcement import check_quota
from chat.people.quotas.resources import Resource
from chat.python.kernels.client import JupyterClient
from chat.python.sessions import rows
from chat.python.sessions.errors import KernelTimeUsedUp
from chat.python.sessions.kernel_time import count_left_running
from chat.python.sessions.places import current_place, present_address
from chat.python.sessions.rows import IDLE, State

USED_UP = (
    "The Python session was ended, because code that it had left running has used up your time for today. Its variables"
    " are lost."
)


def count_all_left_running() -> int:
    """Count the CPU time of idle sessions, and end those whose owner has none left. Return how many used some.

    Must not run on an event loop's thread. Raises KernelsUnavailable.
    """
    idle = list(PythonSession.objects.filter(IDLE, state=State.RUNNING, owner__isnull=False))
    active = asyncio.run(_count(idle)) if idle else []
    for session in active:
        assert session.owner_id is not None
        try:
            check_quota(session.owner_id, Resource.KERNEL_TIME, error=KernelTimeUsedUp)
        except KernelTimeUsedUp:
            rows.request_stop(session.pk, session.generation, USED_UP)
    return len(active)


async def _count(sessions: list[PythonSession]) -> list[PythonSession]:
    """Count the CPU time of these sessions; return those that used some."""
    client = JupyterClient(current_place())
    try:
        address = await present_address()
        present = [session for session in sessions if address is not None and session.place == address.url]
        seconds = await asyncio.gather(*(count_left_running(client, session) for session in present))
    finally:
        await client.aclose()
    return [session for session, used_s in zip(present, seconds, strict=True) if used_s]
