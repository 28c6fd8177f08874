"""Lifetime of a session: it ends after some time without use, or when the time for which its owner keeps it is over.

A kept session ends sooner only if its owner or staff end it, if code that it left running has used up the owner's time,
or if another session waits for a kernel while all sessions that are not kept run code.
"""

from __future__ import annotations

import math
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from chat.models import PythonSession
from chat.models.python_sessions import PythonSessionQuerySet
from chat.python.sessions.limits import lock_admission
from chat.python.sessions.rows import State, seconds_from_now

KEEP_S = 24 * 60 * 60
KEPT_PER_PERSON_LIMIT = 1
KEPT_SHARE = 4
"""At most one in KEPT_SHARE sessions of the server may be kept, but always one."""

PERSON_KEEPS_ALL = (
    "You keep the Python session of “{title}” already, and one person may keep {number}. Stop keeping it first."
)
SERVER_KEEPS_ALL = "This server keeps {number} Python sessions already, which is its limit. Try again later."


class KeepRefused(Exception):
    """The session cannot be kept now. The text is a sentence that says why."""


def seconds_left(session: PythonSession) -> int | None:
    """Return the seconds until an unused session ends; `None` if it has no kernel, or code runs there."""
    if session.state != State.RUNNING or session.is_busy or session.last_used_at is None:
        return None
    ends_at = session.last_used_at + timedelta(seconds=settings.KERNEL_IDLE_LIMIT_S)
    if session.kept_until is not None:
        ends_at = max(ends_at, session.kept_until)
    return max(0, math.ceil((ends_at - timezone.now()).total_seconds()))


def keep(session: PythonSession) -> bool:
    """Keep a session for a day from now; return False if it has no kernel. Runs queries.

    Raises KeepRefused if the person or the server keeps the maximum number of sessions already.
    """
    with transaction.atomic():
        lock_admission(session.pk)
        kept = PythonSession.objects.alive().filter(kept_until__gt=Now()).exclude(pk=session.pk)
        own = list(kept.filter(owner=session.owner_id).select_related("conversation"))
        if len(own) >= KEPT_PER_PERSON_LIMIT:
            title = str(own[0].conversation)
            raise KeepRefused(PERSON_KEEPS_ALL.format(title=title, number=KEPT_PER_PERSON_LIMIT))
        limit = max(1, settings.KERNELS_LIMIT // KEPT_SHARE)
        if kept.count() >= limit:
            raise KeepRefused(SERVER_KEEPS_ALL.format(number=limit))
        return _running(session).update(kept_until=seconds_from_now(KEEP_S)) == 1


def stop_keeping(session: PythonSession) -> bool:
    """Let a session end after some time without use, like others; return False if it has no kernel."""
    return _running(session).update(kept_until=None) == 1


def _running(session: PythonSession) -> PythonSessionQuerySet:
    return PythonSession.objects.filter(pk=session.pk, generation=session.generation, state=State.RUNNING)
