"""Builds the template views of messages, from message records or from the answer of a live turn."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from django.urls import reverse

from attachments.models import Attachment
from chat.answers.answer import Answer
from chat.answers.changes import AnswerAttachment
from chat.fragments import AttachmentView, MessageView, Rating, RenderedText, Versions, part_view
from chat.models import Feedback, Message, Turn
from chat.notices import Notice, notice_of
from chat.parts import Part, Role
from chat.transcript.answer_details import answer_details
from chat.transcript.records import MessageRecord
from chat.transcript.sources import grounding_of

NO_TEXTS: Mapping[int, RenderedText] = MappingProxyType({})


def message_view(record: MessageRecord, versions: Versions | None = None) -> MessageView:
    """Return the view of one message, as its owner's page shows it."""
    files = [attachment_view(placed.attachment, placed.index) for placed in record.attachments]
    if record.turn is None:
        return user_message_view(record.message, files, versions)
    shown: dict[int | None, list[AttachmentView]] = {}
    for placed, view in zip(record.attachments, files, strict=True):
        shown.setdefault(placed.part_index, []).append(view)
    has_rating = bool(record.parts) and not record.is_live
    return model_message_view(
        record.message,
        record.turn,
        record.parts,
        shown,
        versions,
        waiting=record.waiting,
        left_out=record.left_out,
        rating=rating_of(record.message, record.feedback) if has_rating else None,
    )


def rating_of(message: Message, feedback: Feedback | None) -> Rating:
    """Return the owner's rating of an answer."""
    return Rating(message.pk, feedback.is_good, feedback.reason) if feedback else Rating(message.pk)


def user_message_view(
    message: Message, attachments: Sequence[AttachmentView], versions: Versions | None = None
) -> MessageView:
    """Return the view of a user's message."""
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
    texts: Mapping[int, RenderedText] = NO_TEXTS,
) -> MessageView:
    """Return the view of an answer that this process holds in memory. `texts`: those that are rendered already."""
    shown: dict[int | None, list[AttachmentView]] = {}
    for attachment in answer.attachments:
        shown.setdefault(attachment.part_index, []).append(new_attachment_view(attachment))
    return model_message_view(
        message,
        turn,
        answer.parts,
        shown,
        versions,
        waiting=answer.waiting,
        left_out=answer.messages_left_out,
        texts=texts,
        rating=Rating(message.pk) if not turn.is_live and answer.parts else None,
    )


def model_message_view(
    message: Message,
    turn: Turn,
    parts: Sequence[Part],
    shown: Mapping[int | None, Sequence[AttachmentView]],
    versions: Versions | None = None,
    *,
    waiting: str = "",
    left_out: int = 0,
    rating: Rating | None = None,
    texts: Mapping[int, RenderedText] = NO_TEXTS,
) -> MessageView:
    """Return the view of a model's message.

    `shown`: attachments by the index of the part after which they are shown. `texts`: rendered texts by part index.
    """
    unplaced = [view for index, views in shown.items() if index is None or index >= len(parts) for view in views]
    return MessageView(
        message_id=message.pk,
        role=Role.MODEL,
        status=turn.status,
        text="",
        parts=tuple(
            part_view(message.pk, index, part, shown.get(index, ()), rendered=texts.get(index))
            for index, part in enumerate(parts)
        ),
        attachments=tuple(unplaced),
        notice=turn_notice(turn, parts),
        created_at=message.created_at.isoformat(),
        versions=versions,
        waiting=waiting if turn.is_live else "",
        left_out=left_out,
        # Shown only after the end of the turn, because a live turn may still change its sources.
        grounding=None if turn.is_live else grounding_of(turn.sources, turn.queries),
        details=answer_details(turn),
        rating=rating,
    )


def with_file_urls(view: MessageView, url_of: Callable[[uuid.UUID], str]) -> MessageView:
    """Return the view for a reader who is not the owner: with other addresses of files, and without the rating.

    `url_of`: returns the address of an attachment by its id.
    """

    def with_url(attachment: AttachmentView) -> AttachmentView:
        return replace(attachment, url=url_of(attachment.attachment_id))

    parts = tuple(replace(part, attachments=tuple(map(with_url, part.attachments))) for part in view.parts)
    return replace(view, parts=parts, attachments=tuple(map(with_url, view.attachments)), rating=None)


def turn_notice(turn: Turn, parts: Iterable[Part]) -> Notice | None:
    """Return what the page says about how a turn ended. `parts`: of its answer."""
    return notice_of(
        status=turn.status,
        finish=turn.finish,
        finish_reason=turn.finish_reason,
        finish_message=turn.finish_message,
        error_code=turn.error_code,
        retry_after_s=turn.retry_after_s,
        is_empty=not any(part.is_answer for part in parts),
    )


def attachment_view(attachment: Attachment, index: int) -> AttachmentView:
    """Return the view of a stored attachment with this index in its message."""
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


def new_attachment_view(attachment: AnswerAttachment) -> AttachmentView:
    """Return the view of an attachment of a live answer."""
    return AttachmentView(
        index=attachment.index,
        attachment_id=uuid.UUID(attachment.attachment_id),
        url=reverse("attachment-content", args=[attachment.attachment_id]),
        name=attachment.name,
        mime_type=attachment.mime_type,
        size_bytes=attachment.size_bytes,
        width=attachment.width,
        height=attachment.height,
        is_graph=attachment.is_graph,
    )
