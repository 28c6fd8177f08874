"""Reads the graphs and images of conversations, newest first. The number of queries does not depend on that of images.

Images of a live answer appear when the answer has ended. Images of hidden versions do not appear.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from chat.messages.records import MessageRecord, records_by_id
from chat.models import CLEARED_INDEX, ConversationQuerySet, MessageAttachment
from chat.page.attachment_views import AttachmentView
from chat.page.readers import OWNER
from chat.page.transcript.graph_captions import with_captions
from chat.page.transcript.message_links import message_url
from chat.page.transcript.views import attachment_view


@dataclass(frozen=True, slots=True)
class GalleryImage:
    """A graph or an image, and where it is shown."""

    attachment: AttachmentView
    url: str
    """The URL of the message on the page of the conversation."""
    title: str
    """The title of the conversation."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class GalleryPage:
    """One page of the gallery."""

    images: list[GalleryImage]
    end: int | None
    """The position after which the next page begins; `None` on the last page."""


def gallery_page(
    owner_id: int, conversations: ConversationQuerySet, size: int, before: int | None = None
) -> GalleryPage:
    """Return the newest images of these conversations of one person, or those before a position."""
    rows = MessageAttachment.objects.filter(
        # The database index of the owner's attachments has this order, so only the rows of one page are read.
        attachment__owner_id=owner_id,
        # The same condition as `Attachment.is_image`.
        attachment__width__isnull=False,
        message__conversation__in=conversations.order_by(),
        message__is_shown=True,
        index__lt=CLEARED_INDEX,
    )
    if before is not None:
        rows = rows.filter(_is_older(before))
    links = list(rows.select_related("message__conversation").order_by("-attachment__created_at", "-pk")[: size + 1])
    page = links[:size]
    records = records_by_id({link.message_id for link in page})
    views = {pk: captioned_views(record) for pk, record in records.items()}
    images = [
        GalleryImage(
            attachment=view,
            url=message_url(link.message.conversation, link.message_id),
            title=str(link.message.conversation),
            created_at=link.message.created_at,
        )
        for link in page
        # A message may have been deleted since its links were read.
        if (view := views.get(link.message_id, {}).get(link.index))
    ]
    return GalleryPage(images, page[-1].pk if len(links) > size else None)


def _is_older(position: int) -> Q:
    """Return the condition for images that follow the one with this id in the gallery."""
    last = MessageAttachment.objects.select_related("attachment").filter(pk=position).first()
    if last is None:
        # The attachment has been deleted meanwhile. Ids increase with time, so they have nearly the same order.
        return Q(pk__lt=position)
    created_at = last.attachment.created_at
    return Q(attachment__created_at__lt=created_at) | Q(attachment__created_at=created_at, pk__lt=position)


def captioned_views(record: MessageRecord) -> dict[int, AttachmentView]:
    """Return the attachments of a message by their index, with the captions of graphs."""
    shown: dict[int | None, list[AttachmentView]] = {}
    for placed in record.attachments:
        shown.setdefault(placed.part_index, []).append(attachment_view(placed.attachment, placed.index, OWNER))
    captioned = with_captions(record.message.pk, record.parts, shown)
    return {view.index: view for views in captioned.values() for view in views}
