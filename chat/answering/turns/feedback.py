"""Rates an answer: the rating is stored, and shown on every open page.

A rating increments the conversation's revision, so that a page that missed it notices that it is outdated. This is not
done while another answer is being written, because the frames of that answer follow one another by revision. Open pages
then get an unordered update, and the end of that answer brings the next revision.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import translation
from django.utils.safestring import SafeString

from chat.models import Conversation, Feedback, Message, Turn, User
from chat.page.fragments import rating_swap, socket_message
from chat.page.message_views import Rating
from chat.page.relay import broadcast
from chat.page.relay.frames import NewRevision, UnorderedUpdate


@dataclass(frozen=True, slots=True)
class Thumb:
    """The rating of an answer by a person."""

    is_good: bool
    reason: str = ""


def rate(message: Message, user: User, thumb: Thumb | None) -> Rating:
    """Store a rating in place of an earlier one, or remove it (`None`). The caller checks the permission.

    Raises FeedbackNotAllowed if the message cannot be rated, and Conversation.DoesNotExist if the conversation was
    deleted meanwhile.
    """
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=message.conversation_id)
        if thumb is None:
            Feedback.objects.filter(message=message).delete()
            rating = Rating(message.pk)
        else:
            Feedback.objects.give(message, user.pk, is_good=thumb.is_good, reason=thumb.reason)
            rating = Rating(message.pk, thumb.is_good, thumb.reason)
        has_live_turn = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE).exists()
        if not has_live_turn:
            conversation.revision += 1
            # Only this column is saved, because a rating must not move the conversation up in lists.
            conversation.save(update_fields=["revision"])
    # The language of an API request may be English, but the open pages have the person's language.
    with translation.override(user.shown_language):
        swap = rating_swap(rating)
    # The sockets belong to the server's own event loop, so the update is published there.
    async_to_sync(_publish)(conversation.pk, None if has_live_turn else conversation.revision, swap)
    return rating


async def _publish(conversation_id: uuid.UUID, revision: int | None, swap: SafeString) -> None:
    if revision is None:
        broadcast.publish(UnorderedUpdate(str(conversation_id), socket_message(swap)))
        return
    text = socket_message(swap, turn="", seq=0)
    broadcast.publish(NewRevision(conversation_id=str(conversation_id), revision=revision, text=text))
