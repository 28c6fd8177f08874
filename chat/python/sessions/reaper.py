"""Ends unused sessions, and cleans up after processes that have died.

Every server process runs a reaper. Each change of a row is conditional, so several reapers do not disturb each other.
An expired lease means that its process has died, unless the database was not available: see `reap_safely`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import close_old_connections, connection
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from chat.models import PythonSession
from chat.models.database_uptime import Uptime
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.sessions import rows
from chat.python.sessions.kernel_time import count_left_running
from chat.python.sessions.leases import is_held_here
from chat.python.sessions.left_running import RunningOn, count_all_left_running
from chat.python.sessions.limits import START_FAILED
from chat.python.sessions.losses import note_losses
from chat.python.sessions.places import OTHER_PLACE, current_place, is_enabled, present_address
from chat.python.sessions.rows import GONE, LEASE_S, State, seconds_from_now, session_store

logger = logging.getLogger(__name__)

REAP_INTERVAL_S = 5.0
FREE_LEASE_S = 30.0
"""Length of the claim on a kernel whose cell is interrupted."""
FREE_LIMIT_S = FREE_LEASE_S / 2
"""Maximum time for interrupting a cell or ending its kernel. It is tried again once the claim has expired.

Connecting to a kernel that does not answer takes about 12 s, and ends the kernel.
"""
BATCH_LIMIT = 16
"""Maximum number of kernels that one pass claims. It works on all at the same time, before a claim expires."""

ASK_AGAIN_S = 60.0
"""Pause after the place of kernels did not answer the question which kernels live."""

IDLE = "The Python session was ended after {minutes:g} minutes without use. Its variables are lost."


@dataclass(frozen=True, slots=True)
class ClaimedKernels:
    """Kernels that a reaper has claimed."""

    to_end: list[PythonSession] = field(default_factory=list)
    to_free: list[PythonSession] = field(default_factory=list)
    """Kernels that may still run the cell of a process that has died."""

    def __bool__(self) -> bool:
        return bool(self.to_end or self.to_free)


def start(on_abandoned: Callable[[uuid.UUID], object]) -> threading.Thread:
    """Start a thread that reaps every few seconds until the process ends. `on_abandoned`: see `reap`."""
    thread = threading.Thread(target=_reap_forever, args=[on_abandoned], name="session-reaper", daemon=True)
    thread.start()
    return thread


def reap(
    on_abandoned: Callable[[uuid.UUID], object] = lambda message_id: None, *, trusts_leases: bool = True
) -> ClaimedKernels:
    """End unused kernels, free kernels of dead processes, and return them. Must not run on a thread with an event loop.

    `on_abandoned`: is called with the id of each message whose code ran in a process that has died. `trusts_leases`:
    see `claim_work`.
    """
    work = claim_work(trusts_leases=trusts_leases)
    if work:
        asyncio.run(_carry_out(work, on_abandoned))
    delete_orphans()
    return work


def _tell(on_abandoned: Callable[[uuid.UUID], object], message_id: uuid.UUID) -> None:
    try:
        on_abandoned(message_id)
    except Exception:
        logger.warning("pages are not told that the code of message %s has ended", message_id, exc_info=True)


def claim_work(*, trusts_leases: bool = True) -> ClaimedKernels:
    """Claim kernels that are to be ended or interrupted, and correct rows of processes that have died.

    `trusts_leases`: whether an expired lease means that its process has died. False after an outage of the database, in
    which no process could renew its leases.
    """
    idle_limit_s: float = settings.KERNEL_IDLE_LIMIT_S
    unused = Q(busy_until__isnull=True, last_used_at__lt=Now() - timedelta(seconds=idle_limit_s))
    unused &= Q(kept_until__isnull=True) | Q(kept_until__lt=Now())
    flags = {
        "is_unused": ExpressionWrapper(unused, output_field=BooleanField()),
        "is_abandoned": ExpressionWrapper(Q(busy_until__lt=Now()), output_field=BooleanField()),
    }
    work = ClaimedKernels()
    for session in PythonSession.objects.alive().annotate(**flags):
        is_unused, is_abandoned = (getattr(session, name, False) for name in flags)
        # The lease of a session that is being ended is never renewed.
        if session.state != State.STOPPING and (not trusts_leases or is_held_here(session.pk, session.generation)):
            is_abandoned = False
        _claim(session, work, is_unused=is_unused, is_abandoned=is_abandoned)
        if len(work.to_end) + len(work.to_free) == BATCH_LIMIT:
            break
    if trusts_leases:
        queued = PythonSession.objects.filter(queued_at__isnull=False, busy_until__lt=Now())
        queued.exclude(state__in=PythonSession.ALIVE).update(queued_at=None, busy_until=None)
    return work


def _claim(session: PythonSession, work: ClaimedKernels, *, is_unused: bool, is_abandoned: bool) -> None:
    own = PythonSession.objects.filter(pk=session.pk, generation=session.generation)
    if session.state in (State.STARTING, State.STOPPING):
        if is_abandoned and rows.take_over_stop(session.pk, session.generation, START_FAILED):
            work.to_end.append(session)
        elif is_abandoned:
            unstarted = own.filter(busy_until__lt=Now(), state=State.STARTING, kernel_id="")
            unstarted.change_state(State.STOPPED, **{**GONE, "note": START_FAILED})
    elif session.conversation_id is None:
        if rows.begin_stop(session.pk, session.generation, ""):
            work.to_end.append(session)
    elif is_abandoned:
        lease = seconds_from_now(FREE_LEASE_S)
        if own.filter(busy_until__lt=Now(), state=State.RUNNING).update(busy_until=lease):
            work.to_free.append(session)
    elif is_unused:
        note = IDLE.format(minutes=settings.KERNEL_IDLE_LIMIT_S / 60)
        if rows.begin_stop(session.pk, session.generation, note, only_idle=True):
            work.to_end.append(session)


def delete_orphans() -> int:
    """Delete the rows of deleted conversations whose kernels have ended; return the number of rows."""
    gone = PythonSession.objects.filter(conversation__isnull=True, state__in=[State.STOPPED, State.ERROR])
    return gone.delete()[0]


async def _carry_out(work: ClaimedKernels, on_abandoned: Callable[[uuid.UUID], object]) -> None:
    """Interrupt and end the claimed kernels. If one cannot be reached, its claim expires, and it is claimed again."""
    client = JupyterClient(current_place())
    try:
        address = await present_address()
        url = address.url if address else None
        calls = [_end(client, session, url) for session in work.to_end]
        calls += [_free(client, session, url, on_abandoned) for session in work.to_free]
        errors = await asyncio.gather(*calls, return_exceptions=True)
        for session, error in zip([*work.to_end, *work.to_free], errors, strict=True):
            if error is not None:
                is_expected = isinstance(error, KernelsUnavailable | TimeoutError)
                logger.warning(
                    "the kernel of session %s could not be ended, which is tried again: %r",
                    session.pk,
                    error,
                    exc_info=None if is_expected else error,
                )
    except KernelsUnavailable as error:
        logger.warning("kernels could not be ended, which is tried again: %s", error)
    finally:
        await client.aclose()


async def _end(client: JupyterClient, session: PythonSession, url: str | None) -> None:
    """End a kernel, and store that it has ended. `url`: address of the place that the client uses."""
    if session.place == url:
        if session.state == State.RUNNING:
            await count_left_running(client, session)
        await client.shut_down(session.kernel_id)
    await session_store.run(rows.end_stop, session.pk, session.generation)


async def _free(
    client: JupyterClient, session: PythonSession, url: str | None, on_abandoned: Callable[[uuid.UUID], object]
) -> None:
    """Interrupt the cell of a kernel, and store that the cell has ended. `url`: see `_end`."""
    loss = OTHER_PLACE
    if session.place == url:
        async with asyncio.timeout(FREE_LIMIT_S):
            loss = await _interrupt(client, session)
    if session.last_message_id:
        await session_store.run(_tell, on_abandoned, session.last_message_id)
    if loss:
        await session_store.run(rows.note_lost, session.pk, session.generation, loss)
    else:
        await session_store.run(rows.end_cell, session.pk, session.generation, {})


async def _interrupt(client: JupyterClient, session: PythonSession) -> str:
    """Interrupt the cell of a kernel; return why the kernel has ended, or an empty text if it lives."""
    try:
        # Connecting interrupts a cell without a client, and ends the kernel if the cell does not stop.
        await (await client.connect(session.kernel_id)).close()
    except KernelGone as gone:
        return str(gone)
    return ""


def _reap_forever(on_abandoned: Callable[[uuid.UUID], object]) -> None:
    pause = threading.Event()
    uptime = Uptime(LEASE_S, REAP_INTERVAL_S)
    ask_at = 0.0
    running_on: RunningOn = frozenset()
    while True:
        try:
            if is_enabled():
                close_old_connections()
                reap_safely(on_abandoned, uptime)
                if time.monotonic() >= ask_at:
                    note_losses()
                    running_on = count_all_left_running(running_on)
        except KernelsUnavailable as error:
            logger.warning("it is not known which kernels live; asked again in a minute: %s", error)
            ask_at = time.monotonic() + ASK_AGAIN_S
        except Exception:
            logger.warning("Python sessions could not be cleaned up", exc_info=True)
            connection.close()
            uptime.note_failure()
        pause.wait(REAP_INTERVAL_S)


def reap_safely(on_abandoned: Callable[[uuid.UUID], object], uptime: Uptime) -> None:
    """Reap. Trust expired leases only if the database has been available for the length of a lease."""
    # Changes no row, but shows that writing works. Leases are renewed by writing, which may fail while reading works.
    PythonSession.objects.filter(pk=0).update(busy_until=None)
    now_s = time.monotonic()
    uptime.note_answer(now_s)
    # While kernels are ended, an outage of the database is not noticed. So a pass that takes long counts as a gap.
    uptime.note_pause(now_s)
    reap(on_abandoned, trusts_leases=uptime.is_long_enough(now_s))
