"""Interrupts and ends sessions."""

from __future__ import annotations

import logging

from chat.models import PythonSession
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.sessions import rows
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.kernel_time import count_left_running
from chat.python.sessions.places import current_client, current_place
from chat.python.sessions.rows import State, session_store

logger = logging.getLogger(__name__)

ENDED_BY_OWNER = "The Python session was ended by its owner. Its variables are lost."
ENDED_BY_STAFF = "The Python session was ended by the operator of this server. Its variables are lost."


async def interrupt(session: PythonSession) -> bool:
    """Interrupt the running cell; return False if there is no kernel.

    Raises SessionUnavailable if the place of the kernel does not answer.
    """
    if session.state != State.RUNNING:
        return False
    try:
        if not await _is_reachable(session):
            return False
        await current_client().interrupt(session.kernel_id)
    except KernelsUnavailable as error:
        raise SessionUnavailable(str(error)) from error
    return True


async def end(session: PythonSession, sentence: str) -> bool:
    """End the kernel; return False if there is none. `sentence`: why the variables are lost; may be empty."""
    if not await session_store.run(rows.begin_stop, session.pk, session.generation, sentence):
        return False
    await finish_stop(session)
    return True


async def finish_stop(session: PythonSession) -> None:
    """End the kernel of a session that was claimed for this, and store that it has ended.

    If the service cannot be reached, the reaper tries again later.
    """
    try:
        if await _is_reachable(session):
            if not session.is_busy:
                await count_left_running(current_client(), session)
            await current_client().shut_down(session.kernel_id)
    except KernelsUnavailable as error:
        logger.warning("the kernel of session %s could not be ended: %s", session.pk, error)
        return
    await session_store.run(rows.end_stop, session.pk, session.generation)


async def _is_reachable(session: PythonSession) -> bool:
    """Return whether the session's kernel is at the current address. A restarted local service has another address."""
    return (await current_place().address()).url == session.place
