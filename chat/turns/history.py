"""From a conversation's rows to what the model is asked: parts in order, ids and signatures in place."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Prefetch

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.models import Message, MessageAttachment, Turn
from chat.models import Part as PartRow
from chat.parts import Content, GenerateRequest, Part, PartKind, Role
from chat.rendering.data_uris import FoundImage, restore
from chat.turns.assembler import DATA_URIS
from chat.turns.transcript import row_part

logger = logging.getLogger(__name__)

REPLAYED_GRAPHS = 4
"""How many of the newest graphs are sent again; each costs image tokens and its bytes in every later turn."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the engine needs to ask."""

    request: GenerateRequest
    provider: str


def prepare(turn_id: uuid.UUID) -> Prepared:
    """The request of a turn."""
    turn = Turn.objects.select_related("conversation", "message").get(pk=turn_id)
    messages = (
        Message.objects.filter(conversation_id=turn.conversation_id, index__lt=turn.message.index)
        .order_by("index")
        .prefetch_related(
            Prefetch("parts", queryset=PartRow.objects.order_by("index").select_related("attachment")),
            Prefetch(
                "message_attachments",
                queryset=MessageAttachment.objects.order_by("index").select_related("attachment"),
            ),
        )
    )
    rows = list(messages)
    replayed = _newest_graphs(rows)
    request = GenerateRequest(
        model=turn.model,
        contents=tuple(merged(_content(message, replayed) for message in rows)),
        system_instruction=turn.conversation.system_instruction,
        code_execution=turn.code_execution,
    )
    return Prepared(request, turn.provider)


def _newest_graphs(messages: Iterable[Message]) -> set[uuid.UUID]:
    graphs = [
        row.attachment_id
        for message in messages
        if message.role == Role.MODEL
        for row in message.message_attachments.all()
    ]
    return set(graphs[-REPLAYED_GRAPHS:])


def merged(contents: Iterable[Content]) -> Iterator[Content]:
    """Without empty contents, and with neighbours of one role joined: an answer may have left no part at all."""
    last: Content | None = None
    for content in contents:
        if not content.parts:
            continue
        if last and last.role is content.role:
            last = replace(last, parts=last.parts + content.parts)
            continue
        if last:
            yield last
        last = content
    if last:
        yield last


def _content(message: Message, replayed: set[uuid.UUID]) -> Content:
    if message.role == Role.USER:
        files = tuple(_file_part(row.attachment) for row in message.message_attachments.all())
        text = (Part(PartKind.TEXT, text=message.text),) if message.text else ()
        return Content(Role.USER, files + text)
    attachments = {row.index: row.attachment for row in message.message_attachments.all()}
    parts = [part for row in message.parts.all() if (part := _replayed_part(row, attachments, replayed)) is not None]
    return Content(Role.MODEL, tuple(without_open_code(parts)))


def _file_part(attachment: Attachment) -> Part:
    return Part(
        PartKind.INLINE_DATA,
        mime_type=attachment.mime_type,
        data=read_bytes(attachment),
        fields={"displayName": attachment.name},
    )


def _replayed_part(row: PartRow, attachments: dict[int, Attachment], replayed: set[uuid.UUID]) -> Part | None:
    part = row_part(row)
    is_blank = part.kind is PartKind.UNSUPPORTED and not part.fields and part.thought_signature is None
    if part.kind is PartKind.THOUGHT or part.fields.get("thought") or is_blank:
        return None
    if part.kind is PartKind.INLINE_DATA:
        if row.attachment is None or row.attachment_id not in replayed:
            return None
        try:
            return replace(part, data=read_bytes(row.attachment))
        except BytesUnavailable as error:
            # The answer need not wait for storage: the code and its output say what the graph showed.
            logger.warning("a graph is not replayed: %s", error)
            return None
    if DATA_URIS in part.fields:
        return _restored(part, attachments)
    return part


def _restored(part: Part, attachments: dict[int, Attachment]) -> Part:
    """A result with the images put back into its output, as the model's own code had printed them."""
    fields: dict[str, Any] = dict(part.fields)
    places = fields.pop(DATA_URIS)
    try:
        images = [
            FoundImage(
                place["offset"],
                place["header"],
                attachments[place["attachment"]].mime_type,
                read_bytes(attachments[place["attachment"]]),
                place["line_chars"],
            )
            for place in places
        ]
    except BytesUnavailable as error:
        logger.warning("the images of an output are not replayed: %s", error)
        return replace(part, fields=fields)
    return replace(part, text=restore(part.text or "", images), fields=fields)


def without_open_code(parts: list[Part]) -> list[Part]:
    """Without code at the end that has no result: the turn was stopped while it ran, and the API wants pairs."""
    end = len(parts)
    while end and parts[end - 1].kind is PartKind.EXECUTABLE_CODE:
        end -= 1
    return parts[:end]
