"""The tree of a conversation: which messages are versions of one another, and which path is in view.

Messages with the same parent are versions. Exactly one path from the first message on is shown; whoever goes back to
a version finds below it the path that was last seen there.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction

from chat.fragments import Versions
from chat.models import Conversation, Message, Turn
from chat.turns.store import bump_revision


class SwitchRefused(Exception):
    """Another version cannot be shown now; the text says why."""


def versions_among(message_id: uuid.UUID, ids: list[uuid.UUID]) -> Versions | None:
    """`ids`: all versions, oldest first; None where there is but one."""
    if len(ids) < 2:
        return None
    place = ids.index(message_id)
    return Versions(
        number=place + 1,
        total=len(ids),
        previous_id=ids[place - 1] if place else None,
        next_id=ids[place + 1] if place + 1 < len(ids) else None,
    )


def versions_of(message: Message) -> Versions | None:
    """Read from the database."""
    siblings = Message.objects.filter(conversation_id=message.conversation_id, parent_id=message.parent_id)
    return versions_among(message.pk, list(siblings.order_by("created_at", "pk").values_list("pk", flat=True)))


def versions_in_view(conversation_id: uuid.UUID, shown: Iterable[Message]) -> dict[uuid.UUID, Versions]:
    """Of each shown message that has versions; one query for all."""
    hidden = Message.objects.filter(conversation_id=conversation_id, is_shown=False)
    families: dict[uuid.UUID | None, list[tuple[datetime, uuid.UUID]]] = defaultdict(list)
    for pk, parent_id, created_at in hidden.values_list("pk", "parent_id", "created_at"):
        families[parent_id].append((created_at, pk))
    found = {}
    for message in shown:
        if message.parent_id in families:
            family = sorted([*families[message.parent_id], (message.created_at, message.pk)])
            versions = versions_among(message.pk, [pk for _, pk in family])
            if versions:
                found[message.pk] = versions
    return found


def hide(message: Message | None) -> tuple[uuid.UUID, ...]:
    """Take a shown message and all that follows it out of view; which messages."""
    if message is None:
        return ()
    rows = Message.objects.filter(
        conversation_id=message.conversation_id, is_shown=True, index__gte=message.index
    ).order_by("index")
    hidden = tuple(rows.values_list("pk", flat=True))
    rows.update(is_shown=False)
    return hidden


def show(conversation_id: uuid.UUID, message_id: uuid.UUID) -> int:
    """Bring a version into view with what was last seen below it; the conversation's new revision.

    Raises SwitchRefused while an answer is being written, and for a message that is no version of a shown one.
    """
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=conversation_id)
        if Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE).exists():
            raise SwitchRefused("An answer is being written. Stop it or wait; then look at other versions.")
        if Message.objects.filter(conversation=conversation, pk=message_id, is_shown=True).exists():
            return conversation.revision
        rows = Message.objects.filter(conversation=conversation).values_list("pk", "parent_id", "last_shown")
        nodes: dict[uuid.UUID, tuple[uuid.UUID | None, int]] = {pk: (parent, seen) for pk, parent, seen in rows}
        if message_id not in nodes:
            raise SwitchRefused("There is no such version.")
        path = _path_through(message_id, nodes)
        Message.objects.filter(conversation=conversation, is_shown=True).exclude(pk__in=path).update(is_shown=False)
        Message.objects.filter(pk__in=path).update(is_shown=True, last_shown=conversation.revision + 1)
        return bump_revision(conversation.pk)


def _path_through(message_id: uuid.UUID, nodes: Mapping[uuid.UUID, tuple[uuid.UUID | None, int]]) -> list[uuid.UUID]:
    """From the first message through this one down to the end that was last seen."""
    children: dict[uuid.UUID | None, list[uuid.UUID]] = defaultdict(list)
    for pk, (parent_id, _) in nodes.items():
        children[parent_id].append(pk)
    path = []
    above: uuid.UUID | None = message_id
    while above is not None:
        path.append(above)
        above = nodes[above][0]
    path.reverse()
    below = children[message_id]
    while below:
        path.append(max(below, key=lambda pk: nodes[pk][1]))
        below = children[path[-1]]
    return path
