"""Resumes a turn that waits for a person's decision, in the process that receives the decision."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db import transaction

from chat.answers.answer import Answer
from chat.answers.changes import CallDecided
from chat.answers.log import fold, to_row
from chat.catalogue.setups import restore_setup
from chat.models import Turn, TurnEvent
from chat.turns.start_plan import StartedTurn
from chat.turns.store import lease_end


@dataclass(frozen=True, slots=True)
class ResumedTurn:
    """A turn that this process has claimed, with the answer and the last step of its log."""

    started: StartedTurn
    answer: Answer
    seq: int


def decide_call(turn_id: uuid.UUID, call_id: str, *, is_approved: bool, lease_owner: str) -> ResumedTurn | None:
    """Store a decision and take the turn's lease; return `None` if the turn does not wait for this decision.

    Runs on the database thread. Of two decisions that are made at once, one finds the turn running.
    """
    with transaction.atomic():
        turn = (
            Turn.objects.select_for_update(of=("self",))
            .select_related("conversation", "message", "user_message")
            .filter(pk=turn_id, status=Turn.Status.WAITING)
            .first()
        )
        if turn is None:
            return None
        rows = list(turn.events.order_by("seq").values_list("seq", "name", "data"))
        answer = fold((name, data) for _, name, data in rows)
        if answer.awaited_call != call_id:
            return None
        change = CallDecided(call_id, is_approved)
        name, data = to_row(change)
        seq = rows[-1][0] + 1
        TurnEvent.objects.create(turn=turn, seq=seq, name=name, data=data)
        answer.apply(change)
        turn.status, turn.lease_owner = Turn.Status.RUNNING, lease_owner
        turn.lease_expires_at = lease_end()
        turn.save(update_fields=["status", "lease_owner", "lease_expires_at"])
    setup = restore_setup(turn.parameters, provider=turn.provider, endpoint=turn.endpoint, model=turn.model)
    return ResumedTurn(StartedTurn(turn, setup, has_question=False), answer, seq)
