"""Checks every few seconds whether open sockets have missed a frame, or may no longer be open.

A check takes one query for all conversations that are followed in this process, and two for the users' permissions.
Temporary conversations take one more from time to time (`_revisions`).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Protocol, runtime_checkable

from channels.db import database_sync_to_async

from chat.models import Conversation, LoginSession, User, temporary_conversations
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement

logger = logging.getLogger(__name__)

CHECK_INTERVAL_S = 3.0
CLOSE_SIGNED_OUT = 4403

_tasks: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}


@runtime_checkable
class Revocable(Protocol):
    """A subscriber whose permission to follow can be revoked."""

    user: User
    session_key: str

    async def end(self, code: int, sentence: str) -> None:
        """Show the sentence on the page, and close the socket."""
        ...


def ensure_running() -> None:
    """Check the sockets of the running event loop from now on, as long as there are any."""
    loop = asyncio.get_running_loop()
    task = _tasks.get(loop)
    if task is None or task.done():
        _tasks[loop] = loop.create_task(_check_repeatedly())


async def _check_repeatedly() -> None:
    while broadcast.followed_conversations():
        await asyncio.sleep(CHECK_INTERVAL_S)
        try:
            await check()
        except Exception:
            logger.warning("open pages could not be checked", exc_info=True)


async def check() -> None:
    """Announce each conversation's revision to its subscribers, and close the sockets of those who may not read it."""
    followed = broadcast.followed_conversations()
    revisions = await database_sync_to_async(_revisions)(followed)
    subscribers = broadcast.all_subscribers()
    revocable = [subscriber for _, subscriber in subscribers if isinstance(subscriber, Revocable)]
    allowed = await database_sync_to_async(_allowed)(revocable)
    for revoked in revocable:
        if revoked not in allowed:
            await revoked.end(CLOSE_SIGNED_OUT, "You are logged out. Log in again to go on.")
    for key, subscriber in subscribers:
        # A deleted conversation has no revision. Its subscribers try to read a snapshot, and find no row.
        subscriber.deliver(Announcement(key, revisions.get(key)))


def _revisions(conversation_ids: list[str]) -> dict[str, int]:
    """Return each conversation's revision, and store that the temporary conversations among them are open."""
    rows = Conversation.objects.filter(pk__in=[uuid.UUID(key) for key in conversation_ids])
    found = list(rows.values_list("pk", "revision", "temporary_seen_at"))
    if due := [key for key, _, seen_at in found if temporary_conversations.is_due(seen_at)]:
        temporary_conversations.renew(due)
    return {str(key): revision for key, revision, _ in found}


def _allowed(subscribers: list[Revocable]) -> set[Revocable]:
    """Return the subscribers whose session is valid, whose user is active, and whose password has not changed."""
    users = User.objects.filter(pk__in={subscriber.user.pk for subscriber in subscribers})
    passwords = dict(users.filter(is_active=True).values_list("pk", "password"))
    keys = {subscriber.session_key for subscriber in subscribers if subscriber.session_key}
    sessions = LoginSession.objects.current().filter(pk__in=keys)
    valid_keys = set(sessions.values_list("pk", flat=True))
    return {
        subscriber
        for subscriber in subscribers
        if passwords.get(subscriber.user.pk) == subscriber.user.password and subscriber.session_key in valid_keys
    }
