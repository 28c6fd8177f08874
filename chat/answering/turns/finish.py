"""Ends a turn: its answer becomes rows, in the transaction that sets its last status."""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from django.db import OperationalError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from attachments.store import BytesUnavailable
from chat.answering.prompt.file_choice import FilesTooLarge
from chat.answering.turns.answer_cost import NO_BILL, Bill, bill_answer
from chat.answering.turns.private_results import BecamePrivate
from chat.answering.turns.stored_log import StoredLog
from chat.messages.answer import Answer
from chat.messages.closing import NOT_RELEASED, PRIVATE, Closing, call_changes, code_changes
from chat.messages.log import to_row
from chat.messages.records import cleared_attachments
from chat.messages.tool_sets import results_need_release
from chat.models import Conversation, Message, MessageAttachment, Part, Round, Turn, TurnEvent
from chat.models.plain_sql import update_rows
from chat.people.quotas.resources import Resource, day_of
from chat.people.quotas.usage import add_usage
from chat.providers.catalogue.setups import restore_setup
from chat.providers.provider_errors import ConnectionBroken, ProviderError, Unreachable
from chat.vocabulary.parts import OUTCOME_ABORTED, OUTCOME_LOST, Engine

logger = logging.getLogger(__name__)

LOG_LIFETIME = timedelta(minutes=15)
"""The log of an ended turn is kept so long for API clients that resume its event stream. Pages read the parts."""


@dataclass(frozen=True, slots=True)
class TurnError:
    """The reason why a turn failed or was interrupted."""

    code: str = ""
    """The error code; empty if there is no error."""
    detail: str = ""
    """Details for staff who may read conversations."""
    status: int | None = None
    """The HTTP status of the provider's response."""
    retry_after_s: float | None = None
    reason: str = ""
    """The provider's text about a refused request, cleaned for the reader."""

    @classmethod
    def of(cls, error: ProviderError, *, has_received: bool) -> TurnError:
        """Return the `TurnError` for a provider's error. `has_received`: whether a part of the answer came before."""
        code = ConnectionBroken.code if has_received and isinstance(error, Unreachable) else error.code
        return cls(code, error.detail, error.status, error.retry_after_s, error.reason)


NO_ERROR = TurnError()
ERROR_CODES: dict[type[Exception], str] = {
    FilesTooLarge: "files_too_large",
    BytesUnavailable: "file_unavailable",
    BecamePrivate: "became_private",
}
"""The error codes of this server's own errors that end a turn. See `chat.messages.notices`."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The last status of a turn, its error, and its final answer."""

    status: Turn.Status
    answer: Answer
    error: TurnError = NO_ERROR
    bill: Bill = NO_BILL
    ended_at: datetime = field(default_factory=timezone.now)
    """The time of the end. It is set once, so that the row and the page agree even if the write is repeated."""
    keeps_log: bool = False
    """True if the log is never deleted, because it could not be read."""

    def turn_fields(self) -> dict[str, object]:
        """Return the columns of the turn's row that the end sets."""
        answer, last_round = self.answer, self.answer.current_round
        moved = engine_after_move(is_off=answer.has_code_off) if answer.move_reason else {}
        return {
            **moved,
            "move_reason": answer.move_reason,
            "moved_before_round": answer.moved_before_round,
            "status": self.status,
            "ended_at": self.ended_at,
            "log_kept_until": None if self.keeps_log else self.ended_at + LOG_LIFETIME,
            "lease_expires_at": None,
            "usage": {} if answer.usage is None else answer.usage.counts(),
            "round_count": len(answer.rounds),
            "finish": last_round.finish or "",
            "finish_reason": last_round.finish_reason,
            "finish_message": self.error.reason or last_round.finish_message,
            "error_code": self.error.code,
            "error_detail": self.error.detail,
            "error_status": self.error.status,
            "retry_after_s": self.error.retry_after_s,
            "left_out": answer.messages_left_out,
            "cost": self.bill.cost,
            "model_note": self.bill.model_note,
            "response_id": last_round.response_id,
            "model_version": last_round.model_version,
            "sources": [asdict(source) for one in answer.rounds for source in one.sources],
            "queries": answer.queries,
        }

    def apply_to(self, turn: Turn) -> None:
        """Update the turn and its conversation in memory, after the end was stored."""
        for name, value in self.turn_fields().items():
            setattr(turn, name, value)
        # Nothing else changes the revision while a turn is live. It is not read again, because another change may
        # follow the end at once: pages would mistake the end for that change, and miss it.
        turn.conversation.revision += 1


def engine_after_move(*, is_off: bool) -> dict[str, object]:
    """Return the columns of a turn whose code moved to a tool set, or was turned off."""
    return {"engine": "", "code_execution": False, "offers_session": False} if is_off else {"engine": Engine.SESSION}


def closing_at_end(turn: Turn, status: Turn.Status) -> Closing:
    """Return how to close code and function calls that still run when their turn ends.

    A process that ends its turn stops them. After the death of a process, their outcome is unknown.
    """
    outcome = OUTCOME_LOST if status == Turn.Status.INTERRUPTED else OUTCOME_ABORTED
    if turn.private_data:
        return Closing(outcome, PRIVATE)
    return Closing(outcome, NOT_RELEASED if results_need_release(turn.conversation) else "")


def end_turn(turn: Turn, ending: Ending) -> None:
    """Store an answer as rows and end its turn. Raises RuntimeError if the turn has already ended."""
    end_turns([(turn, ending)])


def end_turns(ends: Sequence[tuple[Turn, Ending]]) -> None:
    """Store several answers and end their turns, with one insert for each table. Raises RuntimeError if a turn has
    already ended.

    `ends`: the turns, with their conversations, and how they end.
    """
    for status in {ending.status for _, ending in ends}:
        rows = {turn.pk: ending.turn_fields() for turn, ending in ends if ending.status == status}
        allowed = [before for before, following in Turn.TRANSITIONS.items() if status in following]
        if update_rows(Turn, rows, only={"status": allowed}) != len(rows):
            raise RuntimeError(f"not all of the turns {', '.join(map(str, rows))} can become {status}")
    update_rows(Message, {turn.message_id: {"text": ending.answer.text} for turn, ending in ends})
    increment_revisions([turn.conversation_id for turn, _ in ends], answered_at=timezone.now())
    Part.objects.bulk_create(row for turn, ending in ends for row in _parts(turn, ending.answer))
    MessageAttachment.objects.bulk_create(row for turn, ending in ends for row in _attachments(turn, ending.answer))
    Round.objects.bulk_create(row for turn, ending in ends for row in _rounds(turn, ending.answer))
    _count_tokens(ends)


def _count_tokens(ends: Sequence[tuple[Turn, Ending]]) -> None:
    """Count the tokens of answers for the quotas of their owners: reported tokens, and estimates of tokens that were
    not reported.
    """
    tokens: Counter[int] = Counter()
    for turn, ending in ends:
        usage = ending.answer.usage
        tokens[turn.conversation.owner_id] += (usage.total or 0) + (usage.estimated or 0) if usage else 0
    amounts = {owner_id: {Resource.TOKENS: number} for owner_id, number in tokens.items() if number}
    add_usage(amounts, day=day_of(timezone.now()), reads=())


def _parts(turn: Turn, answer: Answer) -> Iterator[Part]:
    ids = [uuid.UUID(attachment.attachment_id) for attachment in answer.attachments]
    for index, part in enumerate(answer.parts):
        attachment_id = ids[answer.part_attachments[index]] if index in answer.part_attachments else None
        yield Part.from_value(part, index=index, message_id=turn.message_id, attachment_id=attachment_id)


def _attachments(turn: Turn, answer: Answer) -> Iterator[MessageAttachment]:
    for attachment in (*answer.attachments, *cleared_attachments(answer)):
        yield MessageAttachment(
            message_id=turn.message_id,
            attachment_id=uuid.UUID(attachment.attachment_id),
            index=attachment.index,
            part_index=attachment.part_index,
        )


def _rounds(turn: Turn, answer: Answer) -> Iterator[Round]:
    for index, one in enumerate(answer.rounds):
        yield Round(
            turn_id=turn.pk,
            index=index,
            usage={} if one.usage is None else one.usage.counts(),
            provider_usage=one.provider_usage,
            finish=one.finish or "",
            finish_reason=one.finish_reason,
            finish_message=one.finish_message,
            response_id=one.response_id,
            model_version=one.model_version,
            metadata=one.metadata,
            started_calls=sorted(one.started_calls),
            state=one.state,
        )


def increment_revision(conversation_id: uuid.UUID) -> None:
    """Increment a conversation's revision, inside the transaction that changes its messages."""
    increment_revisions([conversation_id])


def increment_revisions(conversation_ids: Collection[uuid.UUID], *, answered_at: datetime | None = None) -> None:
    """Increment the revisions of several conversations by 1, as `increment_revision` does.

    `answered_at`: the time at which answers in them have ended; `None` if none has.
    """
    rows = Conversation.with_deleted.filter(pk__in=conversation_ids)
    ended = {} if answered_at is None else {"answered_at": answered_at}
    rows.update(revision=F("revision") + 1, updated_at=timezone.now(), **ended)


def end_turn_from_log(
    log: StoredLog, expected: QuerySet[Turn], status: Turn.Status, *, error_code: str = ""
) -> Turn | None:
    """End a turn with the answer in its log, and return it; `None` if it is no longer one of the `expected` turns."""
    with transaction.atomic():
        turn = expected.select_for_update(of=("self",)).filter(pk=log.turn_id).first()
        if turn is not None:
            log.read_on()
            _end_with_log(turn, log, status, error_code)
        return turn


def _end_with_log(turn: Turn, log: StoredLog, status: Turn.Status, error_code: str) -> None:
    try:
        with transaction.atomic():
            answer = log.answer
            _close(turn, log, closing_at_end(turn, status))
            setup = restore_setup(turn.parameters, provider=turn.provider, endpoint=turn.endpoint, model=turn.model)
            ending = Ending(status, answer, TurnError(error_code), bill_answer(answer.rounds, setup, turn))
            end_turn(turn, ending)
    except OperationalError:
        raise
    except Exception:
        # A log that this version cannot read must not block the conversation for ever. The turn is ended, and the log
        # is kept.
        logger.exception("turn %s could not be ended with its log", turn.pk)
        ending = Ending(Turn.Status.FAILED, Answer(), TurnError("storage"), keeps_log=True)
        end_turn(turn, ending)


def _close(turn: Turn, log: StoredLog, closing: Closing) -> None:
    """Close all code and all function calls that have not ended, in the answer and in the log."""
    answer = log.answer
    changes = answer.apply_all(code_changes(answer, closing.outcome)) + answer.apply_all(call_changes(answer, closing))
    rows = [(seq, *to_row(change)) for seq, change in enumerate(changes, log.last_seq + 1)]
    TurnEvent.objects.bulk_create(TurnEvent(turn=turn, seq=seq, name=name, data=data) for seq, name, data in rows)


def fail_turn(turn_id: uuid.UUID, *, lease_owner: str) -> None:
    """End a turn whose newest changes cannot be stored, with the answer in its log."""
    ours = Turn.objects.filter(status__in=Turn.LIVE, lease_owner=lease_owner)
    end_turn_from_log(StoredLog(turn_id), ours, Turn.Status.FAILED, error_code="storage")
