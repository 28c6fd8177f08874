"""Who may read or write a conversation and what belongs to it, for the pages, sockets and API calls of users.

A row that does not exist and a row of another user raise the same `NotFound` after the same query, so that a response
never reveals whether another user's row exists. An invalid id raises it, too. A deleted conversation does not exist
either, while it can still be restored: `Conversation.objects` leaves it out.

These decisions are made elsewhere:

- what staff may read: `admin.read_access`, and the permissions that each page of the admin checks
- who may download an attachment under `/attachments/`: `AttachmentQuerySet.readable_by`, because `attachments` imports
  nothing of chat
- which links of shares work: `ShareQuerySet.usable`
- when an open page loses its socket, for example because its user was deactivated: `relay.socket_revalidation`
- a user's own API tokens, logins, and log of readers: their views select the rows of this user
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django_htmx.middleware import HtmxDetails

from attachments.models import Attachment
from chat.models import (
    Conversation,
    ConversationQuerySet,
    ImportJob,
    Message,
    NewerFileRun,
    Project,
    ProjectQuerySet,
    Share,
    ShareQuerySet,
    Turn,
    User,
)
from chat.models.deletion import restorable_conversations

AnyUser: TypeAlias = User | AnonymousUser
M = TypeVar("M", bound=Model)


class SignedInRequest(HttpRequest):
    """A request to a view behind `login_required`."""

    user: User
    htmx: HtmxDetails


class NotFound(Http404):
    """The row does not exist, or the user may not read it."""

    def __init__(self) -> None:
        super().__init__("This does not exist, or you may not see it. Reload the page.")


def conversations_of(user: AnyUser) -> ConversationQuerySet:
    """Return every conversation that a user may read; none for anonymous and deactivated users."""
    if not user.is_authenticated or not user.is_active:
        return Conversation.objects.none()
    return Conversation.objects.owned_by(user.pk)


def readable_conversation(user: AnyUser, conversation_id: uuid.UUID | str) -> Conversation:
    """Return a conversation that the user may read. Raises NotFound if the user may not."""
    try:
        return conversations_of(user).get(pk=conversation_id)
    except (ValidationError, Conversation.DoesNotExist):
        raise NotFound from None


def writable_conversation(user: AnyUser, conversation_id: uuid.UUID | str) -> Conversation:
    """Return a conversation that the user may change: only its owner may. Raises NotFound if the user may not."""
    return readable_conversation(user, conversation_id)


def find_deleted(user: AnyUser, conversation_id: uuid.UUID | None) -> Conversation | None:
    """Return a deleted conversation that the user may restore: only its owner may, for a short time."""
    if conversation_id is None or not user.is_authenticated or not user.is_active:
        return None
    return restorable_conversations().owned_by(user.pk).filter(pk=conversation_id).first()


def check_writable(user: AnyUser, conversation: Conversation | None) -> Conversation:
    """Return the conversation if the user may change it.

    Raises NotFound if the user may not, or if `conversation` is `None`, which means that it does not exist.
    """
    if not user.is_authenticated or not user.is_active or conversation is None or conversation.owner_id != user.pk:
        raise NotFound
    return conversation


def writable_message(user: AnyUser, message_id: uuid.UUID, conversation_id: uuid.UUID | None = None) -> Message:
    """Return a message, with its turn, that the user may change: only the conversation's owner may.

    Raises NotFound if the user may not. `conversation_id`: the message must belong to this conversation.
    """
    rows = Message.objects.filter(pk=message_id, conversation__in=conversations_of(user)).select_related("turn")
    return _first(rows if conversation_id is None else rows.filter(conversation_id=conversation_id))


def readable_turn(user: AnyUser, turn_id: uuid.UUID) -> Turn:
    """Return a turn of a conversation that the user may read. Raises NotFound if the user may not."""
    return _first(Turn.objects.filter(pk=turn_id, conversation__in=conversations_of(user)))


def writable_turn(user: AnyUser, turn_id: uuid.UUID) -> Turn:
    """Return a turn that the user may decide about: only the conversation's owner may. Raises NotFound otherwise."""
    return readable_turn(user, turn_id)


def turn_to_decide(user: AnyUser, conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> Turn:
    """Return the turn that a user wants to decide about, in a conversation that the user may change.

    `message_id`: the answer of the turn. `None` means the turn that was started last. Raises NotFound if there is none.
    """
    turns = Turn.objects.filter(conversation=writable_conversation(user, conversation_id))
    if message_id is not None:
        turns = turns.filter(message_id=message_id)
    return _first(turns.order_by("-created_at"))


def readable_attachment(user: AnyUser, attachment_id: uuid.UUID) -> Attachment:
    """Return an attachment that the user may read, see `AttachmentQuerySet.readable_by`. Raises NotFound otherwise."""
    return attachments_of(user, [attachment_id])[0]


def attachments_of(user: AnyUser, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return the attachments in the order of the ids. Raises NotFound unless the user may read every one of them."""
    if not ids:
        return []
    if not user.is_authenticated or not user.is_active:
        raise NotFound
    by_id = Attachment.objects.readable_by(user).in_bulk(list(ids))
    try:
        return [by_id[attachment_id] for attachment_id in ids]
    except KeyError:
        raise NotFound from None


def projects_of(user: AnyUser) -> ProjectQuerySet:
    """Return every project of a user; none for anonymous and deactivated users."""
    if not user.is_authenticated or not user.is_active:
        return Project.objects.none()
    return Project.objects.filter(owner_id=user.pk)


def writable_project(user: AnyUser, project_id: uuid.UUID) -> Project:
    """Return a project that the user may read and change: only its owner may. Raises NotFound otherwise."""
    return _first(projects_of(user).filter(pk=project_id))


def check_sharing() -> None:
    """Raise NotFound if the operator has turned sharing off."""
    if not settings.ALLOW_SHARING:
        raise NotFound


def readable_share(token: str) -> Share:
    """Return the share of a link with its conversation. Everybody with the link may read the messages of the share.

    Raises NotFound if the link never existed, was revoked or has expired, or if the conversation was deleted.
    """
    check_sharing()
    return _first(Share.objects.usable().select_related("conversation").filter(token=token))


def shared_attachment(share: Share, attachment_id: uuid.UUID) -> Attachment:
    """Return an attachment of the messages of a share. Raises NotFound if no message of the share shows it.

    Runs at most three queries, however many messages show the attachment, because anybody can send this request.
    """
    indexes = dict(share.links().filter(attachment_id=attachment_id).values_list("message_id", "message__index"))
    shown = share.message_ids(min(indexes.values()), max(indexes.values()) + 1) if indexes else []
    if indexes.keys().isdisjoint(shown):
        raise NotFound
    return _first(Attachment.objects.filter(pk=attachment_id))


def shares_of(user: AnyUser) -> ShareQuerySet:
    """Return the shares that a user has made. Raises NotFound if sharing is turned off."""
    check_sharing()
    return Share.objects.filter(conversation__in=conversations_of(user).order_by())


def revocable_share(user: AnyUser, share_id: uuid.UUID) -> Share:
    """Return a share that the user may revoke: only the conversation's owner may. Raises NotFound otherwise."""
    return _first(shares_of(user).filter(pk=share_id))


def newer_file_run_of(user: AnyUser, run_id: uuid.UUID) -> NewerFileRun:
    """Return a run of a conversation's code on a newer file. Raises NotFound unless the user owns the conversation."""
    rows = NewerFileRun.objects.select_related("conversation", "replaced", "newer")
    return _first(rows.filter(pk=run_id, conversation__in=conversations_of(user)))


def imports_of(user: AnyUser) -> QuerySet[ImportJob]:
    """Return the uploads and imports of large files that belong to a user. Only their owner sees, changes and cancels
    them.
    """
    if not user.is_authenticated or not user.is_active:
        return ImportJob.objects.none()
    return ImportJob.objects.filter(owner_id=user.pk)


def own_import(user: AnyUser, job_id: uuid.UUID) -> ImportJob:
    """Return an upload or import of the user. Raises NotFound if the user has none with this id."""
    return _first(imports_of(user).filter(pk=job_id))


def _first(rows: QuerySet[M]) -> M:
    """Return the first row. Raises NotFound if there is none."""
    row = rows.first()
    if row is None:
        raise NotFound
    return row
