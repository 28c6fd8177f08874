"""Links to messages: finds the messages that a link shows, and makes the URL of a message."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import partial

from django.urls import reverse

from chat.models import Conversation, Message
from chat.page.transcript import window
from chat.page.transcript.window import ChooseWindow
from chat.people.access import NotFound

CHOICES = ((window.around, 0), (window.before, -1), (window.after, 1))
"""Functions that choose a window, each with the distance from the named message to the one that the window must hold.
They are in the order of the arguments of `find_link_target`.
"""


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The messages that a link shows."""

    choose: ChooseWindow
    near: int | None = None
    """The index of the message that the page must hold; `None`: the last one."""
    is_other_version: bool = False
    """Whether the link names a message of a hidden version. The page then shows the visible version at its position."""


def find_link_target(
    conversation: Conversation,
    message: uuid.UUID | None = None,
    before: uuid.UUID | None = None,
    after: uuid.UUID | None = None,
) -> LinkTarget:
    """Return the messages that a link shows. Only the first of the given ids is used.

    Raises NotFound if it is not the id of a message of this conversation.
    """
    named = next(((choice, pk) for choice, pk in zip(CHOICES, (message, before, after), strict=True) if pk), None)
    if named is None:
        return LinkTarget(window.newest)
    (choose, distance), pk = named
    row = Message.objects.filter(conversation=conversation, pk=pk).values_list("index", "is_shown").first()
    if row is None:
        raise NotFound
    index, is_shown = row
    return LinkTarget(partial(choose, index), index + distance, is_other_version=not is_shown)


def message_url(conversation: Conversation, message_id: uuid.UUID) -> str:
    """Return the URL of a message: the conversation's page with this message in view."""
    return f"{reverse('conversation', args=[conversation.pk])}?message={message_id}#message-{message_id}"
