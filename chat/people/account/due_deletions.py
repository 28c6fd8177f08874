"""Deletes accounts whose deletion is due, in slices. Every web process looks for them every ten seconds.

An account is hidden first, so that nothing new is written. Then its conversations and files are deleted in many short
transactions. The last transaction deletes the rest, which is little. If a process dies before that, another one can
continue, because all that is left still belongs to the account. Several processes may delete the same account.
"""

from __future__ import annotations

import logging
import threading

from django.db import close_old_connections, connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from chat.models import Conversation, User
from chat.models.deletion import delete_account, delete_conversation, delete_unshown_files, hide_accounts
from chat.models.write_pauses import WritePauses

logger = logging.getLogger(__name__)

INTERVAL_S = 10.0


def start() -> threading.Thread:
    """Start a thread that deletes due accounts until the process ends."""
    thread = threading.Thread(target=_delete_forever, name="account-deletion", daemon=True)
    thread.start()
    return thread


def delete_due_accounts() -> int:
    """Delete every account whose deletion is due. Return their number. If none is due, this runs one query."""
    due = User.objects.filter(deletion_at__lte=Now()).order_by("deletion_at")
    deleted = 0
    for user_id in list(due.values_list("pk", flat=True)):
        try:
            deleted += _delete(user_id, due)
        except Exception:
            # An error does not stop the deletion of the other accounts.
            logger.warning("account %d could not be deleted; this is tried again soon", user_id, exc_info=True)
    return deleted


def _delete(user_id: int, due: QuerySet[User]) -> bool:
    """Delete an account that is among the `due` ones. Returns False if it was kept or is already deleted."""
    if not due.filter(pk=user_id).order_by().update(is_active=False):
        return False
    hide_accounts([user_id])
    pauses = WritePauses()
    # The rows of conversations are read one by one, because the list can be long.
    while (conversation := Conversation.with_deleted.owned_by(user_id).order_by("pk").first()) is not None:
        delete_conversation(conversation)
        pauses.pause_if_due()
    while delete_unshown_files(user_id):
        pauses.pause_if_due()
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        return False
    delete_account(user)
    logger.info("account %d was deleted", user_id)
    return True


def _delete_forever() -> None:
    pause = threading.Event()
    while True:
        try:
            close_old_connections()
            delete_due_accounts()
        except Exception:
            logger.warning("accounts could not be deleted; this is tried again soon", exc_info=True)
            connection.close()
        pause.wait(INTERVAL_S)
