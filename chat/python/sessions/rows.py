"""Changes of the rows of Python sessions. All functions run on a database thread.

A function that changes the session of one kernel takes its `generation`, and changes nothing if the session has another
kernel by now. Leases are times of the database's clock, because clocks of processes may differ.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from chat.models import Message, PythonSession
from chat.models.database_thread import DatabaseThread
from chat.models.plain_sql import find_row

State = PythonSession.State

LEASE_S = 15.0
"""A process that starts a kernel or runs a cell renews its lease three times in this time.

If the process dies, the reaper interrupts the cell, or ends the kernel that was started.
"""
STOP_LEASE_S = 45.0
"""Length of the claim on a kernel that is ended. It exceeds the time that the end may take."""
MESSAGES_LIMIT = 1_000
"""Maximum number of messages whose ids are kept. A conversation with more keeps the newest."""

IDLE = Q(busy_until__isnull=True) | Q(busy_until__lte=Now())
"""Condition: no process runs a cell in the session, or the process that did has died."""

GONE: Mapping[str, object] = {
    "kernel_id": "",
    "execution_count": 0,
    "variables": [],
    "files": [],
    "placed_files": {},
    "message_ids": [],
    "last_message": None,
    "busy_until": None,
    "queued_at": None,
    "kept_until": None,
}
"""The columns of a session without a kernel."""

session_store = DatabaseThread("python-sessions")
"""The thread that reads and changes sessions. Live turns and pages use other threads.

All sessions of the process share this thread, which also renews their leases. So only short queries may run on it, and
no reads from storage.
"""


def seconds_from_now(seconds: float) -> CombinedExpression:
    """Return a time on the database's clock."""
    return Now() + timedelta(seconds=seconds)


def open_session(conversation_id: uuid.UUID, owner_id: int | None) -> PythonSession:
    """Return the session of a conversation. Its row is created if there is none."""
    session, _ = PythonSession.objects.get_or_create(conversation_id=conversation_id, defaults={"owner_id": owner_id})
    return session


def find_session(conversation_id: uuid.UUID) -> PythonSession | None:
    """Return the session of a conversation, if there is one."""
    return find_row(PythonSession, "conversation_id = %s", conversation_id)


# --- the kernel's life ---------------------------------------------------------------------------------------------


def note_created(session_id: int, generation: int, *, kernel_id: str, place: str) -> bool:
    """Store the kernel that is being started, so that it can be ended if this process dies before it is ready."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, state=State.STARTING)
    return rows.update(kernel_id=kernel_id, place=place) == 1


def note_started(session_id: int, generation: int, *, kernel_id: str, place: str) -> bool:
    """Store the kernel that was started; return False if the session no longer waits for it."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation)
    return rows.change_state(
        State.RUNNING, kernel_id=kernel_id, place=place, busy_until=None, started_at=Now(), last_used_at=Now()
    )


def note_failed(session_id: int, generation: int, sentence: str) -> bool:
    """Store that no kernel could be started."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation)
    return rows.change_state(State.ERROR, **{**GONE, "note": sentence})


def give_up_start(session_id: int, generation: int) -> bool:
    """Store that the process has given up the start of a kernel."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, state=State.STARTING)
    return rows.change_state(State.STOPPED, **GONE)


def note_lost(session_id: int, generation: int, sentence: str, *, only_idle: bool = False) -> bool:
    """Store that the kernel has ended by itself. `sentence`: why its variables are lost.

    `only_idle`: change nothing if a process runs a cell there. That process notices the end itself.
    """
    rows = PythonSession.objects.filter(pk=session_id, generation=generation)
    if only_idle:
        rows = rows.filter(IDLE)
    return rows.change_state(State.STOPPED, **{**GONE, "note": sentence})


def begin_stop(
    session_id: int, generation: int, sentence: str, *, only_idle: bool = False, lease_s: float = STOP_LEASE_S
) -> bool:
    """Claim a session in order to end its kernel. `sentence`: why its variables are lost.

    `only_idle`: change nothing if a process runs a cell there. `lease_s`: the reaper ends the kernel after this time.
    """
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, state=State.RUNNING)
    if only_idle:
        rows = rows.filter(IDLE)
    return rows.change_state(State.STOPPING, note=sentence, busy_until=seconds_from_now(lease_s))


def request_stop(session_id: int, generation: int, sentence: str, *, only_idle: bool = False) -> bool:
    """Let the reaper end a kernel, within a few seconds. The arguments are those of `begin_stop`."""
    return begin_stop(session_id, generation, sentence, only_idle=only_idle, lease_s=0.0)


def take_over_stop(session_id: int, generation: int, sentence: str) -> bool:
    """Claim a session in order to end its kernel, if the process that started or ended it has died.

    `sentence`: why there is no kernel. It is stored if the kernel was being started.
    """
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, busy_until__lte=Now())
    lease = seconds_from_now(STOP_LEASE_S)
    started = rows.filter(state=State.STARTING).exclude(kernel_id="")
    return (
        started.change_state(State.STOPPING, note=sentence, busy_until=lease)
        or rows.filter(state=State.STOPPING).update(busy_until=lease) == 1
    )


def end_stop(session_id: int, generation: int) -> bool:
    """Store that a claimed session's kernel has ended."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, state=State.STOPPING)
    return rows.change_state(State.STOPPED, **GONE)


# --- cells ---------------------------------------------------------------------------------------------------------


def begin_cell(session_id: int, generation: int, message_id: uuid.UUID | None) -> bool:
    """Take the session's lease for a cell; return False if another process has it, or the session has another kernel.

    `message_id`: the message whose code is about to run. It is stored before the cell, because the process may die.
    """
    with transaction.atomic():
        rows = PythonSession.objects.filter(pk=session_id, generation=generation, state=State.RUNNING)
        session = rows.filter(IDLE).select_for_update().first()
        if session is None:
            return False
        columns: dict[str, object] = {"busy_until": seconds_from_now(LEASE_S), "last_used_at": Now()}
        if message_id is not None:
            others = [one for one in session.message_ids if one != str(message_id)]
            columns["message_ids"] = [*others, str(message_id)][-MESSAGES_LIMIT:]
            # A live answer may be deleted with its conversation while it runs code.
            exists = Message.objects.filter(pk=message_id).exists()
            columns["last_message_id"] = message_id if exists else None
        return rows.filter(IDLE).update(**columns) == 1


def renew_lease(session_id: int, generation: int) -> bool:
    """Extend the lease of a cell or a start; return False if it was released, or the session has another kernel."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, state__in=[State.STARTING, State.RUNNING])
    return rows.filter(busy_until__isnull=False).update(busy_until=seconds_from_now(LEASE_S)) == 1


def abandon_cell(message_id: uuid.UUID) -> None:
    """End the lease of the cell of a message whose process has died. The reaper or the next cell interrupts it."""
    rows = PythonSession.objects.filter(last_message_id=message_id, state=State.RUNNING, busy_until__gt=Now())
    rows.update(busy_until=Now())


def end_cell(session_id: int, generation: int, columns: Mapping[str, object]) -> bool:
    """Release the lease. `columns`: values of columns to store, such as the variables that the kernel has now."""
    rows = PythonSession.objects.filter(pk=session_id, generation=generation, state=State.RUNNING)
    return rows.update(**{**columns, "busy_until": None, "last_used_at": Now()}) == 1
