"""Stores the changes of live turns, renews their leases, and records requests to stop them.

`write` stores the changes of several live turns of this process in one transaction, before any page shows them. It
writes only for turns whose lease this process holds. The other functions are synchronous.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from attachments.store import NewAttachment, create_attachments
from chat.answering.turns.finish import Ending, end_turn_from_log, end_turns, engine_after_move
from chat.answering.turns.log_sql import append_rows, lock_held_turns
from chat.answering.turns.stored_log import StoredLog
from chat.answering.turns.turn_threads import turn_store
from chat.messages.changes import AttachmentAdded, Change, EngineMoved, PartStarted
from chat.messages.log import Row, to_row
from chat.models import Conversation, Turn, TurnEvent
from chat.models.plain_sql import database_time, update_rows
from chat.page.message_views import ConversationUsage
from chat.page.relay import broadcast
from chat.page.transcript.usage import conversation_usages


class TurnLost(Exception):
    """This process no longer holds the turn's lease. Nothing was stored."""


@dataclass(frozen=True, kw_only=True)
class TurnWrite:
    """The changes of one live turn that are stored in one transaction."""

    turn: Turn
    """The row, with its conversation."""
    first_seq: int
    changes: Sequence[Change]
    had_no_part: bool = False
    """True if the answer had no part before these changes."""
    ending: Ending | None = None
    waits_after_s: float | None = None
    """Seconds that the turn has run, if it now waits for a person's decision; otherwise `None`."""

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows of the log: the changes, then the status if the turn ends or waits."""
        rows = [to_row(change) for change in self.changes]
        if self.ending:
            rows.append(("status", {"status": self.ending.status.value}))
        elif self.waits:
            rows.append(("waiting", {}))
        return rows

    @property
    def has_first_part(self) -> bool:
        """Return whether the first part of the answer is among the changes."""
        return self.had_no_part and any(isinstance(change, PartStarted) for change in self.changes)

    @property
    def waits(self) -> bool:
        """Return whether the turn now waits for a person's decision."""
        return self.waits_after_s is not None

    @property
    def last_seq(self) -> int:
        """The `seq` of the last row."""
        return self.first_seq + len(self.rows) - 1


@dataclass(frozen=True, slots=True)
class StoreResult:
    """The result of storing the changes of one turn."""

    is_stop_requested: bool = False
    usage: ConversationUsage | None = None
    """The usage of the conversation, only for a turn that has ended."""


async def write(writes: Sequence[TurnWrite]) -> list[StoreResult | Exception]:
    """Store the writes of several turns in one transaction. The result for a turn may be TurnLost.

    Raises django.db.OperationalError or InterfaceError while the database is unavailable.
    """
    try:
        results = await turn_store.run(_write, writes)
    except IntegrityError:
        # `seq` is unique, so this error shows that the log may already have these rows: the connection can break after
        # a commit, before its confirmation arrives.
        stored = await turn_store.run(_already_stored, writes)
        if not stored:
            raise
        return [stored.get(one.turn.pk, TurnLost()) for one in writes]
    lost = [one for one, result in zip(writes, results, strict=True) if isinstance(result, TurnLost)]
    if lost:
        stored = await turn_store.run(_already_stored, lost)
        results = [stored.get(one.turn.pk, result) for one, result in zip(writes, results, strict=True)]
    return results


def _write(writes: Sequence[TurnWrite]) -> list[StoreResult | Exception]:
    with transaction.atomic():
        held = lock_held_turns([one.turn.pk for one in writes], broadcast.PROCESS)
        ours = [one for one in writes if one.turn.pk in held]
        if new := list(_new_attachments(ours)):
            create_attachments(new)
        append_rows(
            (one.turn.pk, seq, name, data) for one in ours for seq, (name, data) in enumerate(one.rows, one.first_seq)
        )
        _update_turns(ours, held)
        if ended := [(one.turn, one.ending) for one in ours if one.ending]:
            end_turns(ended)
    usages = usages_after_end(writes)
    return [
        StoreResult(held[one.turn.pk], usages.get(one.turn.conversation_id) if one.ending else None)
        if one.turn.pk in held
        else TurnLost()
        for one in writes
    ]


def _update_turns(writes: Sequence[TurnWrite], is_stop_requested: Mapping[uuid.UUID, bool]) -> None:
    """Store in the turns' rows that the first part arrived, that code moved, or that a turn waits."""
    now = timezone.now()
    update_rows(Turn, {one.turn.pk: {"first_part_at": now} for one in writes if one.has_first_part})
    for one in writes:
        for move in (change for change in one.changes if isinstance(change, EngineMoved)):
            Turn.objects.filter(pk=one.turn.pk).update(move_reason=move.reason, **engine_after_move(is_off=move.is_off))
        # If a stop of the turn was requested, the turn keeps its lease, and its own process ends it.
        if one.waits_after_s is not None and not is_stop_requested[one.turn.pk]:
            Turn.objects.filter(pk=one.turn.pk).update(
                status=Turn.Status.WAITING,
                lease_owner="",
                lease_expires_at=None,
                waiting_since=now,
                run_s=one.waits_after_s,
            )


def _already_stored(writes: Sequence[TurnWrite]) -> dict[uuid.UUID, StoreResult]:
    """Return the results of those writes that were committed although no confirmation arrived."""
    usages = usages_after_end(writes)
    turns = Turn.objects.filter(pk__in=[one.turn.pk for one in writes]).order_by()
    stopped = dict(turns.values_list("pk", "stop_requested"))
    return {
        one.turn.pk: StoreResult(
            stopped.get(one.turn.pk, False), usages.get(one.turn.conversation_id) if one.ending else None
        )
        for one in writes
        if _is_stored(one)
    }


def _is_stored(write: TurnWrite) -> bool:
    """Return whether the log has the last of these rows. A process that ended the turn may have added other rows."""
    row = TurnEvent.objects.filter(turn_id=write.turn.pk, seq=write.last_seq).values_list("name", "data").first()
    name, data = write.rows[-1]
    return row == (name, json.loads(json.dumps(data)))


def _new_attachments(writes: Iterable[TurnWrite]) -> Iterator[NewAttachment]:
    for one in writes:
        for attachment in (change.attachment for change in one.changes if isinstance(change, AttachmentAdded)):
            if attachment.data is None:
                # The graph was cleared and is shown again. Its bytes are already stored.
                continue
            yield NewAttachment(
                attachment_id=uuid.UUID(attachment.attachment_id),
                owner_id=one.turn.conversation.owner_id,
                data=attachment.data,
                name=attachment.name,
                mime_type=attachment.mime_type,
                width=attachment.width,
                height=attachment.height,
                scale=attachment.scale,
                is_graph=attachment.is_graph,
            )


def usages_after_end(writes: Iterable[TurnWrite]) -> dict[uuid.UUID, ConversationUsage]:
    """Return the usage of the conversations whose turns have ended, by their ids.

    The usage is read after the commit, so that an error in these statistics cannot roll back an answer.
    """
    ended = [one.turn.conversation_id for one in writes if one.ending]
    if not ended:
        return {}
    return conversation_usages(list(Conversation.with_deleted.filter(pk__in=ended).order_by()))


def renew_leases(turn_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, bool]:
    """Extend the leases of this process's turns.

    Return a dictionary: the id of each turn that is still held -> whether a stop was requested.
    """
    with transaction.atomic():
        held = lock_held_turns(list(turn_ids), broadcast.PROCESS)
        Turn.objects.filter(pk__in=held).update(lease_expires_at=lease_end())
    return held


def request_stop(
    conversation_id: uuid.UUID, turn_id: uuid.UUID | None = None, message_id: uuid.UUID | None = None
) -> Turn | None:
    """Ask the process that runs a conversation's live turn to stop it. Return the turn as it was, if there is one.

    A turn that waits for a decision runs in no process, so this function ends it. It must not run on the thread of
    `turn_store`, see `StoredLog`. If `turn_id` or the `message_id` of an answer is given, a newer turn of the
    conversation is not stopped.
    """
    while True:
        turn = note_stop(conversation_id, turn_id, message_id)
        if turn is None or turn.status != Turn.Status.WAITING:
            return turn
        waiting = Turn.objects.filter(status=Turn.Status.WAITING)
        # Meanwhile somebody may have decided. Then the turn runs again, and its process must stop it.
        if end_turn_from_log(StoredLog(turn.pk), waiting, Turn.Status.STOPPED):
            return turn


def note_stop(
    conversation_id: uuid.UUID, turn_id: uuid.UUID | None = None, message_id: uuid.UUID | None = None
) -> Turn | None:
    """Do what `request_stop` does, but return a waiting turn unchanged."""
    live = Turn.objects.filter(conversation_id=conversation_id, status__in=Turn.LIVE)
    if turn_id is not None:
        live = live.filter(pk=turn_id)
    if message_id is not None:
        live = live.filter(message_id=message_id)
    with transaction.atomic():
        turn = live.select_for_update().first()
        if turn is None:
            return None
        if turn.status != Turn.Status.WAITING:
            Turn.objects.filter(pk=turn.pk).update(stop_requested=True)
        return turn


def lease_end() -> datetime:
    """Return the end of a lease that begins now, on the database's clock, because those of processes may differ."""
    return database_time() + timedelta(seconds=settings.TURN_LEASE_S)
