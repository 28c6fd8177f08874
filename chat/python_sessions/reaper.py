"""Ends sessions that nobody uses, and cleans up after processes that have died.

Every server process runs a reaper. Each change of a row is conditional, so several reapers do not disturb each other.
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

from chat.kernels.client import JupyterClient
from chat.kernels.errors import KernelGone, KernelsUnavailable
from chat.models import PythonSession
from chat.python_sessions import rows
from chat.python_sessions.limits import START_FAILED
from chat.python_sessions.losses import note_losses
from chat.python_sessions.places import OTHER_PLACE, current_place, is_enabled, present_address
from chat.python_sessions.rows import GONE, State, seconds_from_now

logger = logging.getLogger(__name__)

REAP_INTERVAL_S = 5.0
FREE_LEASE_S = 20.0
"""Length of the claim on a kernel whose cell is interrupted. The interrupt and the end of the kernel take less time."""

ASK_AGAIN_S = 60.0
"""Pause before a place of kernels that did not answer is asked again which of them live."""

IDLE = "The Python session was ended after {minutes:g} minutes without use. Its variables are lost."


@dataclass(frozen=True, slots=True)
class ClaimedKernels:
    """Kernels that a reaper has claimed."""

    to_end: list[PythonSession] = field(default_factory=list)
    to_free: list[PythonSession] = field(default_factory=list)
    """Kernels that may still run the cell of a process that has died."""

    def __bool__(self) -> bool:
        return bool(self.to_end or self.to_free)


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """What was done with claimed kernels. Kernels that could not be reached are in neither list."""

    ended: list[PythonSession] = field(default_factory=list)
    freed: list[tuple[PythonSession, str]] = field(default_factory=list)
    """Sessions whose cell was interrupted, and why their kernel had to be ended; empty if it lives."""


def start(on_abandoned: Callable[[uuid.UUID], object]) -> threading.Thread:
    """Start a thread that reaps every few seconds until the process ends. `on_abandoned`: see `reap`."""
    thread = threading.Thread(target=_reap_forever, args=[on_abandoned], name="session-reaper", daemon=True)
    thread.start()
    return thread


def reap(on_abandoned: Callable[[uuid.UUID], object] = lambda message_id: None) -> ClaimedKernels:
    """End or free all kernels that are due now, and return them. Must not run on a thread with an event loop.

    `on_abandoned`: is called with the id of each message whose code ran in a process that has died.
    """
    work = claim_work()
    if work:
        done = asyncio.run(_carry_out(work))
        for session in done.ended:
            rows.end_stop(session.pk, session.generation)
        for session, loss in done.freed:
            if session.last_message_id:
                _tell(on_abandoned, session.last_message_id)
            if loss:
                rows.note_lost(session.pk, session.generation, loss)
            else:
                rows.end_cell(session.pk, session.generation, {})
    delete_orphans()
    return work


def _tell(on_abandoned: Callable[[uuid.UUID], object], message_id: uuid.UUID) -> None:
    try:
        on_abandoned(message_id)
    except Exception:
        logger.warning("pages are not told that the code of message %s has ended", message_id, exc_info=True)


def claim_work() -> ClaimedKernels:
    """Claim the kernels that are to be ended or interrupted, and correct rows of processes that have died."""
    idle_limit_s: float = settings.KERNEL_IDLE_LIMIT_S
    unused = Q(busy_until__isnull=True, last_used_at__lt=Now() - timedelta(seconds=idle_limit_s))
    flags = {
        "is_unused": ExpressionWrapper(unused, output_field=BooleanField()),
        "is_abandoned": ExpressionWrapper(Q(busy_until__lt=Now()), output_field=BooleanField()),
    }
    work = ClaimedKernels()
    for session in PythonSession.objects.alive().annotate(**flags):
        is_unused, is_abandoned = (getattr(session, name, False) for name in flags)
        _claim(session, work, is_unused=is_unused, is_abandoned=is_abandoned)
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
    """Delete the rows of deleted conversations whose kernels have ended; return how many."""
    gone = PythonSession.objects.filter(conversation__isnull=True, state__in=[State.STOPPED, State.ERROR])
    return gone.delete()[0]


async def _carry_out(work: ClaimedKernels) -> CleanupResult:
    """Interrupt and end kernels."""
    done = CleanupResult()
    place = current_place()
    client = JupyterClient(place)
    try:
        address = await present_address()
        url = address.url if address else None
        for session in work.to_end:
            if session.place == url:
                await client.shut_down(session.kernel_id)
            done.ended.append(session)
        for session in work.to_free:
            loss = await _free(client, session) if session.place == url else OTHER_PLACE
            done.freed.append((session, loss))
    except KernelsUnavailable as error:
        logger.warning("kernels could not be ended, which is tried again: %s", error)
    finally:
        await client.aclose()
    return done


async def _free(client: JupyterClient, session: PythonSession) -> str:
    """Interrupt the cell of a kernel; return why the kernel had to be ended, or an empty text."""
    try:
        # Connecting interrupts a cell that nobody waits for, and ends the kernel if the cell does not stop.
        await (await client.connect(session.kernel_id)).close()
    except KernelGone as gone:
        return str(gone)
    return ""


def _reap_forever(on_abandoned: Callable[[uuid.UUID], object]) -> None:
    pause = threading.Event()
    ask_at = 0.0
    while True:
        try:
            if is_enabled():
                close_old_connections()
                reap(on_abandoned)
                if time.monotonic() >= ask_at:
                    note_losses()
        except KernelsUnavailable as error:
            logger.warning("it is not known which kernels live; asked again in a minute: %s", error)
            ask_at = time.monotonic() + ASK_AGAIN_S
        except Exception:
            logger.warning("Python sessions could not be cleaned up", exc_info=True)
            connection.close()
        pause.wait(REAP_INTERVAL_S)
