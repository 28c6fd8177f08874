"""Reading a conversation as a page shows it: rows of finished messages, the log of a live one.

Everything here is read so that it agrees with one revision; a live answer is exactly what its log said at `seq`,
and whoever follows the turn's frames from there ends with the page that a reload shows.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.safestring import SafeString

from attachments.models import Attachment
from chat.fragments import AttachmentView, MessageView, Rating, Versions, part_view
from chat.models import Conversation, Feedback, Message, MessageAttachment, Turn
from chat.models import Part as PartRow
from chat.notices import Notice, notice_of
from chat.parts import Part, PartKind, Role
from chat.statements import Select, given
from chat.turns.about import about, grounding_of
from chat.turns.answer import Answer, FoundAttachment
from chat.turns.branches import versions_in_view
from chat.turns.log import fold
from chat.turns.reading import ReadMessage, read_messages

READ_ATTEMPTS = 5

_LIVE = Turn.objects.filter(conversation=OuterRef("pk"), status__in=Turn.LIVE)
_NOW = Select(
    lambda: (
        Conversation.objects.filter(pk=given(Conversation, "id"))
        .order_by()
        .annotate(is_live=Exists(_LIVE))
        .values_list("revision", "is_live")
    )
)


@dataclass(frozen=True, slots=True)
class LivePosition:
    """How far a live turn had come when it was read."""

    turn_id: uuid.UUID
    message_id: uuid.UUID
    seq: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A conversation's page at one revision."""

    revision: int
    messages: tuple[MessageView, ...]
    live: LivePosition | None


def snapshot(conversation_id: uuid.UUID, *, known_revision: int | None = None) -> Snapshot:
    """The whole transcript; or, where the reader knows this revision's shape already, only the live message.

    Raises Conversation.DoesNotExist.
    """
    for _ in range(READ_ATTEMPTS):
        before = _revision(conversation_id)
        messages = _messages(conversation_id, live_only=before == known_revision)
        seqs: dict[uuid.UUID, int] = {}
        versions = versions_in_view(conversation_id, [message.row for message in messages])
        views = tuple(message_view(message, seqs, versions.get(message.row.pk)) for message in messages)
        # A turn that ended between the reads bumped the revision: what was read is of two minds, so read again.
        if _revision(conversation_id) == before:
            break
    answers = (message.row for message in messages if message.row.role == Role.MODEL)
    live = next((answer for answer in answers if answer.turn.is_live), None)
    position = LivePosition(live.turn.pk, live.pk, seqs.get(live.turn.pk, 0)) if live else None
    return Snapshot(before, views, position)


def is_current(conversation_id: uuid.UUID, known_revision: int | None) -> bool:
    """Whether a page of this revision shows all there is: nothing has changed its shape, and no answer is live."""
    return _NOW.rows(id=conversation_id) == [(known_revision, False)]


def message_views(conversation: Conversation) -> list[MessageView]:
    """The transcript of a conversation, as its page shows it."""
    return list(snapshot(conversation.pk).messages)


def _revision(conversation_id: uuid.UUID) -> int:
    revision = Conversation.objects.filter(pk=conversation_id).values_list("revision", flat=True).first()
    if revision is None:
        raise Conversation.DoesNotExist
    return revision


def _messages(conversation_id: uuid.UUID, *, live_only: bool) -> list[ReadMessage]:
    rows = Message.objects.filter(conversation_id=conversation_id, is_shown=True)
    return read_messages(rows.filter(turn__status__in=Turn.LIVE) if live_only else rows)


def message_view(read: ReadMessage, seqs: dict[uuid.UUID, int], versions: Versions | None) -> MessageView:
    """One message; `seqs` takes the seq at which a live turn was read."""
    message = read.row
    if message.role == Role.USER:
        files = [row_attachment_view(row) for row in read.attachments]
        return user_message_view(message, files, versions)
    turn = message.turn
    if turn.is_live:
        rows = list(turn.events.order_by("seq").values_list("seq", "name", "data"))
        seqs[turn.pk] = rows[-1][0] if rows else 0
        return answer_view(message, turn, fold((name, data) for _, name, data in rows), versions)
    shown: dict[int | None, list[AttachmentView]] = {}
    for row in read.attachments:
        shown.setdefault(row.part_index, []).append(row_attachment_view(row))
    parts = [row_part(row) for row in read.parts]
    rating = rating_of(message) if parts else None
    return model_message_view(message, turn, parts, shown, versions, left_out=turn.left_out, rating=rating)


def rating_of(message: Message) -> Rating:
    """What its owner thinks of an answer; no query where it was read with its feedback."""
    feedback: Feedback | None = getattr(message, "feedback", None)
    return Rating(message.pk, feedback.is_good, feedback.reason) if feedback else Rating(message.pk)


def user_message_view(
    message: Message, attachments: Sequence[AttachmentView], versions: Versions | None = None
) -> MessageView:
    """What a user said."""
    return MessageView(
        message_id=message.pk,
        role=Role.USER,
        status=Turn.Status.DONE,
        text=message.text,
        parts=(),
        attachments=tuple(attachments),
        notice=None,
        created_at=message.created_at.isoformat(),
        versions=versions,
    )


def answer_view(
    message: Message,
    turn: Turn,
    answer: Answer,
    versions: Versions | None = None,
    halves: Mapping[int, tuple[SafeString, SafeString]] = MappingProxyType({}),
) -> MessageView:
    """A model message told from its answer in memory or from its log; `halves`: of texts that are rendered already."""
    shown: dict[int | None, list[AttachmentView]] = {}
    for found in answer.attachments:
        shown.setdefault(found.part_index, []).append(found_attachment_view(found))
    return model_message_view(
        message,
        turn,
        answer.parts,
        shown,
        versions,
        waiting=answer.waiting,
        left_out=answer.left_out,
        halves=halves,
        # Nobody can have rated it before its end.
        rating=Rating(message.pk) if not turn.is_live and answer.parts else None,
    )


def model_message_view(
    message: Message,
    turn: Turn,
    parts: Iterable[Part],
    shown: Mapping[int | None, Sequence[AttachmentView]],
    versions: Versions | None = None,
    *,
    waiting: str = "",
    left_out: int = 0,
    rating: Rating | None = None,
    halves: Mapping[int, tuple[SafeString, SafeString]] = MappingProxyType({}),
) -> MessageView:
    """What the model said; `shown`: attachments by the index of the part they follow, `halves`: HTML of its texts."""
    parts = list(parts)
    placed = {index for index in shown if index is not None and index < len(parts)}
    homeless = [view for index, views in shown.items() if index not in placed for view in views]
    return MessageView(
        message_id=message.pk,
        role=Role.MODEL,
        status=turn.status,
        text="",
        parts=tuple(
            part_view(message.pk, index, part, shown.get(index, ()), halves=halves.get(index))
            for index, part in enumerate(parts)
        ),
        attachments=tuple(homeless),
        notice=turn_notice(turn, parts),
        created_at=message.created_at.isoformat(),
        versions=versions,
        waiting=waiting if turn.is_live else "",
        left_out=left_out,
        # Of a turn that has ended, as its row says it: what a live one has heard so far may still change.
        grounding=None if turn.is_live else grounding_of(turn.metadata),
        about=about(turn),
        rating=rating,
    )


def turn_notice(turn: Turn, parts: Iterable[Part]) -> Notice | None:
    """What its answer says about how the turn ended; `parts`: of that answer."""
    return notice_of(
        status=turn.status,
        finish_reason=turn.finish_reason,
        finish_message=turn.finish_message,
        error_code=turn.error_code,
        retry_after_s=turn.retry_after_s,
        is_empty=not any(part.is_answer for part in parts),
    )


def row_part(row: PartRow) -> Part:
    """A stored part as a value, without the bytes of its attachment."""
    return Part(
        kind=PartKind(row.kind),
        text=row.text,
        language=row.language,
        outcome=row.outcome,
        call_id=row.call_id,
        mime_type=row.mime_type,
        fields=row.fields,
        thought_signature=None if row.thought_signature is None else bytes(row.thought_signature),
    )


def row_attachment_view(row: MessageAttachment) -> AttachmentView:
    """A stored attachment in its message."""
    return attachment_view(row.attachment, row.index)


def attachment_view(attachment: Attachment, index: int) -> AttachmentView:
    """An attachment as number `index` of a message."""
    return AttachmentView(
        index=index,
        attachment_id=attachment.pk,
        url=reverse("attachment-content", args=[attachment.pk]),
        name=attachment.name,
        mime_type=attachment.mime_type,
        size_bytes=attachment.size_bytes,
        width=attachment.width,
        height=attachment.height,
        is_graph=attachment.is_graph,
    )


def found_attachment_view(found: FoundAttachment) -> AttachmentView:
    """An attachment of a live answer."""
    return AttachmentView(
        index=found.index,
        attachment_id=uuid.UUID(found.attachment_id),
        url=reverse("attachment-content", args=[found.attachment_id]),
        name=found.name,
        mime_type=found.mime_type,
        size_bytes=found.size_bytes,
        width=found.width,
        height=found.height,
        is_graph=found.is_graph,
    )
