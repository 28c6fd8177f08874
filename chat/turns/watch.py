"""Looks every few seconds whether open sockets missed something: the net under frames that may be lost.

One query for all conversations followed in this process, and two for the rights of whoever follows them.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Protocol, runtime_checkable

from channels.db import database_sync_to_async
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.utils import timezone

from chat.models import Conversation
from chat.turns import broadcast
from chat.turns.broadcast import Frame

logger = logging.getLogger(__name__)

WATCH_INTERVAL_S = 3.0

_tasks: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}


@runtime_checkable
class Revocable(Protocol):
    """A follower whose right to follow may end."""

    user: AbstractBaseUser
    session_key: str

    async def end(self, code: int, sentence: str) -> None:
        """Say why, and close."""
        ...


def ensure_watching() -> None:
    """Watch for the sockets of the running event loop."""
    loop = asyncio.get_running_loop()
    task = _tasks.get(loop)
    if task is None or task.done():
        _tasks[loop] = loop.create_task(_watch())


async def _watch() -> None:
    while broadcast.followed():
        await asyncio.sleep(WATCH_INTERVAL_S)
        try:
            await look()
        except Exception:
            logger.warning("open pages could not be checked", exc_info=True)


async def look() -> None:
    """Tell followers of a new revision, and end those who may not follow any more."""
    followed = broadcast.followed()
    revisions = await database_sync_to_async(_revisions)(followed)
    followers = [(key, follower) for key in followed for follower in broadcast.followers(key)]
    revocable = [follower for _, follower in followers if isinstance(follower, Revocable)]
    allowed = await database_sync_to_async(_allowed)(revocable)
    for follower in revocable:
        if follower not in allowed:
            await follower.end(4403, "You are signed out. Sign in again to go on.")
    for key, subscriber in followers:
        # A conversation that is gone has no revision: its followers read that for themselves.
        subscriber.deliver(Frame.at_revision(key, revisions.get(key, -1)))


def _revisions(conversation_ids: list[str]) -> dict[str, int]:
    rows = Conversation.objects.filter(pk__in=[uuid.UUID(key) for key in conversation_ids])
    return {str(key): revision for key, revision in rows.values_list("pk", "revision")}


def _allowed(followers: list[Revocable]) -> set[Revocable]:
    """Those whose session lives, whose user is active and whose password is the one they signed in with."""
    users = get_user_model()._default_manager.filter(pk__in={follower.user.pk for follower in followers})
    passwords = dict(users.filter(is_active=True).values_list("pk", "password"))
    keys = {follower.session_key for follower in followers if follower.session_key}
    living = set(
        Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now()).values_list(
            "session_key", flat=True
        )
    )
    return {
        follower
        for follower in followers
        if passwords.get(follower.user.pk) == follower.user.password and follower.session_key in living
    }
