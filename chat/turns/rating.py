"""Rating an answer: stored, and shown in every open page.

A rating counts the conversation's revision up, so that a page that missed it sees that it is behind. While another
answer is being written it does not: the frames of that answer follow one another by revision. Open pages are then told
aside, and the end of that answer brings the next revision.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from asgiref.sync import async_to_sync
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from chat.fragments import Rating, frame, rating_swap
from chat.models import Conversation, Feedback, Message, Turn
from chat.turns import broadcast
from chat.turns.broadcast import Frame


@dataclass(frozen=True, slots=True)
class Thumb:
    """What is said of an answer."""

    is_good: bool
    reason: str = ""


def rate(message: Message, user: AbstractBaseUser, thumb: Thumb | None) -> Rating:
    """Say it, in place of what was said before; None takes that back. The caller has authorised it.

    Raises NoFeedbackHere, and Conversation.DoesNotExist where it was deleted meanwhile.
    """
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=message.conversation_id)
        if thumb is None:
            Feedback.objects.filter(message=message).delete()
            rating = Rating(message.pk)
        else:
            Feedback.objects.give(message, user.pk, is_good=thumb.is_good, reason=thumb.reason)
            rating = Rating(message.pk, thumb.is_good, thumb.reason)
        is_followed = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE).exists()
        if not is_followed:
            conversation.revision += 1
            # Only this column: that it was rated does not make a conversation newer than others.
            conversation.save(update_fields=["revision"])
    # On the server's own event loop, where the sockets are.
    async_to_sync(_tell)(conversation.pk, None if is_followed else conversation.revision, rating)
    return rating


async def _tell(conversation_id: uuid.UUID, revision: int | None, rating: Rating) -> None:
    broadcast.publish(_frame(conversation_id, revision, rating))


def _frame(conversation_id: uuid.UUID, revision: int | None, rating: Rating) -> Frame:
    swap = rating_swap(rating)
    if revision is None:
        return Frame.aside(conversation_id, frame(swap))
    return Frame(str(conversation_id), revision, turn_id="", after=-1, seq=0, text=frame(swap, turn="", seq=0))
