"""Rows of sessions for tests that need no kernel."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from chat.models import PythonSession, User
from chat.python.sessions.rows import State
from tests.factories import make_conversation, make_user


def make_session(owner: User | None = None, *, unused_s: float = 60, **columns: Any) -> PythonSession:
    """Create the session of a new conversation, with a kernel that was used so many seconds ago."""
    conversation = make_conversation(owner or make_user())
    values = {"state": State.RUNNING, "kernel_id": "k", "generation": 1, **columns}
    values.setdefault("last_used_at", timezone.now() - timedelta(seconds=unused_s))
    return PythonSession.objects.create(conversation=conversation, owner=conversation.owner, **values)


def make_stopped(owner: User | None = None, **columns: Any) -> PythonSession:
    """Create the session of a new conversation, without a kernel."""
    return make_session(owner, **{"state": State.STOPPED, "kernel_id": "", "generation": 0, **columns})


def soon(seconds: float = 60) -> Any:  # noqa: ANN401 - a datetime
    """Return a time that many seconds from now."""
    return timezone.now() + timedelta(seconds=seconds)
