"""Deletes a conversation with everything that only it shows, and an account with everything that it owns."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat, Now

from attachments.models import Attachment
from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet
from chat.models.logins import LoginSession
from chat.models.message import Message, MessageAttachment, Part
from chat.models.newer_file_runs import NewerFileRun
from chat.models.projects import Project, keep_private
from chat.models.python_sessions import PythonSession
from chat.models.turn import Turn, TurnEvent
from chat.models.user import User
from chat.models.write_pauses import PAUSE_S

SLICE_MESSAGES = 300
"""Maximum number of messages in a slice, whose deletion takes about a tenth of a second."""
SLICE_FILES = 200
"""Maximum number of unsent files that one transaction deletes."""
UNDO_MARGIN_S = 2
"""Seconds between the end of the time for restoring and the deletion, so that a restoration at the last moment can
commit.
"""

_UNSHOWN = Q(message_attachments__isnull=True, project_files__isnull=True, newer_file_runs__isnull=True)
"""Matches attachments without a `MessageAttachment`, project or run on a newer file. Parts may still show them."""

BEING_DELETED = datetime(1970, 1, 1, tzinfo=UTC)
"""Marks a conversation whose deletion has begun (`deleted_at`, `temporary_seen_at`): it cannot be restored or kept."""


class _TurnStarted(Exception):
    """A turn has started before its conversation was locked. Raised to release the locks of the savepoint."""


def delete_conversation(conversation: Conversation) -> list[Attachment]:
    """Delete a conversation, and the rows of those attachments that nothing else shows.

    Unless the caller has begun a transaction, a long conversation is deleted in several, its last messages first,
    because SQLite has one writer at a time and others must be able to write in between. If the process dies in between,
    the remaining beginning can be deleted later.

    Returns the deleted attachments. A trigger queues the deletion of their objects in storage; see
    `attachments.deletions`.
    """
    deleted: list[Attachment] = []
    # Inside a transaction of the caller, slices would not help: other writers wait for its end anyway.
    while not connection.in_atomic_block and (slice_ := _delete_last_messages(conversation)) is not None:
        deleted += slice_
        if connection.vendor == "sqlite":
            time.sleep(PAUSE_S)
    with transaction.atomic():
        _lock(conversation)
        ids = _lock_attachments(Message.objects.filter(conversation=conversation))
        ids += NewerFileRun.objects.filter(conversation=conversation).values_list("newer", flat=True)
        conversation.delete()
        return deleted + _delete_orphans(ids)


def hide_conversation(conversation: Conversation) -> None:
    """Hide a conversation as if it were deleted. It is deleted later, unless it is restored."""
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at=Now())


def hide_conversations_of(project: Project) -> None:
    """Hide all conversations of a project as if they were deleted; see `hide_conversation`.

    Call it in the transaction that deletes the project, so that no conversation is moved there afterwards.
    """
    with transaction.atomic():
        _lock_with_conversations(project)
        Conversation.objects.filter(project=project).update(deleted_at=Now())


def hide_for_good(conversation_ids: Collection[uuid.UUID]) -> None:
    """Hide conversations so that they cannot be restored. A thread deletes their rows and files in the background."""
    with transaction.atomic():
        _hide_for_good(Conversation.with_deleted.filter(pk__in=conversation_ids))


def hide_accounts(user_ids: Collection[int]) -> None:
    """Hide accounts and everything in them, before they are deleted. Calling it again is harmless.

    Nobody can log in to them, their logins and API tokens end, and their names are free for new accounts. What they
    hold is deleted in the background; see `chat.people.account.due_deletions`.
    """
    with transaction.atomic():
        # Starts of answers lock conversations and no user. Locking conversations first prevents a deadlock with them.
        _hide_for_good(Conversation.with_deleted.filter(owner__in=user_ids))
        free = Concat(Value(f"deleted-{uuid.uuid4()}-"), Cast("pk", CharField()))
        users = User.objects.filter(pk__in=user_ids)
        users.update(is_active=False, deletion_at=Now(), username=free, former_username="")
        LoginSession.objects.filter(user__in=user_ids).delete()


def _hide_for_good(rows: ConversationQuerySet) -> None:
    """Lock the rows in the same order as starts of several answers do, mark them as deleted, and detach
    their kernels, which then end.
    """
    list(rows.select_for_update().order_by("pk").values_list("pk"))
    PythonSession.objects.filter(conversation__in=rows.order_by()).update(conversation=None)
    rows.order_by().update(deleted_at=BEING_DELETED)


def restorable_conversations() -> ConversationQuerySet:
    """Return the deleted conversations that can still be restored."""
    return Conversation.with_deleted.filter(deleted_at__gt=Now() - timedelta(seconds=settings.DELETION_UNDO_S))


def restore_conversation(conversation: Conversation) -> None:
    """Show a deleted conversation again, if the time for restoring it is not over."""
    restorable_conversations().filter(pk=conversation.pk).update(deleted_at=None)


def find_due_deletions() -> ConversationQuerySet:
    """Return the deleted conversations that can no longer be restored.

    Those of an account that is being deleted are left out, because they are deleted with it.
    """
    delay_s = settings.DELETION_UNDO_S + UNDO_MARGIN_S
    due = Conversation.with_deleted.filter(deleted_at__lt=Now() - timedelta(seconds=delay_s))
    return due.exclude(owner__deletion_at__lte=Now())


def claim_deletion(rows: ConversationQuerySet) -> bool:
    """Claim one hidden conversation for its deletion, after which it cannot be restored.

    Returns False if it was restored, or is already deleted. A claim is necessary, because comparing times is not
    enough: a restoration that waits for a lock uses the time at which it started. `rows`: a query for the conversation,
    with the condition for the deletion.
    """
    return bool(rows.filter(deleted_at__isnull=False).update(deleted_at=BEING_DELETED))


def delete_account(user: User) -> None:
    """Delete a user with all conversations, files and login sessions, in one transaction.

    The conversations and projects are deleted first, because messages and projects protect the attachments they show.
    The projects are locked before the conversations, as everywhere that both are locked.
    """
    with transaction.atomic():
        list(Project.objects.select_for_update().filter(owner=user).order_by("pk").values_list("pk"))
        for conversation in Conversation.with_deleted.owned_by(user.pk):
            delete_conversation(conversation)
        Project.objects.filter(owner=user).delete()
        user.delete()


def delete_unshown_files(user_id: int) -> bool:
    """Delete some files of a user that nothing shows. Returns False if there are none, or other transactions have
    locked them.
    """
    free = Attachment.objects.filter(_UNSHOWN, owner=user_id)
    return bool(delete_unsent_files(list(free.order_by("pk").values_list("pk", flat=True)[:SLICE_FILES])))


def delete_project(project: Project) -> list[Attachment]:
    """Delete a project, and the rows of those of its files that nothing else shows.

    Its conversations stay, without a project. They are locked before the attachments, as in `delete_conversation`.
    Returns the deleted files, as `delete_conversation` does.
    """
    with transaction.atomic():
        _lock_with_conversations(project)
        ids = list(project.files.values_list("attachment_id", flat=True))
        list(Attachment.objects.select_for_update().filter(pk__in=ids))
        keep_private(Conversation.with_deleted.filter(project=project))
        Project.objects.filter(pk=project.pk).delete()
        return _delete_orphans(ids)


def remove_project_file(project: Project, attachment_id: uuid.UUID) -> bool:
    """Remove a file from a project, and delete it if nothing else shows it. Returns False if the project does not have
    it.
    """
    with transaction.atomic():
        list(Project.objects.select_for_update(no_key=True).filter(pk=project.pk))
        list(Attachment.objects.select_for_update().filter(pk=attachment_id))
        removed, _ = project.files.filter(attachment=attachment_id).delete()
        if removed:
            project.save(update_fields=["updated_at"])
            _delete_orphans([attachment_id])
        return bool(removed)


def find_unsent_files(created_before: datetime) -> QuerySet[Attachment]:
    """Return the files that were stored before a time and that no message, project, import or run on a newer file uses.

    The files of a live answer are only in its log, so nothing is returned for users with a live answer.
    """
    live = Turn.objects.filter(conversation__owner=OuterRef("owner"), status__in=Turn.LIVE)
    shown = Part.objects.filter(attachment=OuterRef("pk"))
    files = Attachment.objects.filter(_UNSHOWN, created_at__lt=created_before, import_piece__isnull=True)
    return files.filter(~Exists(shown), ~Exists(live))


def delete_unsent_files(ids: Collection[uuid.UUID]) -> list[Attachment]:
    """Delete those of the files that nothing shows now, and return them. A file that is being sent is not deleted."""
    with transaction.atomic():
        free = Attachment.objects.select_for_update(skip_locked=True)
        return _delete_orphans([file.pk for file in free.filter(pk__in=ids)])


def _delete_last_messages(conversation: Conversation) -> list[Attachment] | None:
    """Delete the last messages of a long conversation, and return their attachments; `None` if it is not long.

    A message has a higher index than the message that it follows, so no message loses the one that it follows.
    """
    messages = Message.objects.filter(conversation=conversation)
    with transaction.atomic():
        _lock(conversation)
        ids = list(messages.order_by("-index", "-pk").values_list("pk", flat=True)[: SLICE_MESSAGES + 1])
        if len(ids) <= SLICE_MESSAGES:
            return None
        last = Message.objects.filter(pk__in=ids[:SLICE_MESSAGES])
        attachments = _lock_attachments(last)
        last.delete()
        return _delete_orphans(attachments)


def _lock_attachments(messages: QuerySet[Message]) -> list[uuid.UUID]:
    """Lock the attachments of messages, and return their ids."""
    shown = Attachment.objects.select_for_update().filter(pk__in=_attachment_ids(messages))
    return [attachment.pk for attachment in shown]


def _delete_orphans(ids: list[uuid.UUID]) -> list[Attachment]:
    """Delete those attachments that no message, no project and no run on a newer file shows, and return them."""
    elsewhere = Part.objects.filter(attachment=OuterRef("pk"))
    orphans = Attachment.objects.filter(_UNSHOWN, ~Exists(elsewhere), pk__in=ids)
    deleted = list(orphans)
    orphans.delete()
    return deleted


def _lock(conversation: Conversation) -> None:
    """Lock live turns, then the conversation, so that a writer of either commits before the deletion or fails.

    Other code takes these locks in the same order; attachments come last. If a turn has started between the first two
    locks, they are released and taken again, which prevents a deadlock.
    """
    live = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE)
    while True:
        try:
            with transaction.atomic():
                known = {turn.pk for turn in live.select_for_update()}
                list(Conversation.with_deleted.select_for_update().filter(pk=conversation.pk))
                if known >= set(live.values_list("pk", flat=True)):
                    return
                raise _TurnStarted
        except _TurnStarted:
            continue


def _lock_with_conversations(project: Project) -> None:
    """Lock a project, then its conversations in the same order as starts of several answers do."""
    list(Project.objects.select_for_update().filter(pk=project.pk).values_list("pk"))
    list(Conversation.with_deleted.select_for_update().filter(project=project).order_by("pk").values_list("pk"))


def _attachment_ids(messages: QuerySet[Message]) -> set[uuid.UUID]:
    """Return the ids of the attachments of messages, including those of a live answer, which are only in its log."""
    links = MessageAttachment.objects.filter(message__in=messages)
    parts = Part.objects.filter(message__in=messages, attachment__isnull=False)
    log = TurnEvent.objects.filter(turn__message__in=messages, turn__status__in=Turn.LIVE, name=TurnEvent.ATTACHMENT)
    return {
        *links.values_list("attachment_id", flat=True),
        *parts.values_list("attachment_id", flat=True),
        *(uuid.UUID(data["attachment_id"]) for data in log.values_list("data", flat=True)),
    }
