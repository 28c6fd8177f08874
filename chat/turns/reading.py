"""Messages with all that they hold, in three queries however many there are."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from chat.models import Message, MessageAttachment, Part


@dataclass(slots=True)
class ReadMessage:
    """A message, its turn and its feedback at hand if it has them."""

    row: Message
    parts: list[Part] = field(default_factory=list)
    """In order; their attachments at hand."""
    attachments: list[MessageAttachment] = field(default_factory=list)
    """In order; their attachments at hand."""


def read_messages(rows: QuerySet[Message]) -> list[ReadMessage]:
    """Some messages of one conversation's path in view, in order.

    Django's own prefetching makes two querysets for each message, which takes as long as all the rest.
    """
    messages = [ReadMessage(row) for row in rows.select_related("turn", "feedback").order_by("index")]
    _fill(messages)
    return messages


def _fill(messages: Sequence[ReadMessage]) -> None:
    """Read what they hold."""
    known: dict[uuid.UUID, ReadMessage] = {message.row.pk: message for message in messages}
    theirs = _theirs(messages)
    for part in Part.objects.filter(**theirs).select_related("attachment").order_by("message", "index"):
        if part.message_id in known:
            known[part.message_id].parts.append(part)
    links = MessageAttachment.objects.filter(**theirs).select_related("attachment").order_by("message", "index")
    for link in links:
        if link.message_id in known:
            known[link.message_id].attachments.append(link)


def _theirs(messages: Sequence[ReadMessage]) -> dict[str, Any]:
    """By their conversation, as a long one has more messages than a query takes values; a lone one by its id."""
    if len(messages) < 2:
        return {"message_id__in": [message.row.pk for message in messages]}
    return {"message__conversation_id": messages[0].row.conversation_id, "message__is_shown": True}
