"""Shows another version of a message.

Messages with the same parent are versions of one another. Exactly one path from the first message on is shown. If a
version is shown again, the path that was last shown below it is shown again, too.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping

from django.db import transaction

from chat.answering.turns.finish import increment_revision
from chat.models import Conversation, Message, Turn

ROWS_OF_UPDATE = 1_000
"""Maximum number of rows of one statement, because the number of its parameters is limited."""


class SwitchRefused(Exception):
    """Another version cannot be shown now. The text is a sentence that says why."""


def hide(message: Message) -> tuple[uuid.UUID, ...]:
    """Hide a shown message and everything that follows it. Return the ids of the hidden messages."""
    rows = Message.objects.filter(
        conversation_id=message.conversation_id, is_shown=True, index__gte=message.index
    ).order_by("index")
    hidden = tuple(rows.values_list("pk", flat=True))
    rows.update(is_shown=False)
    return hidden


def show(conversation_id: uuid.UUID, message_id: uuid.UUID) -> int:
    """Show a version with what was last shown below it. Return the conversation's new revision.

    Raises SwitchRefused while an answer is unfinished, or if the message is not in the conversation.
    """
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=conversation_id)
        if Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE).exists():
            raise SwitchRefused("An answer is being written. Stop it or wait; then look at other versions.")
        if Message.objects.filter(conversation=conversation, pk=message_id, is_shown=True).exists():
            return conversation.revision
        rows = Message.objects.filter(conversation=conversation).only("parent", "last_shown", "is_shown")
        messages = rows.in_bulk()
        if message_id not in messages:
            raise SwitchRefused("There is no such version.")
        path = _path_through(message_id, messages)
        # The path begins with messages that are shown already, because both versions follow them.
        shown_before = sum(messages[pk].is_shown for pk in path)
        shown = Message.objects.filter(conversation=conversation, is_shown=True)
        shown.filter(index__gte=shown_before).update(is_shown=False)
        for start in range(shown_before, len(path), ROWS_OF_UPDATE):
            Message.objects.filter(pk__in=path[start : start + ROWS_OF_UPDATE]).update(is_shown=True)
        shown.update(last_shown=conversation.revision + 1)
        increment_revision(conversation.pk)
        return conversation.revision + 1


def _path_through(message_id: uuid.UUID, messages: Mapping[uuid.UUID, Message]) -> list[uuid.UUID]:
    """Return the path from the first message through this one to the end of the branch that was last shown."""
    children: dict[uuid.UUID | None, list[uuid.UUID]] = defaultdict(list)
    for pk, message in messages.items():
        children[message.parent_id].append(pk)
    path = []
    ancestor: uuid.UUID | None = message_id
    while ancestor is not None:
        path.append(ancestor)
        ancestor = messages[ancestor].parent_id
    path.reverse()
    following = children[message_id]
    while following:
        path.append(max(following, key=lambda pk: messages[pk].last_shown))
        following = children[path[-1]]
    return path
