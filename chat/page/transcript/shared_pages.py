"""Reads the messages of a share, page by page, as readers who are not the owner see them.

Readers see the messages with their code, results and graphs. `readers.guest_reader` says what their views leave
out. Other versions and the instruction of the conversation belong to its owner, too.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from chat.messages.records import MessageRecord, records_by_id
from chat.models import MessageAttachment, Share
from chat.page.message_views import MessageView
from chat.page.readers import FileUrl, guest_reader
from chat.page.transcript.views import message_view

PAGE_MESSAGES = 40
"""Messages of one page."""


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A range of the messages of a share, the oldest first."""

    messages: tuple[MessageView, ...]
    earlier: int | None
    """The index with which the page before begins; `None` on the first page."""
    later: int | None
    """The index with which the next page begins; `None` on the last page."""


def shared_page(share: Share, first: int, file_url: FileUrl) -> SharedPage:
    """Return the page that begins with this index."""
    reader = guest_reader(file_url)
    ids = share.message_ids(first, first + PAGE_MESSAGES + 1)
    records = shared_records(share, ids[:PAGE_MESSAGES])
    return SharedPage(
        tuple(message_view(record, reader) for record in records),
        earlier=max(0, first - PAGE_MESSAGES) if first else None,
        later=first + PAGE_MESSAGES if len(ids) > PAGE_MESSAGES else None,
    )


def shared_records(share: Share, ids: list[uuid.UUID]) -> list[MessageRecord]:
    """Read messages of the share in this order, without the files that were added to them later."""
    records = records_by_id(ids)
    later = MessageAttachment.objects.filter(message__in=ids, pk__gt=share.last_attachment).order_by()
    added = set(later.values_list("message_id", "index"))
    for record in records.values():
        record.attachments = [one for one in record.attachments if (record.message.pk, one.index) not in added]
    # A message is missing if the conversation has just been deleted.
    return [records[pk] for pk in ids if pk in records]
