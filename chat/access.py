"""Who may read or write a conversation and what belongs to it. All such decisions are made here.

A row that does not exist, a row of another user, and an invalid id raise the same `NotFound` after the same query, so
that a response never reveals whether another user's row exists. What staff may read is decided in `admin.read_access`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TypeAlias

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest
from django_htmx.middleware import HtmxDetails

from attachments.models import Attachment
from chat.models import Conversation, ConversationQuerySet, Message, Turn, User

AnyUser: TypeAlias = User | AnonymousUser


class SignedInRequest(HttpRequest):
    """A request to a view behind `login_required`."""

    user: User
    htmx: HtmxDetails


class NotFound(Http404):
    """The row does not exist, or the user may not read it."""

    def __init__(self) -> None:
        super().__init__("There is nothing here that you may see.")


def conversations_of(user: AnyUser) -> ConversationQuerySet:
    """Return every conversation that a user may read; none for anonymous and deactivated users."""
    if not user.is_authenticated or not user.is_active:
        return Conversation.objects.none()
    return Conversation.objects.owned_by(user.pk)


def readable_conversation(user: AnyUser, conversation_id: uuid.UUID | str) -> Conversation:
    """Return a conversation that the user may read. Raises NotFound."""
    try:
        conversation = conversations_of(user).filter(pk=conversation_id).first()
    except ValidationError:
        raise NotFound from None
    if conversation is None:
        raise NotFound
    return conversation


def writable_conversation(user: AnyUser, conversation_id: uuid.UUID | str) -> Conversation:
    """Return a conversation that the user may change: only its owner may. Raises NotFound."""
    return readable_conversation(user, conversation_id)


def check_writable(user: AnyUser, conversation: Conversation | None) -> Conversation:
    """Return the conversation if the user may change it.

    Raises NotFound. `None`: a conversation that does not exist.
    """
    if not user.is_authenticated or not user.is_active or conversation is None or conversation.owner_id != user.pk:
        raise NotFound
    return conversation


def writable_message(user: AnyUser, message_id: uuid.UUID, conversation_id: uuid.UUID | None = None) -> Message:
    """Return a message with its turn that the user may rate: only the conversation's owner may. Raises NotFound.

    `conversation_id`: the message must belong to this conversation.
    """
    rows = Message.objects.filter(pk=message_id, conversation__in=conversations_of(user)).select_related("turn")
    message = (rows if conversation_id is None else rows.filter(conversation_id=conversation_id)).first()
    if message is None:
        raise NotFound
    return message


def readable_turn(user: AnyUser, turn_id: uuid.UUID) -> Turn:
    """Return a turn of a conversation that the user may read. Raises NotFound."""
    turn = Turn.objects.filter(pk=turn_id, conversation__in=conversations_of(user)).first()
    if turn is None:
        raise NotFound
    return turn


def readable_attachment(user: AnyUser, attachment_id: uuid.UUID) -> Attachment:
    """Return an attachment that the user may read: only its owner may. Raises NotFound."""
    return attachments_of(user, [attachment_id])[0]


def attachments_of(user: AnyUser, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return the attachments in the order of the ids. Raises NotFound unless the user owns every one of them."""
    if not ids:
        return []
    if not user.is_authenticated or not user.is_active:
        raise NotFound
    by_id = Attachment.objects.filter(owner_id=user.pk).in_bulk(list(ids))
    try:
        return [by_id[attachment_id] for attachment_id in ids]
    except KeyError:
        raise NotFound from None
