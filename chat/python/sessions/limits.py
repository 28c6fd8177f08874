"""Decides who may start a kernel: limits for the server and each person, a fair queue, and sessions that give way.

A session that needs a kernel is in the queue (`queued_at`), and asks repeatedly. It gets one if more kernels are free
than sessions are before it in the queue. Before it are sessions whose owner has fewer kernels, then those that wait
longer. If no kernel is free, an unused session is ended for the first in the queue: the least recently used one of the
owner with the most kernels. Sessions that their owners keep are ended last.

All functions run on a database thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from django.conf import settings
from django.db import connection, transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.db.models.functions import Now

from chat.models import PythonSession, Turn
from chat.models.python_sessions import PythonSessionQuerySet
from chat.python.sessions.rows import GONE, IDLE, LEASE_S, State, begin_stop, seconds_from_now, take_over_stop
from chat.vocabulary.parts import Engine

QUEUE_LEASE_S = 5.0
"""Time after which a session leaves the queue, if its process does not ask again."""

ADMISSION_LOCK = 7_001
"""Number of the advisory lock in PostgreSQL. No other part of Plotline uses such locks."""

EVICTED = (
    "The Python session was ended, because all sessions of this server were in use and it had not been used for the"
    " longest time. Its variables are lost."
)
EVICTED_BY_OWNER = (
    "The Python session was ended, because one person may have {limit} at once, and another conversation needed one."
    " Its variables are lost."
)
SERVER_IS_FULL = "All {limit} Python sessions of this server are in use."
PERSON_HAS_ALL = "{limit} Python sessions run code for you already; one person may have no more at once."
START_FAILED = "The Python session was not started: the server process that started it has ended."
TOO_MANY_WAIT = "{limit} Python sessions wait for you already. Try again when one of them has ended."
IS_CHANGING = "The Python session is being started or ended."


@dataclass(frozen=True, slots=True)
class StartKernel:
    """The session gets a kernel, and the caller must start the one of this generation."""

    generation: int


@dataclass(frozen=True, slots=True)
class AlreadyRunning:
    """Another process has started the kernel."""


@dataclass(frozen=True, slots=True)
class EvictKernel:
    """The caller must end the kernel of this session, and ask again. The session is claimed for this."""

    session: PythonSession


@dataclass(frozen=True, slots=True)
class Wait:
    """The session gets no kernel now, for example because none is free. Ask again within `QUEUE_LEASE_S`."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """The session may not wait, because too many sessions of its owner wait. Their queries would delay other people."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A session with a kernel, which may be ended for another session."""

    session: PythonSession
    is_leased: bool
    """Whether a process runs a cell there, or starts or ends its kernel."""
    has_live_turn: bool
    """Whether a live answer runs its code in this session."""

    @property
    def is_unused(self) -> bool:
        """Whether the kernel may be ended."""
        return self.session.state == State.RUNNING and not self.is_leased and not self.has_live_turn


Step: TypeAlias = StartKernel | AlreadyRunning | EvictKernel | Wait | Refuse


def admit(session_id: int) -> Step:
    """Return the next step that the caller must take so that a session gets a kernel. May change rows of sessions."""
    with transaction.atomic():
        lock_admission(session_id)
        [own] = _candidates(PythonSession.objects.filter(pk=session_id))
        if own.session.state == State.RUNNING:
            return AlreadyRunning()
        if own.session.state in PythonSession.ALIVE:
            if own.is_leased:
                return Wait(IS_CHANGING)
            # The process that started or ended the kernel has died.
            if take_over_stop(session_id, own.session.generation, START_FAILED):
                return EvictKernel(own.session)
            PythonSession.objects.filter(pk=session_id).change_state(State.STOPPED, **GONE)
        if _has_too_many_waiting(own.session):
            return Refuse(TOO_MANY_WAIT.format(limit=settings.LIVE_TURNS_LIMIT))
        return _next_step(_enqueue(session_id))


def leave_queue(session_id: int) -> None:
    """Remove a session from the queue, because it no longer needs a kernel."""
    rows = PythonSession.objects.filter(pk=session_id, queued_at__isnull=False)
    rows.exclude(state__in=PythonSession.ALIVE).update(queued_at=None, busy_until=None)


def lock_admission(session_id: int) -> None:
    """Let only one transaction at a time decide. Lock all sessions that count until the transaction ends.

    Locks of rows do not suffice: a session that another transaction is putting into the queue cannot be seen yet. In
    SQLite, which has one writer, the transaction itself is the lock. Read the data for the decision after this call:
    later statements see what the transaction before this one has written.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADMISSION_LOCK])
    queued = PythonSession.objects.filter(Q(pk=session_id) | Q(queued_at__isnull=False))
    ids = {*queued.values_list("pk", flat=True), *PythonSession.objects.alive().values_list("pk", flat=True)}
    list(PythonSession.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk", flat=True))


def _has_too_many_waiting(own: PythonSession) -> bool:
    """Return whether too many sessions of the owner wait: as many as turns may be live. Restarts wait, too."""
    if own.owner_id is None or own.queued_at is not None:
        return False
    waiting = PythonSession.objects.filter(owner=own.owner_id, queued_at__isnull=False, busy_until__gt=Now())
    return waiting.exclude(state__in=PythonSession.ALIVE).count() >= settings.LIVE_TURNS_LIMIT


def _enqueue(session_id: int) -> PythonSession:
    rows = PythonSession.objects.filter(pk=session_id)
    rows.filter(queued_at__isnull=True).update(queued_at=Now())
    rows.update(busy_until=seconds_from_now(QUEUE_LEASE_S))
    return rows.get()


def _next_step(own: PythonSession) -> Step:
    limit, own_limit = settings.KERNELS_LIMIT, settings.KERNELS_PER_USER_LIMIT
    alive = _candidates(PythonSession.objects.alive())
    kernels_of = Counter(one.session.owner_id for one in alive)
    if kernels_of[own.owner_id] >= own_limit:
        own_sessions = [one for one in alive if one.session.owner_id == own.owner_id]
        evicted = None
        # A kernel that is being ended will be free soon, or cannot be ended. Others must not be ended in its place.
        if len(own_sessions) - _count_being_freed(own_sessions) >= own_limit:
            evicted = _evict(own_sessions, kernels_of, EVICTED_BY_OWNER.format(limit=own_limit))
        return evicted or Wait(PERSON_HAS_ALL.format(limit=own_limit))
    in_front = _number_in_front(own, kernels_of, own_limit)
    free = limit - len(alive)
    if in_front < free:
        return _start(own)
    if in_front == free + _count_being_freed(alive) and (evicted := _evict(alive, kernels_of, EVICTED)):
        return evicted
    return Wait(SERVER_IS_FULL.format(limit=limit))


def _count_being_freed(candidates: Iterable[Candidate]) -> int:
    return sum(one.session.state == State.STOPPING for one in candidates)


def _number_in_front(own: PythonSession, kernels_of: Counter[int | None], own_limit: int) -> int:
    """Return the number of sessions that are before this one in the queue."""

    def key(session: PythonSession) -> tuple[int, object, int]:
        return kernels_of[session.owner_id], session.queued_at, session.pk

    queued = PythonSession.objects.filter(queued_at__isnull=False, busy_until__gt=Now()).exclude(pk=own.pk)
    waiting = [session for session in queued if session.state not in PythonSession.ALIVE]
    return sum(key(session) < key(own) for session in waiting if kernels_of[session.owner_id] < own_limit)


def _start(own: PythonSession) -> StartKernel:
    generation = own.generation + 1
    columns = {**GONE, "generation": generation, "busy_until": seconds_from_now(LEASE_S), "started_at": None}
    if own.state == State.ERROR:
        # Clear the note, which says why the last start failed.
        columns["note"] = ""
    if not PythonSession.objects.filter(pk=own.pk).change_state(State.STARTING, **columns):
        raise RuntimeError(f"session {own.pk} was changed although its row is locked")
    return StartKernel(generation)


def _evict(candidates: Iterable[Candidate], kernels_of: Counter[int | None], sentence: str) -> EvictKernel | None:
    """Claim the session that is ended for another one; return `None` if all of them are in use."""
    unused = [one.session for one in candidates if one.is_unused]
    unused.sort(key=lambda one: (one.is_kept, -kernels_of[one.owner_id], one.last_used_at, one.pk))
    for session in unused:
        # `begin_cell` does not wait for the admission lock, so a cell may have begun since the session was read.
        if begin_stop(session.pk, session.generation, sentence, only_idle=True):
            return EvictKernel(session)
    return None


def _candidates(rows: PythonSessionQuerySet) -> list[Candidate]:
    live = Turn.objects.filter(
        conversation=OuterRef("conversation"),
        engine=Engine.SESSION,
        status__in=[Turn.Status.QUEUED, Turn.Status.RUNNING],
    )
    is_leased = ExpressionWrapper(~IDLE, output_field=BooleanField())
    flagged = rows.annotate(is_leased=is_leased, has_live_turn=Exists(live))
    return [Candidate(row, getattr(row, "is_leased", False), getattr(row, "has_live_turn", False)) for row in flagged]
