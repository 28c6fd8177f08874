"""Counts the CPU time of threads and processes that cells have left behind, while no cell runs.

Every server process does this. The service reports each second of CPU time to only one of them.
"""

from __future__ import annotations

import asyncio
import logging

from chat.models import PythonSession
from chat.people.quotas.enforcement import check_quota
from chat.people.quotas.resources import Resource
from chat.python.kernels.client import JupyterClient
from chat.python.sessions import rows
from chat.python.sessions.errors import KernelTimeUsedUp
from chat.python.sessions.kernel_time import count_left_running
from chat.python.sessions.places import current_place, present_address
from chat.python.sessions.rows import IDLE, State

logger = logging.getLogger(__name__)

RUNS_ON_FROM_S = 0.25
"""Minimum CPU seconds in a pass of 5 s or more for which code of an idle session counts as still running. An
answer to an old request, or an asyncio task that only looks at the clock, needs less."""

RunningOn = frozenset[tuple[int, int]]
"""Idle sessions whose code still runs, as primary keys and generations."""

USED_UP = (
    "The Python session was ended, because code that it had left running has used up your time for today. Its variables"
    " are lost."
)


def count_all_left_running(before: RunningOn) -> RunningOn:
    """Count the CPU time of idle sessions; return those whose code still runs.

    `before`: the result of the last pass. A session whose code ran in both passes is ended if its owner has no time
    left. Must not run on an event loop's thread. Raises KernelsUnavailable if the place of kernels does not answer.
    """
    idle = list(PythonSession.objects.filter(IDLE, state=State.RUNNING, owner__isnull=False))
    used = asyncio.run(count_each(idle)) if idle else []
    running_on = [session for session, used_s in used if used_s >= RUNS_ON_FROM_S]
    for session in running_on:
        if (session.pk, session.generation) not in before:
            continue
        assert session.owner_id is not None
        try:
            check_quota(session.owner_id, Resource.KERNEL_TIME, error=KernelTimeUsedUp)
        except KernelTimeUsedUp:
            rows.request_stop(session.pk, session.generation, USED_UP, only_idle=True)
    return frozenset((session.pk, session.generation) for session in running_on)


async def count_each(sessions: list[PythonSession]) -> list[tuple[PythonSession, float]]:
    """Count the CPU time of these sessions; return the seconds of each whose kernel is at the current address.

    Sessions that could not be counted are left out. Raises KernelsUnavailable if the place of kernels does not answer.
    """
    client = JupyterClient(current_place())
    try:
        address = await present_address()
        present = [session for session in sessions if address is not None and session.place == address.url]
        counts = (count_left_running(client, session) for session in present)
        results = await asyncio.gather(*counts, return_exceptions=True)
    finally:
        await client.aclose()
    used = []
    for session, result in zip(present, results, strict=True):
        if isinstance(result, float):
            used.append((session, result))
        else:
            logger.warning("the CPU time of session %s was not counted", session.pk, exc_info=result)
    return used
