"""Resumes a turn that waits for a person's decision, in the process that receives the decision."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.start_rules import TOO_MANY_LIVE
from chat.answering.turns.store import lease_end
from chat.answering.turns.stored_log import StoredLog
from chat.messages.answer import Answer
from chat.messages.approval import Approval, ApprovalDecision, awaited_approval, decision_change, is_repeated
from chat.messages.changes import CallDecided
from chat.messages.log import fold, to_row
from chat.models import CallDecision, Turn, TurnEvent
from chat.people.quotas.resources import day_of
from chat.people.quotas.usage import add_usage
from chat.providers.catalogue.setups import restore_setup

NOT_WAITING = "This answer does not wait for a decision any more."
WAITS_FOR_ANOTHER = "This answer waits for another decision by now. Look at what it asks, then decide again."
ALREADY_APPROVED = "This was approved already."
ALREADY_DENIED = "This was denied already."
DENIED_BY_TIMEOUT = "This was denied, because nobody had decided within {hours} h."
NO_CODE = "There is no code here that could be changed."


class DecisionRefused(Exception):
    """A turn does not wait for this decision. The text is a sentence that says why."""


class CodeRefused(Exception):
    """A decision changes the code of a call that has no code. The text is a sentence that says so."""


def decide_call(
    authorise: Callable[[], uuid.UUID], decision: ApprovalDecision, *, lease_owner: str
) -> tuple[PlannedTurn, Answer, int] | None:
    """Store a decision and take the turn's lease. Return the turn, with the answer and the last step of its log.

    Returns `None` if exactly this decision was stored before.

    `authorise`: checks that the decision may be made, and returns the turn's id. Raises its errors, DecisionRefused
    (see `_reason` and `_check_live_turns`), and CodeRefused if there is no code to change. Must not run on the thread
    of `turn_store`, see `StoredLog`. If two decisions are made at the same time, the second finds the turn running.
    """
    log = StoredLog(authorise())
    with transaction.atomic():
        turn_id = authorise()
        turn = _lock_turn(turn_id)
        if log.turn_id == turn_id:
            log.read_on()
        else:
            # The second call of `authorise` returned another turn than the first.
            log = StoredLog(turn_id)
        answer = log.answer
        change = decision_change(answer, decision) if turn.status == Turn.Status.WAITING else None
        if change is None:
            if is_repeated(answer, decision):
                return None
            raise DecisionRefused(_reason(turn, answer, decision))
        approval = awaited_approval(answer)
        if decision.code is not None and not (approval and approval.takes_code):
            raise CodeRefused(NO_CODE)
        if not decision.is_timeout:
            _check_live_turns(turn.conversation.owner_id)
        seq = log.last_seq + 1
        _store(turn, change, seq, lease_owner)
        _record(turn, change, decision.decided_by)
        answer.apply(change)
        turn.moved_before_round = answer.moved_before_round
    setup = restore_setup(turn.parameters, provider=turn.provider, endpoint=turn.endpoint, model=turn.model)
    return PlannedTurn(turn, setup, has_question=False), answer, seq


def _lock_turn(turn_id: uuid.UUID) -> Turn:
    """Lock a turn and return it with the rows that it needs to run on. Raises DecisionRefused if it was deleted."""
    turns = Turn.objects.select_for_update(of=("self",))
    related = "conversation__owner", "conversation__project", "message", "user_message"
    turn = turns.select_related(*related).filter(pk=turn_id).first()
    if turn is None:
        raise DecisionRefused(NOT_WAITING)
    return turn


def _check_live_turns(owner_id: int) -> None:
    """Raise DecisionRefused if the owner already has the maximum number of answers that are being written.

    A waiting turn does not count, so a person can have more of these. The counter of the owner is locked, as by a
    start, so that no other process starts or resumes a turn of the same person before this one counts.
    """
    add_usage({owner_id: {}}, day=day_of(timezone.now()), reads=())
    live = Turn.objects.live_of_everyone().filter(conversation__owner_id=owner_id)
    written = live.exclude(status=Turn.Status.WAITING).count()
    if written >= settings.LIVE_TURNS_LIMIT:
        raise DecisionRefused(TOO_MANY_LIVE.format(number=written))


def _store(turn: Turn, change: CallDecided, seq: int, lease_owner: str) -> None:
    """Append the decision to the log, and take the lease."""
    name, data = to_row(change)
    TurnEvent.objects.create(turn=turn, seq=seq, name=name, data=data)
    turn.status, turn.lease_owner = Turn.Status.RUNNING, lease_owner
    turn.lease_expires_at = lease_end()
    turn.save(update_fields=["status", "lease_owner", "lease_expires_at"])


def _record(turn: Turn, change: CallDecided, decided_by: int | None) -> None:
    """Store the decision permanently. The log is deleted after the end of the turn, and does not say who decided."""
    CallDecision.objects.create(
        turn=turn,
        call_id=change.call_id,
        is_result=change.is_result,
        is_approved=change.is_approved,
        code=change.code,
        decided_by_id=decided_by,
        is_timeout=change.is_timeout,
    )


def _reason(turn: Turn, answer: Answer, decision: ApprovalDecision) -> str:
    """Return a sentence that says why a decision is refused: it is too late, or about something else."""
    stored = answer.decisions.get(decision.approval_id)
    if stored is not None and stored.is_timeout:
        return DENIED_BY_TIMEOUT.format(hours=settings.APPROVAL_LIMIT_H)
    if stored is not None:
        return ALREADY_APPROVED if stored.is_approved else ALREADY_DENIED
    return WAITS_FOR_ANOTHER if turn.status == Turn.Status.WAITING else NOT_WAITING


def current_approval(turn: Turn) -> Approval | None:
    """Return the question that a waiting turn asks; `None` if the turn does not wait."""
    if turn.status != Turn.Status.WAITING:
        return None
    return awaited_approval(fold(turn.events.order_by("seq").values_list("name", "data")))
