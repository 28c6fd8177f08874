"""Reads the messages of a share, page by page, as readers who are not the owner see them.

Readers see the messages with their code, results and graphs. `readers.guest_reader` determines what their views leave
out. Other versions and the instruction of the conversation are not shown either.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from chat.messages.records import MessageRecord, message_chars, records_by_id
from chat.models import Message, MessageAttachment, Share
from chat.page.message_views import MessageView
from chat.page.readers import Reader
from chat.page.render_queue import check_reader
from chat.page.transcript.views import message_view
from chat.page.transcript.window import PAGE_CHARS, Window, within
from chat.vocabulary.parts import CodeExecutionResult, Part

PAGE_MESSAGES = 40
"""Maximum number of messages on one page."""


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A range of the messages of a share, the oldest first."""

    messages: tuple[MessageView, ...]
    earlier: int | None
    """The index before which the previous page ends; `None` on the first page."""
    later: int | None
    """The index with which the next page begins; `None` on the last page."""


def shared_page(share: Share, reader: Reader, first: int, stop: int) -> SharedPage:
    """Return the page that begins with an index, or the one that ends before `stop` if this is given.

    Its messages have at most PAGE_CHARS characters in total, except that the page always has one message.
    """
    near = stop - 1 if stop else first
    first, stop = (max(0, stop - PAGE_MESSAGES), stop) if stop else (first, first + PAGE_MESSAGES)
    ids = share.message_ids(first, stop + 1)
    chars = message_chars(Message.objects.filter(pk__in=ids))
    sizes = [chars.get(pk, 0) for pk in ids[: stop - first]]
    window = within(Window(first, first + len(sizes)), sizes, PAGE_CHARS, near)
    records = shared_records(share, ids[window.first - first : window.last - first if window.last else None])
    views = []
    for record in records:
        check_reader()
        views.append(message_view(record, reader))
    return SharedPage(
        tuple(views),
        earlier=window.first or None,
        later=window.last if window.last != first + len(ids) else None,
    )


def index_of(share: Share, message_id: uuid.UUID) -> int:
    """Return the index of a message in a share; 0 if the share does not hold it."""
    rows = Message.objects.filter(conversation=share.conversation_id, pk=message_id)
    index = rows.values_list("index", flat=True).first() or 0
    return index if share.message_ids(index, index + 1) == [message_id] else 0


def shared_records(share: Share, ids: list[uuid.UUID]) -> list[MessageRecord]:
    """Read messages of the share in this order, without cleared outputs and without attachments added later."""
    records = records_by_id(ids)
    later = MessageAttachment.objects.filter(message__in=ids, pk__gt=share.last_attachment).order_by()
    added = set(later.values_list("message_id", "index"))
    for record in records.values():
        record.attachments = [one for one in record.attachments if (record.message.pk, one.index) not in added]
        record.cleared = []
        record.parts = [_without_cleared(part) for part in record.parts]
    # A message is missing if the conversation has just been deleted.
    return [records[pk] for pk in ids if pk in records]


def _without_cleared(part: Part) -> Part:
    return replace(part, cleared=(), cleared_left_out=0) if isinstance(part, CodeExecutionResult) else part
