"""Finds kernels that ended by themselves while no cell ran: they used too much memory, or their service ended.

Without this, the page and the prompt would list variables that are lost until the next code runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

from chat.models import PythonSession
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.places import Address
from chat.python.sessions import rows
from chat.python.sessions.places import OTHER_PLACE, current_client, current_place, present_address
from chat.python.sessions.rows import IDLE, State, session_store

logger = logging.getLogger(__name__)

CHECK_LIMIT_S = 2.0
"""Maximum time that a turn waits for the answer of the place. After it, the turn uses the stored state."""
ERRORS_LIMIT = 2
"""Maximum number of failed requests in a pass. If the place does not answer, each takes 5 to 10 s."""


async def note_if_lost(session: PythonSession) -> bool:
    """Check whether the kernel of a session lives. If it does not, store that it is lost and return True.

    If the place of kernels does not answer, change nothing and return False.
    """
    if session.state != State.RUNNING or session.is_busy:
        return False
    try:
        async with asyncio.timeout(CHECK_LIMIT_S):
            loss = await _find_loss(current_client(), session, await present_address())
    except (KernelsUnavailable, TimeoutError):
        return False
    if loss:
        await session_store.run(_note, session, loss)
    return bool(loss)


def note_losses() -> int:
    """Store which sessions have lost their kernel, and return their number. Must not run on an event loop's thread.

    Raises KernelsUnavailable if the place does not answer, after the losses that are known have been stored.
    """
    running = list(PythonSession.objects.filter(IDLE, state=State.RUNNING, conversation__isnull=False))
    losses, errors = asyncio.run(_find_losses(running)) if running else ([], [])
    noted = [(session, loss) for session, loss in losses if _note(session, loss)]
    for place, number in Counter(session.place for session, loss in noted if loss == OTHER_PLACE).items():
        logger.warning(
            "%d Python sessions at %s are lost: the service was restarted, or kernels run at another address now. A"
            " kernel that still runs at the old address must be ended there.",
            number,
            place,
        )
    if errors:
        raise errors[0]
    return len(noted)


async def _find_losses(sessions: list[PythonSession]) -> tuple[list[tuple[PythonSession, str]], list[Exception]]:
    """Return the sessions whose kernel has ended, with the reasons, and the errors of requests that failed."""
    losses: list[tuple[PythonSession, str]] = []
    errors: list[Exception] = []
    client = JupyterClient(current_place())
    try:
        address = await present_address()
        for session in sessions:
            try:
                losses.append((session, await _find_loss(client, session, address)))
            except KernelsUnavailable as error:
                errors.append(error)
                if len(errors) == ERRORS_LIMIT:
                    break
    finally:
        await client.aclose()
    return [(session, loss) for session, loss in losses if loss], errors


async def _find_loss(client: JupyterClient, session: PythonSession, address: Address | None) -> str:
    """Return why the kernel of a running session has ended; empty if it lives.

    Raises KernelsUnavailable if the place of kernels does not answer.
    """
    if address is None or session.place != address.url:
        return OTHER_PLACE
    return await client.find_loss(session.kernel_id, address)


def _note(session: PythonSession, loss: str) -> bool:
    return rows.note_lost(session.pk, session.generation, loss, only_idle=True)
