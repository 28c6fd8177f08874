"""Reads the snapshot of a share: a range of its messages, as readers who are not the owner see them.

A snapshot shows the messages with their code, results and graphs. It leaves out what belongs to the owner alone: the
instruction, costs and token counts, the service that answered, ratings, other versions, and files that only the Python
session has.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from chat.message_views import AnswerDetails, MessageView
from chat.models import MessageAttachment, Share
from chat.transcript.records import MessageRecord, records_by_id
from chat.transcript.views import message_view, with_file_urls

PAGE_MESSAGES = 40
"""Messages of one page."""


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A range of the messages of a snapshot, the oldest first."""

    messages: tuple[MessageView, ...]
    earlier: int | None
    """The index with which the page before begins; `None` on the first page."""
    later: int | None
    """The index with which the next page begins; `None` on the last page."""


def shared_page(share: Share, first: int, url_of: Callable[[uuid.UUID], str]) -> SharedPage:
    """Return the page that begins with this index. `url_of`: returns the URL of an attachment by its id."""
    ids = share.message_ids(first, first + PAGE_MESSAGES + 1)
    records = shared_records(share, ids[:PAGE_MESSAGES])
    return SharedPage(
        tuple(_shared_view(with_file_urls(message_view(record), url_of)) for record in records),
        earlier=max(0, first - PAGE_MESSAGES) if first else None,
        later=first + PAGE_MESSAGES if len(ids) > PAGE_MESSAGES else None,
    )


def shared_records(share: Share, ids: list[uuid.UUID]) -> list[MessageRecord]:
    """Read messages of the snapshot in this order, without the files that were added to them later."""
    records = records_by_id(ids)
    later = MessageAttachment.objects.filter(message__in=ids, pk__gt=share.last_attachment).order_by()
    added = set(later.values_list("message_id", "index"))
    for record in records.values():
        record.attachments = [one for one in record.attachments if (record.message.pk, one.index) not in added]
    # A message is missing if the conversation has just been deleted.
    return [records[pk] for pk in ids if pk in records]


def _shared_view(view: MessageView) -> MessageView:
    """Return a message of the owner's page without what only the owner may see or do, and without scripts."""
    return replace(
        view,
        is_shared=True,
        parts=tuple(replace(part, is_static=True) for part in view.parts),
        notice=replace(view.notice, action="") if view.notice else None,
        details=_shared_details(view.details) if view.details else None,
    )


def _shared_details(details: AnswerDetails) -> AnswerDetails:
    """Return the model, and where and for how long code ran."""
    return AnswerDetails(
        model=details.model,
        code_execution=details.code_execution,
        code_reason="",
        usage=(),
        total=None,
        cost="",
        duration_s=details.duration_s,
        rounds=0,
        engine=details.engine,
    )
