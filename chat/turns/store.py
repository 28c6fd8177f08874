"""Every database write of a live turn, and the reads that must agree with them.

Group commit: one round writes what changed in all live turns of this process in one transaction, and only then
may it be published. A round writes for a turn only while this process holds its lease; a turn that was taken
away (its lease ran out while the process hung) is reported as lost and nothing more of it is stored.

All of it runs on one thread with one connection (`run`), apart from Django's shared thread, so that no page and
no other socket's query stands between a part and its commit.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import DurationField, F
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now
from django.utils import timezone

from attachments.store import new_pending
from chat.catalogue.setups import setup_from
from chat.fragments import ConversationUsage
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, TurnEvent
from chat.statements import Given, Insert, Select, Update, given
from chat.turns.answer import Answer, FoundAttachment
from chat.turns.log import Row, fold
from chat.turns.spending import answer_cost, conversation_usage

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)

ALREADY_STORED = IntegrityError
"""What storing a round twice raises: `seq` is unique in its turn."""

# What every round or every end asks; see `chat.statements`.
_HELD = Select(
    lambda count: (
        Turn.objects.select_for_update()
        .filter(
            pk__in=[given(Turn, "id", f"turn_{number}") for number in range(count)],
            status=Turn.Status.RUNNING,
            lease_owner=given(Turn, "lease_owner"),
        )
        .order_by()
        .values_list("pk", "stop_requested")
    )
)
GIVEN_LEASE = Given("lease", DurationField())
"""The length of a lease, in a statement."""

_NEW_EVENT = Insert(TurnEvent)
_NEW_PART = Insert(Part)
_NEW_PLACE = Insert(MessageAttachment)
_FIRST_PART = Update(lambda: Turn.objects.filter(pk=given(Turn, "id")), first_part_at=given(Turn, "first_part_at"))
_TEXT = Update(lambda: Message.objects.filter(pk=given(Message, "id")), text=given(Message, "text"))
_REVISION = Select(lambda: Conversation.objects.filter(pk=given(Conversation, "id")).values_list("revision"))
_BUMP = Update(
    lambda: Conversation.objects.filter(pk=given(Conversation, "id")),
    revision=F("revision") + 1,
    updated_at=given(Conversation, "updated_at"),
)
_ENDED_FIELDS = (
    *("status", "ended_at", "lease_expires_at", "usage", "finish_reason", "finish_message", "error_code"),
    *("error_detail", "retry_after_s", "left_out", "cost", "response_id", "model_version", "metadata"),
)
_END = Update(
    lambda: Turn.objects.filter(
        pk=given(Turn, "id"), status__in=[given(Turn, "status", before) for before in ("before", "or_before")]
    ),
    **{name: given(Turn, name) for name in _ENDED_FIELDS},
)

_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="turn-store")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends, and the answer it leaves."""

    status: Turn.Status
    answer: Answer
    error_code: str = ""
    error_detail: str = ""
    retry_after_s: float | None = None
    cost: Decimal | None = None
    """US dollars."""
    ended_at: datetime = field(default_factory=timezone.now)
    """Set once: the row and the page say the same, however often it is written."""

    def turn_fields(self) -> dict[str, Any]:
        """What the turn's row says from then on."""
        answer = self.answer
        return {
            "status": self.status,
            "ended_at": self.ended_at,
            "lease_expires_at": None,
            "usage": {} if answer.usage is None else asdict(answer.usage),
            "finish_reason": answer.finish_reason or answer.block_reason,
            "finish_message": answer.finish_message,
            "error_code": self.error_code,
            "error_detail": self.error_detail,
            "retry_after_s": self.retry_after_s,
            "left_out": answer.left_out,
            "cost": self.cost,
            "response_id": answer.response_id,
            "model_version": answer.model_version,
            "metadata": answer.metadata,
        }


@dataclass(slots=True)
class Batch:
    """What one live turn adds in one round."""

    turn_id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID
    owner_id: int
    first_seq: int
    rows: list[Row]
    attachments: list[FoundAttachment] = field(default_factory=list)
    ending: Ending | None = None
    brings_first_part: bool = False
    renews_lease: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """A conversation after one of its turns has ended."""

    revision: int
    usage: ConversationUsage


@dataclass(slots=True)
class Round:
    """What a round found out."""

    lost: set[uuid.UUID] = field(default_factory=set)
    """Turns this process no longer holds: nothing was stored for them."""
    stop_requested: set[uuid.UUID] = field(default_factory=set)
    ended: dict[uuid.UUID, Ended] = field(default_factory=dict)
    """Turn -> what its conversation is then, for turns that ended."""


async def run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of this module on the store's thread."""

    def call() -> T:
        try:
            return function(*args, **kwargs)
        except (OperationalError, InterfaceError):
            # The thread keeps its connection; one that the database has dropped is opened anew next time.
            if connection.connection is not None and not connection.is_usable():
                connection.close()
            raise

    return await asyncio.get_running_loop().run_in_executor(_executor, call)


def run_later(function: Callable[[], None]) -> None:
    """Call a function on the store's thread, ahead of what comes after; what it raises is logged."""

    def call() -> None:
        try:
            function()
        except Exception:
            logger.warning("%s could not be called", function.__qualname__, exc_info=True)

    _executor.submit(call)


def close_connection() -> None:
    """Close the store thread's connection; the next call opens a new one."""
    _executor.submit(lambda: connection.close()).result()


def write_round(batches: Sequence[Batch], *, lease_owner: str) -> Round:
    """Store one round of group commit, and renew the leases that are due."""
    result = Round()
    with transaction.atomic():
        held = _held([batch.turn_id for batch in batches], lease_owner)
        result.lost = {batch.turn_id for batch in batches} - held.keys()
        result.stop_requested = {turn_id for turn_id, stop_requested in held.items() if stop_requested}
        mine = [batch for batch in batches if batch.turn_id in held]
        for batch in mine:
            _store_attachments(batch)
        _NEW_EVENT.many(
            {"turn_id": batch.turn_id, "seq": batch.first_seq + offset, "name": name, "data": data}
            for batch in mine
            for offset, (name, data) in enumerate(batch.rows)
        )
        if renewed := [batch.turn_id for batch in mine if batch.renews_lease]:
            Turn.objects.filter(pk__in=renewed).update(lease_expires_at=lease_end())
        for batch in mine:
            if batch.brings_first_part:
                _FIRST_PART.run(id=batch.turn_id, first_part_at=timezone.now())
            if batch.ending:
                _end(batch.turn_id, batch.message_id, batch.conversation_id, batch.ending)
    for batch in mine:
        if batch.ending:
            result.ended[batch.turn_id] = _ended(batch.conversation_id)
    return result


def _held(turn_ids: Sequence[uuid.UUID], lease_owner: str) -> dict[uuid.UUID, bool]:
    """Of these turns, those that the owner of a lease still holds, and whether someone asked to stop them."""
    # In a few sizes, so that few statements are compiled.
    size = 1 << (len(turn_ids) - 1).bit_length()
    ids = {f"turn_{number}": turn_ids[min(number, len(turn_ids) - 1)] for number in range(size)}
    return dict(_HELD.rows(size, lease_owner=lease_owner, **ids))


def stored_after_all(batches: Sequence[Batch]) -> dict[uuid.UUID, Ended]:
    """Which of these rounds were committed although nobody heard of it: turn -> what its conversation is now."""
    return {
        batch.turn_id: _ended(batch.conversation_id)
        for batch in batches
        if TurnEvent.objects.filter(turn_id=batch.turn_id, seq=batch.first_seq + len(batch.rows) - 1).exists()
    }


def fail(turn_id: uuid.UUID, *, lease_owner: str) -> None:
    """End a turn whose newest part cannot be stored, with what its log holds."""
    with transaction.atomic():
        turn = Turn.objects.select_for_update().filter(pk=turn_id, lease_owner=lease_owner).first()
        if turn is not None and turn.is_live:
            _end_from_log(turn, Turn.Status.FAILED, error_code="storage")


def _store_attachments(batch: Batch) -> None:
    for found in batch.attachments:
        assert found.data is not None
        new_pending(
            attachment_id=uuid.UUID(found.attachment_id),
            owner_id=batch.owner_id,
            data=found.data,
            name=found.name,
            mime_type=found.mime_type,
            width=found.width,
            height=found.height,
            is_graph=found.is_graph,
        )


def _ended(conversation_id: uuid.UUID) -> Ended:
    """Read after the commit: nothing that is only shown may cost an answer."""
    [(revision,)] = _REVISION.rows(id=conversation_id)
    return Ended(revision, conversation_usage(conversation_id))


def _end(turn_id: uuid.UUID, message_id: uuid.UUID, conversation_id: uuid.UUID, ending: Ending) -> None:
    """Fold the answer into rows and end the turn."""
    answer = ending.answer
    before = [status for status, after in Turn.TRANSITIONS.items() if ending.status in after]
    changed = _END.run(id=turn_id, before=before[0], or_before=before[-1], **ending.turn_fields())
    if changed != 1:
        raise RuntimeError(f"turn {turn_id} cannot become {ending.status}")
    ids = [uuid.UUID(attachment.attachment_id) for attachment in answer.attachments]
    _NEW_PART.many(
        {
            "message_id": message_id,
            "index": index,
            "kind": part.kind,
            "text": part.text,
            "language": part.language,
            "outcome": part.outcome,
            "call_id": part.call_id,
            "mime_type": part.mime_type,
            "attachment_id": ids[answer.part_attachments[index]] if index in answer.part_attachments else None,
            "fields": dict(part.fields),
            "thought_signature": part.thought_signature,
        }
        for index, part in enumerate(answer.parts)
    )
    _NEW_PLACE.many(
        {
            "message_id": message_id,
            "attachment_id": ids[attachment.index],
            "index": attachment.index,
            "part_index": attachment.part_index,
        }
        for attachment in answer.attachments
    )
    _TEXT.run(id=message_id, text=answer.text)
    _BUMP.run(id=conversation_id, updated_at=timezone.now())


def bump_revision(conversation_id: uuid.UUID) -> int:
    """Count a change of the transcript's shape; inside the transaction that makes it."""
    _BUMP.run(id=conversation_id, updated_at=timezone.now())
    [(revision,)] = _REVISION.rows(id=conversation_id)
    return int(revision)


def request_stop(conversation_id: uuid.UUID, turn_id: uuid.UUID | None = None) -> uuid.UUID | None:
    """Ask whichever process runs the conversation's live turn, or this one of it, to stop it; that turn's id."""
    live = Turn.objects.filter(conversation_id=conversation_id, status__in=Turn.LIVE)
    if turn_id is not None:
        live = live.filter(pk=turn_id)
    found = live.values_list("pk", flat=True).first()
    if found:
        Turn.objects.filter(pk=found).update(stop_requested=True)
    return found


def interrupt_expired(*, alive: Collection[uuid.UUID] = ()) -> list[uuid.UUID]:
    """End every live turn whose lease ran out, but for those that are `alive` in this process.

    Returns the conversations that changed.
    """
    changed = []
    expired = Turn.objects.filter(status__in=Turn.LIVE, lease_expires_at__lt=Now()).exclude(pk__in=alive)
    for turn_id in list(expired.values_list("pk", flat=True)):
        with transaction.atomic():
            turn = expired.select_for_update().filter(pk=turn_id).first()
            if turn is not None:
                _end_from_log(turn, Turn.Status.INTERRUPTED)
                changed.append(turn.conversation_id)
    return changed


def _end_from_log(turn: Turn, status: Turn.Status, *, error_code: str = "") -> None:
    try:
        with transaction.atomic():
            answer = fold(turn.events.order_by("seq").values_list("name", "data"))
            setup = setup_from(turn.parameters, provider=turn.provider, model=turn.model)
            ending = Ending(status, answer, error_code, cost=answer_cost(answer.usage, setup))
            _end(turn.pk, turn.message_id, turn.conversation_id, ending)
    except OperationalError:
        raise
    except Exception:
        # A log that this version cannot read must not keep the conversation closed for ever; its rows stay.
        logger.exception("the log of turn %s could not be folded", turn.pk)
        ending = Ending(Turn.Status.FAILED, Answer(), "storage")
        _end(turn.pk, turn.message_id, turn.conversation_id, ending)


def forget_old_logs(*, older_than: timedelta) -> int:
    """Delete the logs of turns that ended long ago: their parts stand in rows of their own. How many rows."""
    rows = TurnEvent.objects.filter(turn__ended_at__lt=Now() - older_than, turn__message__parts__isnull=False)
    deleted, _ = TurnEvent.objects.filter(pk__in=list(rows.values_list("pk", flat=True).distinct()[:5000])).delete()
    return deleted


def lease_length() -> timedelta:
    """How long a lease lasts."""
    return timedelta(seconds=settings.TURN_LEASE_S)


def lease_end(length: timedelta | Given | None = None) -> CombinedExpression:
    """When a lease taken now runs out, on the database's clock: those of processes may differ."""
    return Now() + (length or lease_length())
