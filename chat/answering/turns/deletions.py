"""Deletes conversations in two steps: a request hides them and stops their answers, and a thread deletes them later.

Every web process runs this thread. Two threads may delete the same conversation: each deletes what is left.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Collection
from functools import partial

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import Q

from chat.answering.turns.store import request_stop
from chat.models import Conversation, Project, Turn
from chat.models.deletion import (
    claim_deletion,
    delete_conversation,
    delete_project,
    find_due_deletions,
    hide_accounts,
    hide_conversation,
    hide_conversations_of,
    hide_for_good,
)
from chat.models.write_pauses import WritePauses

logger = logging.getLogger(__name__)

DELETION_INTERVAL_S = 5.0


def delete_with_undo(conversation: Conversation) -> None:
    """Hide a conversation, and stop its answer. The owner can restore it for `DELETION_UNDO_S`."""
    hide_conversation(conversation)
    # The hidden conversation can start no more answers. If this process dies before the stop, the answer goes on until
    # the rows are deleted.
    request_stop(conversation.pk)


def delete_in_background(conversation_ids: Collection[uuid.UUID]) -> None:
    """Hide conversations at once and for good, and stop their answers. A thread deletes what they hold."""
    hide_for_good(conversation_ids)
    _stop_after_commit(Q(conversation__in=conversation_ids))


def delete_accounts_in_background(user_ids: Collection[int]) -> None:
    """Hide accounts with everything in them at once, and stop their answers. A thread deletes what they hold."""
    hide_accounts(user_ids)
    _stop_after_commit(Q(conversation__owner__in=user_ids))


def _stop_after_commit(condition: Q) -> None:
    """Stop the live turns that meet a condition, after the caller's transaction.

    Reading a long log inside the transaction would block writers (`StoredLog`).
    """
    live = Turn.objects.filter(condition, status__in=Turn.LIVE).order_by()
    for conversation_id in set(live.values_list("conversation_id", flat=True)):
        transaction.on_commit(partial(request_stop, conversation_id), robust=True)


def delete_project_with_conversations(project: Project) -> None:
    """Delete a project and hide its conversations in one transaction, then stop their answers.

    A thread deletes the conversations a little later. If this process dies first, their answers go on until then.
    """
    with transaction.atomic():
        hide_conversations_of(project)
        _stop_after_commit(Q(conversation__project=project))
        delete_project(project)


def delete_due() -> int:
    """Delete all conversations that can no longer be restored, and return their number. After an error, a conversation
    is tried again later.
    """
    number, pauses = 0, WritePauses()
    for conversation_id in list(find_due_deletions().order_by("deleted_at", "pk").values_list("pk", flat=True)):
        due = find_due_deletions().filter(pk=conversation_id)
        try:
            # Since the query, its owner may have restored it, or another process has deleted it.
            if claim_deletion(due) and (conversation := due.first()) is not None:
                delete_conversation(conversation)
                number += 1
        except DatabaseError:
            # An error does not stop the deletion of the other conversations.
            logger.exception("the deleted conversation %s could not be removed", conversation_id)
        pauses.pause_if_due()
    return number


def start() -> threading.Thread:
    """Start a thread that deletes due conversations until the process ends."""
    thread = threading.Thread(target=_delete_repeatedly, name="conversation-deletion", daemon=True)
    thread.start()
    return thread


def _delete_repeatedly() -> None:
    pause = threading.Event()
    while not pause.wait(DELETION_INTERVAL_S):
        try:
            close_old_connections()
            delete_due()
        except Exception:
            logger.warning("deleted conversations could not be removed", exc_info=True)
            connection.close()
