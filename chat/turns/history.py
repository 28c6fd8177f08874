"""From a conversation's rows to what the model is asked: parts in order, ids and signatures in place."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
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

GRAPH_READ_LIMIT_S = 2.0
"""How long an answer waits for one of them; after the first that does not come, no other is asked for."""


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
    graphs, files = ReplayedGraphs(rows), SentFiles(rows)
    request = GenerateRequest(
        model=turn.model,
        contents=tuple(merged(_content(message, graphs, files) for message in rows)),
        system_instruction=turn.conversation.system_instruction,
        code_execution=turn.code_execution,
    )
    return Prepared(request, turn.provider)


class ReplayedGraphs:
    """Bytes of the newest graphs; the answer need not wait for storage, as code and output say what a graph showed."""

    def __init__(self, messages: Iterable[Message]) -> None:
        graphs = [
            row.attachment_id
            for message in messages
            if message.role == Role.MODEL
            for row in message.message_attachments.all()
        ]
        self._wanted = set(graphs[-REPLAYED_GRAPHS:])

    def read(self, attachment: Attachment) -> bytes | None:
        """Its bytes; None for an older graph, and once storage has failed to give one soon."""
        if attachment.pk not in self._wanted:
            return None
        try:
            return read_bytes(attachment, limit_s=GRAPH_READ_LIMIT_S)
        except BytesUnavailable as error:
            logger.warning("graphs are not replayed: %s", error)
            self._wanted.clear()
            return None


class FilesTooLarge(Exception):
    """The files of the question itself pass the size of a request."""


class SentFiles:
    """Which files of the questions are sent: each once, where it came last, the newest first, up to a size."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Raises FilesTooLarge."""
        self._places: set[tuple[uuid.UUID, uuid.UUID]] = set()
        seen: set[uuid.UUID] = set()
        room_bytes = settings.REQUEST_FILES_LIMIT_BYTES
        for message in reversed([message for message in messages if message.role == Role.USER]):
            for row in message.message_attachments.all():
                if row.attachment_id in seen:
                    continue
                seen.add(row.attachment_id)
                room_bytes -= row.attachment.size_bytes
                if room_bytes >= 0:
                    self._places.add((message.pk, row.attachment_id))
                elif message is messages[-1]:
                    raise FilesTooLarge(f"{row.attachment.name} does not fit into the request")

    def part(self, message: Message, attachment: Attachment) -> Part:
        """The file, or a word in its place."""
        if (message.pk, attachment.pk) not in self._places:
            return Part(PartKind.TEXT, text=f"[The file {attachment.name} stood here; it is not sent again.]")
        return Part(
            PartKind.INLINE_DATA,
            mime_type=attachment.mime_type,
            data=read_bytes(attachment),
            fields={"displayName": attachment.name},
        )


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


def _content(message: Message, graphs: ReplayedGraphs, files: SentFiles) -> Content:
    if message.role == Role.USER:
        sent = tuple(files.part(message, row.attachment) for row in message.message_attachments.all())
        text = (Part(PartKind.TEXT, text=message.text),) if message.text else ()
        return Content(Role.USER, sent + text)
    attachments = {row.index: row.attachment for row in message.message_attachments.all()}
    parts = [part for row in message.parts.all() if (part := _replayed_part(row, attachments, graphs)) is not None]
    return Content(Role.MODEL, tuple(without_open_code(parts)))


def _replayed_part(row: PartRow, attachments: dict[int, Attachment], graphs: ReplayedGraphs) -> Part | None:
    part = row_part(row)
    is_blank = part.kind is PartKind.UNSUPPORTED and not part.fields and part.thought_signature is None
    if part.kind is PartKind.THOUGHT or part.fields.get("thought") or is_blank:
        return None
    if part.kind is PartKind.INLINE_DATA:
        data = graphs.read(row.attachment) if row.attachment else None
        return None if data is None else replace(part, data=data)
    if DATA_URIS in part.fields:
        return _restored(part, attachments, graphs)
    return part


def _restored(part: Part, attachments: dict[int, Attachment], graphs: ReplayedGraphs) -> Part:
    """A result with its images put back into the output, as the model's code had printed them; or all without."""
    fields: dict[str, Any] = dict(part.fields)
    images = []
    for place in fields.pop(DATA_URIS):
        attachment = attachments[place["attachment"]]
        data = graphs.read(attachment)
        if data is None:
            return replace(part, fields=fields)
        images.append(FoundImage(place["offset"], place["header"], attachment.mime_type, data, place["line_chars"]))
    return replace(part, text=restore(part.text or "", images), fields=fields)


def without_open_code(parts: list[Part]) -> list[Part]:
    """Without code at the end that has no result: the turn was stopped while it ran, and the API wants pairs."""
    end = len(parts)
    while end and parts[end - 1].kind is PartKind.EXECUTABLE_CODE:
        end -= 1
    return parts[:end]
