"""How long a session lives: until it was not used for some time, or as long as its owner keeps it.

A kept session ends sooner only if its owner or staff end it, its code left running has used up the owner's time, or
all sessions of the server that are not kept run code while another one waits for a kernel.
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
"""One in so many sessions of the server may be kept, and at least one."""

PERSON_KEEPS_ALL = (
    "You keep the Python session of “{title}” already, and one person may keep {number}. Stop keeping it first."
)
SERVER_KEEPS_ALL = "This server keeps {number} Python sessions already, which is its limit. Try again later."


class KeepRefused(Exception):
    """The session cannot be kept now. The text is a sentence that says why."""


def seconds_left(session: PythonSession) -> int | None:
    """Return after how many seconds without use a session ends; `None` if it has no kernel, or code runs there."""
    if session.state != State.RUNNING or session.is_busy or session.last_used_at is None:
        return None
    ends_at = session.last_used_at + timedelta(seconds=settings.KERNEL_IDLE_LIMIT_S)
    if session.kept_until is not None:
        ends_at = max(ends_at, session.kept_until)
    return max(0, math.ceil((ends_at - timezone.now()).total_seconds()))


def keep(session: PythonSession) -> bool:
    """Keep a session for a day from now; return False if it has no kernel now. Raises KeepRefused. Runs queries."""
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
    """Let a session end when it was not used for some time; return False if it has no kernel now."""
    return _running(session).update(kept_until=None) == 1


def _running(session: PythonSession) -> PythonSessionQuerySet:
    return PythonSession.objects.filter(pk=session.pk, generation=session.generation, state=State.RUNNING)
