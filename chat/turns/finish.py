"""The end of a turn: its answer becomes rows, in the transaction that sets its last status."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from chat.answers.answer import Answer
from chat.answers.log import fold
from chat.catalogue.setups import restore_setup
from chat.models import Conversation, Message, MessageAttachment, Part, Round, Turn
from chat.transcript.usage import answer_cost

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ending:
    """The last status of a turn, its error, and its final answer."""

    status: Turn.Status
    answer: Answer
    error_code: str = ""
    error_detail: str = ""
    retry_after_s: float | None = None
    cost: Decimal | None = None
    """US dollars."""
    ended_at: datetime = field(default_factory=timezone.now)
    """Set once, so that the row and the page agree even if the write is repeated."""

    def turn_fields(self) -> dict[str, Any]:
        """Return the columns of the turn's row that the end sets."""
        answer, last_round = self.answer, self.answer.current_round
        return {
            "status": self.status,
            "ended_at": self.ended_at,
            "lease_expires_at": None,
            "usage": {} if answer.usage is None else asdict(answer.usage),
            "round_count": len(answer.rounds),
            "finish": last_round.finish or "",
            "finish_reason": last_round.finish_reason,
            "finish_message": last_round.finish_message,
            "error_code": self.error_code,
            "error_detail": self.error_detail,
            "retry_after_s": self.retry_after_s,
            "left_out": answer.messages_left_out,
            "cost": self.cost,
            "response_id": last_round.response_id,
            "model_version": last_round.model_version,
            "sources": [asdict(source) for one in answer.rounds for source in one.sources],
            "queries": [query for one in answer.rounds for query in one.queries],
        }


class EndedTurn(NamedTuple):
    """A turn that ends."""

    turn_id: uuid.UUID
    message_id: uuid.UUID
    conversation_id: uuid.UUID
    ending: Ending


def end_turn(turn_id: uuid.UUID, message_id: uuid.UUID, conversation_id: uuid.UUID, ending: Ending) -> None:
    """Store an answer as rows and end its turn. Raises RuntimeError for a turn that has ended already."""
    end_turns([EndedTurn(turn_id, message_id, conversation_id, ending)])


def end_turns(turns: Sequence[EndedTurn]) -> None:
    """Store several answers and end their turns, with one insert for each table. Raises as `end_turn` does."""
    for turn in turns:
        ending = turn.ending
        allowed = [status for status, following in Turn.TRANSITIONS.items() if ending.status in following]
        if Turn.objects.filter(pk=turn.turn_id, status__in=allowed).update(**ending.turn_fields()) != 1:
            raise RuntimeError(f"turn {turn.turn_id} cannot become {ending.status}")
        Message.objects.filter(pk=turn.message_id).update(text=ending.answer.text)
        increment_revision(turn.conversation_id)
    Part.objects.bulk_create(row for turn in turns for row in _parts(turn))
    MessageAttachment.objects.bulk_create(row for turn in turns for row in _attachments(turn))
    Round.objects.bulk_create(row for turn in turns for row in _rounds(turn))


def _parts(turn: EndedTurn) -> Iterator[Part]:
    answer = turn.ending.answer
    ids = [uuid.UUID(attachment.attachment_id) for attachment in answer.attachments]
    for index, part in enumerate(answer.parts):
        attachment_id = ids[answer.part_attachments[index]] if index in answer.part_attachments else None
        yield Part.from_value(part, index=index, message_id=turn.message_id, attachment_id=attachment_id)


def _attachments(turn: EndedTurn) -> Iterator[MessageAttachment]:
    for attachment in turn.ending.answer.attachments:
        yield MessageAttachment(
            message_id=turn.message_id,
            attachment_id=uuid.UUID(attachment.attachment_id),
            index=attachment.index,
            part_index=attachment.part_index,
        )


def _rounds(turn: EndedTurn) -> Iterator[Round]:
    for index, one in enumerate(turn.ending.answer.rounds):
        yield Round(
            turn_id=turn.turn_id,
            index=index,
            usage={} if one.usage is None else asdict(one.usage),
            provider_usage=one.provider_usage,
            finish=one.finish or "",
            finish_reason=one.finish_reason,
            finish_message=one.finish_message,
            response_id=one.response_id,
            model_version=one.model_version,
            metadata=one.metadata,
            started_calls=sorted(one.started_calls),
        )


def increment_revision(conversation_id: uuid.UUID) -> None:
    """Increment a conversation's revision, inside the transaction that changes its messages."""
    Conversation.objects.filter(pk=conversation_id).update(revision=F("revision") + 1, updated_at=timezone.now())


def end_turn_from_log(turn: Turn, status: Turn.Status, *, error_code: str = "") -> None:
    """End a turn with the answer in its log, inside the transaction that has locked the turn."""
    try:
        with transaction.atomic():
            answer = fold(turn.events.order_by("seq").values_list("name", "data"))
            setup = restore_setup(turn.parameters, provider=turn.provider, endpoint=turn.endpoint, model=turn.model)
            ending = Ending(status, answer, error_code, cost=answer_cost(answer.usage, setup))
            end_turn(turn.pk, turn.message_id, turn.conversation_id, ending)
    except OperationalError:
        raise
    except Exception:
        # A log that this version cannot read must not block the conversation for ever. The log is not deleted.
        logger.exception("the log of turn %s could not be read", turn.pk)
        ending = Ending(Turn.Status.FAILED, Answer(), "storage")
        end_turn(turn.pk, turn.message_id, turn.conversation_id, ending)


def fail_turn(turn_id: uuid.UUID, *, lease_owner: str) -> None:
    """End a turn whose newest changes cannot be stored, with the answer in its log."""
    with transaction.atomic():
        turn = Turn.objects.select_for_update().filter(pk=turn_id, lease_owner=lease_owner).first()
        if turn is not None and turn.is_live:
            end_turn_from_log(turn, Turn.Status.FAILED, error_code="storage")
