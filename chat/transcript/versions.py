"""The position of a message among its versions, which are the messages with the same parent."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from chat.fragments import Versions
from chat.models import Message


def versions_among(message_id: uuid.UUID, ids: list[uuid.UUID]) -> Versions | None:
    """Return the position of a message, or `None` if it has no other version. `ids`: all versions, oldest first."""
    if len(ids) < 2:
        return None
    index = ids.index(message_id)
    return Versions(
        number=index + 1,
        total=len(ids),
        previous_id=ids[index - 1] if index else None,
        next_id=ids[index + 1] if index + 1 < len(ids) else None,
    )


def versions_of(message: Message) -> Versions | None:
    """Read the versions of a message, and return its position. One query."""
    siblings = Message.objects.filter(conversation_id=message.conversation_id, parent_id=message.parent_id)
    return versions_among(message.pk, list(siblings.order_by("created_at", "pk").values_list("pk", flat=True)))


def versions_in_view(conversation_id: uuid.UUID, shown: Iterable[Message]) -> dict[uuid.UUID, Versions]:
    """Return the positions of those shown messages that have other versions, by message id. One query."""
    hidden = Message.objects.filter(conversation_id=conversation_id, is_shown=False)
    siblings_by_parent: dict[uuid.UUID | None, list[tuple[datetime, uuid.UUID]]] = defaultdict(list)
    for pk, parent_id, created_at in hidden.values_list("pk", "parent_id", "created_at"):
        siblings_by_parent[parent_id].append((created_at, pk))
    positions = {}
    for message in shown:
        if message.parent_id in siblings_by_parent:
            siblings = sorted([*siblings_by_parent[message.parent_id], (message.created_at, message.pk)])
            versions = versions_among(message.pk, [pk for _, pk in siblings])
            if versions:
                positions[message.pk] = versions
    return positions
