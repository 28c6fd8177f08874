"""Stores the state of a block of code that runs again: its output so far, a request to stop it, and its verdict.

`Message.reruns` holds the state of each block, so a page that is loaded meanwhile shows the output so far. A block
counts as running until `until`, which its process renews. If the process dies, the block can be run again some seconds
later. Pages are updated when the reaper of sessions frees its kernel. `until` is a time of the database's clock,
because clocks of processes may differ. All functions run on a database thread.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.answering.turns.finish import increment_revision
from chat.models import Conversation, Message, Turn
from chat.models.plain_sql import database_time
from chat.page.transcript.reruns import is_running
from chat.python.reruns.verdicts import Comparison

LEASE_S = 15.0
"""Time for which a block counts as running after its process has stored something."""

_OF_RUN = ("output", "until", "is_stopping")
"""Keys of the state that a block has only while it runs."""


def begin(message_id: uuid.UUID, index: int) -> bool:
    """Store that a block runs; return False if it runs already, an answer is live, or the message was deleted."""
    with _locked(message_id) as message:
        state = _state(message, index)
        if message is None or is_running(state) or has_live_turn(message.conversation_id):
            return False
        _save(message, index, {**_without_run(state), "output": "", "until": _lease_end()})
        return True


def note_output(message_id: uuid.UUID, index: int, output: str) -> bool:
    """Store the output so far; return False if the block must stop: on request, or because the message was deleted."""
    with _locked(message_id) as message:
        state = _state(message, index)
        if message is None or "output" not in state or state.get("is_stopping"):
            return False
        _save(message, index, {**state, "output": output, "until": _lease_end()})
        return True


def request_stop(message_id: uuid.UUID, index: int) -> bool:
    """Ask the process that runs a block to stop it; return False if it does not run."""
    with _locked(message_id) as message:
        state = _state(message, index)
        if message is None or not is_running(state):
            return False
        _save(message, index, {**state, "is_stopping": True})
        return True


def end(message_id: uuid.UUID, index: int, comparison: Comparison | None, *, from_start: bool) -> bool:
    """Store a verdict in place of an earlier one; `None` keeps the earlier one. Return False for a deleted message."""
    with _locked(message_id) as message:
        if message is None:
            return False
        state = _with_verdict(comparison, from_start) if comparison else _without_run(_state(message, index))
        _save(message, index, state)
        _tell_pages(message)
        return True


def store_verdict(message_id: uuid.UUID, index: int, comparison: Comparison) -> bool:
    """Store the verdict of a block that ran before another one. Pages are updated at the end of that one.

    Return False for a deleted message, and for a block that another request runs again now.
    """
    with _locked(message_id) as message:
        if message is None or is_running(_state(message, index)):
            return False
        _save(message, index, _with_verdict(comparison, from_start=True))
        return True


def end_abandoned(message_id: uuid.UUID) -> bool:
    """End the blocks of a message whose process has died. Their earlier verdicts stay. Return False if none ran."""
    with _locked(message_id) as message:
        states: Mapping[str, Mapping[str, Any]] = (message and message.reruns) or {}
        if message is None or not any("output" in state for state in states.values()):
            return False
        message.reruns = {index: _without_run(state) for index, state in states.items()}
        message.save(update_fields=["reruns"])
        _tell_pages(message)
        return True


def has_live_turn(conversation_id: uuid.UUID) -> bool:
    """Return whether an answer is being written in a conversation."""
    return Turn.objects.live_of_everyone().filter(conversation=conversation_id).exists()


def _tell_pages(message: Message) -> None:
    if not has_live_turn(message.conversation_id):
        # Not during a live turn: each of its frames names the revision before it, so the revision must not change.
        increment_revision(message.conversation_id)


@contextmanager
def _locked(message_id: uuid.UUID) -> Iterator[Message | None]:
    rows = Message.objects.filter(pk=message_id)
    with transaction.atomic():
        # Lock the conversation, as starts of answers, other changes of its revision, and its deletion do.
        list(Conversation.with_deleted.select_for_update().filter(pk__in=rows.values("conversation")).values_list("pk"))
        yield rows.only("conversation_id", "reruns").first()


def _state(message: Message | None, index: int) -> Mapping[str, Any]:
    reruns: Mapping[str, Mapping[str, Any]] = (message and message.reruns) or {}
    return reruns.get(str(index), {})


def _without_run(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in _OF_RUN}


def _with_verdict(comparison: Comparison, from_start: bool) -> Mapping[str, Any]:
    return {
        "verdict": comparison.verdict.value,
        "detail": comparison.detail,
        "from_start": from_start,
        "at": timezone.now().isoformat(timespec="seconds"),
    }


def _save(message: Message, index: int, state: Mapping[str, Any]) -> None:
    message.reruns = {**(message.reruns or {}), str(index): dict(state)}
    message.save(update_fields=["reruns"])


def _lease_end() -> str:
    return (database_time() + timedelta(seconds=LEASE_S)).isoformat(timespec="seconds")
