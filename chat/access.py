"""The one place that decides who may read or write a conversation and what hangs from it.

A row that is absent, a row of somebody else and an id that is no id raise the same `NotFound` after the same
query, so that an answer never tells whether a foreign row exists. Staff read in the admin, not here.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TypeAlias

from django.contrib.auth import get_user
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest
from django_htmx.middleware import HtmxDetails

from attachments.models import Attachment
from chat.models import Conversation, ConversationQuerySet, Message
from chat.statements import Select, given

_OWN = Select(
    lambda: (
        Conversation.objects.owned_by(given(Conversation, "owner_id")).filter(pk=given(Conversation, "id")).order_by()
    )
)


AnyUser: TypeAlias = AbstractBaseUser | AnonymousUser


class SignedInRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User
    htmx: HtmxDetails


def signed_in(session_key: str) -> AnyUser:
    """Whoever a session is of, as pages find it out: nobody once it has ended or the password has changed."""
    request = HttpRequest()
    request.session = SessionStore(session_key or None)
    return get_user(request)


class NotFound(Http404):
    """Absent, or not theirs."""

    def __init__(self) -> None:
        super().__init__("There is nothing here that you may see.")


def conversations_of(user: AnyUser) -> ConversationQuerySet:
    """Every conversation that `user` may read; none for anonymous and deactivated users."""
    if not user.is_authenticated or not user.is_active:
        return Conversation.objects.none()
    return Conversation.objects.owned_by(user.pk)


def readable_conversation(user: AnyUser, conversation_id: uuid.UUID | str) -> Conversation:
    """Return the conversation if `user` may read it. Raises NotFound."""
    if not user.is_authenticated or not user.is_active:
        raise NotFound
    try:
        found = _OWN.first(owner_id=user.pk, id=conversation_id)
    except ValidationError:
        raise NotFound from None
    if found is None:
        raise NotFound
    return found


def writable_conversation(user: AnyUser, conversation_id: uuid.UUID | str) -> Conversation:
    """Return the conversation if `user` may send, rename or delete in it: its owner alone. Raises NotFound."""
    return readable_conversation(user, conversation_id)


def check_writable(user: AnyUser, conversation: Conversation | None) -> Conversation:
    """Return a conversation that has been read by its id alone, if `user` may write in it. Raises NotFound.

    None: there is none of that id.
    """
    if not user.is_authenticated or not user.is_active or conversation is None or conversation.owner_id != user.pk:
        raise NotFound
    return conversation


def writable_message(
    user: AnyUser,
    message_id: uuid.UUID,
    conversation_id: uuid.UUID | None = None,
) -> Message:
    """Return a message, its turn at hand, that `user` may rate: its conversation's owner alone. Raises NotFound.

    `conversation_id`: the message must be in that one.
    """
    rows = Message.objects.filter(pk=message_id, conversation__in=conversations_of(user)).select_related("turn")
    found = (rows if conversation_id is None else rows.filter(conversation_id=conversation_id)).first()
    if found is None:
        raise NotFound
    return found


def attachments_of(user: AnyUser, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return the attachments in the order of `ids`. Raises NotFound unless every one of them is the user's own."""
    if not ids:
        return []
    if not user.is_authenticated or not user.is_active:
        raise NotFound
    found = Attachment.objects.filter(owner_id=user.pk).in_bulk(list(ids))
    try:
        return [found[attachment_id] for attachment_id in ids]
    except KeyError:
        raise NotFound from None
