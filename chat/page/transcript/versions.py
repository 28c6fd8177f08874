"""The position of a message among its versions, which are the messages with the same parent."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q

from chat.models import Message
from chat.page.message_views import Versions

PARENTS_LIMIT = 500
"""Maximum number of parents in one query, because databases limit its parameters."""


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
    """Read the versions of a message, and return its position. Runs one query."""
    siblings = Message.objects.filter(conversation_id=message.conversation_id, parent_id=message.parent_id)
    return versions_among(message.pk, list(siblings.order_by("created_at", "pk").values_list("pk", flat=True)))


def versions_in_view(conversation_id: uuid.UUID, shown: Sequence[Message]) -> dict[uuid.UUID, Versions]:
    """Return the positions of those shown messages that have other versions, by message id. Runs one query."""
    siblings_by_parent: dict[uuid.UUID | None, list[tuple[datetime, uuid.UUID]]] = defaultdict(list)
    for pk, parent_id, created_at in _hidden_siblings(conversation_id, shown):
        siblings_by_parent[parent_id].append((created_at, pk))
    positions = {}
    for message in shown:
        if message.parent_id in siblings_by_parent:
            siblings = sorted([*siblings_by_parent[message.parent_id], (message.created_at, message.pk)])
            versions = versions_among(message.pk, [pk for _, pk in siblings])
            if versions:
                positions[message.pk] = versions
    return positions


def _hidden_siblings(
    conversation_id: uuid.UUID, shown: Sequence[Message]
) -> Iterable[tuple[uuid.UUID, uuid.UUID | None, datetime]]:
    """Return id, parent and date of hidden messages. They include all hidden versions of the shown messages."""
    hidden = Message.objects.filter(is_shown=False).order_by()
    parents = [message.parent_id for message in shown]
    if len(parents) > PARENTS_LIMIT:
        hidden = hidden.filter(conversation_id=conversation_id)
    else:
        # Only the versions of these messages are read, by their parents: an early edit may have hidden thousands of
        # messages.
        has_parent = Q(parent__in=[pk for pk in parents if pk is not None])
        is_first = Q(conversation_id=conversation_id, index=0)
        hidden = hidden.filter(has_parent | is_first if None in parents else has_parent)
    return hidden.values_list("pk", "parent_id", "created_at")
