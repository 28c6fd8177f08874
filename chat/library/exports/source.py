"""Reads the conversation to export a few messages at a time, so that memory does not grow with its length.

For each document, one query reads the ids of the messages and which of them are shown, so that a switch to another
version during the export cannot mix two paths. All other data of a message are read with its batch, and may have
changed by then. A live answer is exported as its log is at that moment.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TypeAlias

from django.db.models import Q

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.messages.number_ledgers import VERSION
from chat.messages.records import Deleted, MessageRecord, message_chars, records_in_order
from chat.models import Conversation, Message, MessageAttachment, NumberLedger, Part, Turn
from chat.page.render_queue import check_reader
from chat.vocabulary.parts import PartKind, Role

BATCH_MESSAGES = 40
BATCH_CHARS = 512 * 1024
BATCH_LINKS = 500
BATCH_TEXTS = 500
"""Maximum number of texts that one query searches. SQLite allows at most 1,000 conditions."""

FindPath: TypeAlias = Callable[[Attachment], str | None]
"""Returns the path of an attachment's file beside the exported document, or `None` if there is no such file."""


@dataclass(frozen=True, slots=True)
class ExportSource:
    """A conversation to export, which the caller has authorised, and the time of the export."""

    conversation: Conversation
    exported_at: datetime
    message_id: uuid.UUID | None = field(default=None, kw_only=True)
    """The only message to export. `None`: all messages."""

    def messages(self, *, shown_only: bool) -> Iterator[MessageRecord]:
        """Yield its messages, parents before children and older versions before newer ones.

        Raises records.Deleted if the conversation was deleted meanwhile.
        """
        rows = Message.objects.filter(conversation_id=self.conversation.pk)
        if self.message_id is not None:
            rows = rows.filter(pk=self.message_id)
        elif shown_only:
            rows = rows.filter(is_shown=True)
        columns = rows.order_by("index", "created_at", "pk").values_list("pk", "is_shown", "last_shown")
        listed = {pk: (is_shown, last_shown) for pk, is_shown, last_shown in columns}
        if not listed and not Conversation.with_deleted.filter(pk=self.conversation.pk).exists():
            raise Deleted
        chars = message_chars(rows)
        for ids in _batches((pk, chars.get(pk, 0)) for pk in listed):
            ledgers = NumberLedger.objects.filter(message__in=ids, version=VERSION)
            numbers = dict(ledgers.values_list("pk", "numbers"))
            for record in records_in_order(ids):
                record.numbers = numbers.get(record.message.pk)
                record.message.is_shown, record.message.last_shown = listed[record.message.pk]
                yield record

    def is_live(self) -> bool:
        """Return whether an answer is being written in the conversation now."""
        return Turn.objects.filter(conversation_id=self.conversation.pk, status__in=Turn.LIVE).exists()

    def question_files(self) -> list[Attachment]:
        """Return the files of the shown questions, oldest first, each once."""
        rows = MessageAttachment.objects.filter(
            message__conversation_id=self.conversation.pk, message__is_shown=True, message__role=Role.USER
        )
        links = rows.select_related("attachment").order_by("message__index", "index")
        return list({link.attachment_id: link.attachment for link in links.iterator(BATCH_LINKS)}.values())

    def is_in_code(self, texts: Collection[str]) -> bool:
        """Return whether code of a shown answer contains one of the texts. Code of a live answer is not searched."""
        rows = Part.objects.filter(message__conversation_id=self.conversation.pk, message__is_shown=True)
        rows, conditions = rows.filter(kind=PartKind.EXECUTABLE_CODE), [Q(text__contains=text) for text in texts]
        starts = range(0, len(conditions), BATCH_TEXTS)
        return any(rows.filter(reduce(or_, conditions[start : start + BATCH_TEXTS])).exists() for start in starts)


def attachments_by_id(ids: list[uuid.UUID]) -> Iterator[Attachment]:
    """Yield the attachments in the order of the ids, reading a few at a time."""
    for start in range(0, len(ids), BATCH_MESSAGES):
        batch = ids[start : start + BATCH_MESSAGES]
        rows = Attachment.objects.in_bulk(batch)
        yield from (rows[pk] for pk in batch if pk in rows)


def load_bytes(attachment: Attachment) -> bytes | None:
    """Return the bytes of an attachment; `None` if storage fails, so that the export continues without them.

    Raises ReaderLeft if the client has disconnected.
    """
    check_reader()
    try:
        return read_bytes(attachment)
    except BytesUnavailable:
        return None


def _batches(sizes: Iterable[tuple[uuid.UUID, int]]) -> Iterator[list[uuid.UUID]]:
    """Yield lists of ids: at most BATCH_MESSAGES, and fewer if the messages are long. `sizes`: ids and characters."""
    batch: list[uuid.UUID] = []
    chars = 0
    for pk, size in sizes:
        batch.append(pk)
        chars += size
        if len(batch) == BATCH_MESSAGES or chars >= BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch
