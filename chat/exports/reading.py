"""Reading a conversation to its end in bounded memory: its tree first, then a few whole messages at a time.

The tree is read at once, so that whoever switches versions meanwhile tears no path; messages are never changed after
their turn has ended, and a live answer is what its log says when its place is reached.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch
from django.db.models.functions import Length

from attachments.models import Attachment
from chat.models import Conversation, Feedback, Message, MessageAttachment, Turn
from chat.models import Part as PartRow
from chat.parts import Part, Role
from chat.turns.log import fold
from chat.turns.transcript import row_part

BATCH_MESSAGES = 40
BATCH_CHARS = 512 * 1024


class Vanished(Exception):
    """The conversation was deleted while it was read."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An attachment in a message."""

    attachment: Attachment
    index: int
    """The n of its marker."""
    part_index: int | None
    """The part after which it is shown; None: at the message's end."""


@dataclass(frozen=True, slots=True)
class Told:
    """One message with all that hangs from it."""

    message: Message
    turn: Turn | None
    """Of an answer."""
    parts: tuple[Part, ...]
    """Without the bytes of their attachments."""
    part_attachments: dict[int, int]
    """Part index -> index of the attachment that holds its bytes."""
    attachments: tuple[Placed, ...]
    is_live: bool
    """It was still being written when it was read."""
    left_out: int = 0
    feedback: Feedback | None = None
    """What its owner thinks of it."""

    def drawn_by(self, part_index: int) -> list[Placed]:
        """What is shown after a part."""
        return [placed for placed in self.attachments if placed.part_index == part_index]

    @property
    def homeless(self) -> list[Placed]:
        """What is shown at the message's end."""
        return [
            placed
            for placed in self.attachments
            if placed.part_index is None or not 0 <= placed.part_index < len(self.parts)
        ]


@dataclass(frozen=True, slots=True)
class Source:
    """A conversation to be exported; the caller has authorised it."""

    conversation: Conversation
    exported_at: datetime

    def messages(self, *, shown_only: bool) -> Iterator[Told]:
        """Its messages, parents before children and older versions before newer ones. Raises Vanished."""
        for ids in _batches(self._rows(shown_only=shown_only)):
            yield from told(ids)

    def _rows(self, *, shown_only: bool) -> list[tuple[uuid.UUID, int]]:
        rows = Message.objects.filter(conversation_id=self.conversation.pk)
        if shown_only:
            rows = rows.filter(is_shown=True)
        return list(rows.order_by("index", "created_at", "pk").values_list("pk", Length("text")))

    def is_live(self) -> bool:
        """Whether an answer is being written in it now."""
        return Turn.objects.filter(conversation_id=self.conversation.pk, status__in=Turn.LIVE).exists()

    def sent_files(self) -> list[Attachment]:
        """What was attached to the questions in view, oldest first, each once."""
        rows = MessageAttachment.objects.filter(
            message__conversation_id=self.conversation.pk, message__is_shown=True, message__role=Role.USER
        )
        found = rows.select_related("attachment").order_by("message__index", "index")
        return list({row.attachment_id: row.attachment for row in found.iterator(500)}.values())


def attachments_of(ids: list[uuid.UUID]) -> Iterator[Attachment]:
    """The rows of these ids in their order, a few at a time."""
    for start in range(0, len(ids), BATCH_MESSAGES):
        batch = ids[start : start + BATCH_MESSAGES]
        found = Attachment.objects.in_bulk(batch)
        yield from (found[pk] for pk in batch if pk in found)


def _batches(rows: list[tuple[uuid.UUID, int]]) -> Iterator[list[uuid.UUID]]:
    batch: list[uuid.UUID] = []
    chars = 0
    for pk, length in rows:
        batch.append(pk)
        chars += length
        if len(batch) == BATCH_MESSAGES or chars >= BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def told(ids: list[uuid.UUID]) -> Iterator[Told]:
    """These messages in this order, each whole; three queries, and some for a live one. Raises Vanished."""
    rows = _read(ids)
    for pk in ids:
        message = rows.pop(pk, None)
        if message is None:
            raise Vanished
        turn = message.turn if message.role == Role.MODEL else None
        if turn is None or not turn.is_live:
            yield _ended(message, turn)
            continue
        so_far = _live(message, turn)
        if Turn.objects.filter(pk=turn.pk, status__in=Turn.LIVE).exists():
            yield so_far
            continue
        # It ended while its log was read: its rows are there now.
        message = _read([pk]).get(pk)
        if message is None:
            raise Vanished
        yield _ended(message, message.turn)


def _read(ids: list[uuid.UUID]) -> dict[uuid.UUID, Message]:
    rows = Message.objects.filter(pk__in=ids).select_related("turn", "feedback")
    attachments = MessageAttachment.objects.select_related("attachment").order_by("index")
    parts = PartRow.objects.order_by("index")
    found = rows.prefetch_related(Prefetch("parts", parts), Prefetch("message_attachments", attachments))
    return {message.pk: message for message in found}


def _ended(message: Message, turn: Turn | None) -> Told:
    placed = tuple(Placed(row.attachment, row.index, row.part_index) for row in message.message_attachments.all())
    numbers = {place.attachment.pk: place.index for place in reversed(placed)}
    rows = list(message.parts.all())
    return Told(
        message=message,
        turn=turn,
        parts=tuple(map(row_part, rows)),
        part_attachments={row.index: numbers[row.attachment_id] for row in rows if row.attachment_id in numbers},
        attachments=placed,
        is_live=False,
        left_out=turn.left_out if turn else 0,
        feedback=getattr(message, "feedback", None),
    )


def _live(message: Message, turn: Turn) -> Told:
    answer = fold(turn.events.order_by("seq").values_list("name", "data"))
    found = Attachment.objects.in_bulk([uuid.UUID(found.attachment_id) for found in answer.attachments])
    placed = [(found.get(uuid.UUID(drawn.attachment_id)), drawn) for drawn in answer.attachments]
    message.text = answer.text
    return Told(
        message=message,
        turn=turn,
        parts=tuple(answer.parts),
        part_attachments=dict(answer.part_attachments),
        attachments=tuple(Placed(row, drawn.index, drawn.part_index) for row, drawn in placed if row is not None),
        is_live=True,
        left_out=answer.left_out,
    )
