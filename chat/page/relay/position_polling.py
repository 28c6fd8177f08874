"""Finds pages that are behind the log of a turn of another process, because its frames do not arrive.

Frames may be lost, and while Redis is unavailable none arrives. So a process with open pages reads the positions of the
live turns of other processes every `POLL_INTERVAL_S`: one or two queries, whose cost does not depend on the number of
pages. A page that has not reached a position until the next poll reads a snapshot. So it is behind for at most two
intervals and the time of the snapshot. Frames that are only on their way cause no snapshot.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from channels.db import database_sync_to_async
from django.db.models import OuterRef, QuerySet, Subquery

from chat.models import Turn, TurnEvent
from chat.page.relay import broadcast
from chat.page.relay.channel_bridge import is_configured
from chat.page.relay.frames import ExpectedPosition

logger = logging.getLogger(__name__)

POLL_INTERVAL_S = 0.6

_tasks: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}
_poll_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="positions")
"""Separate from Django's shared thread, which many handshakes can keep busy for seconds."""


def ensure_running() -> None:
    """Poll from now on, as long as pages are open. Does nothing without a channel layer for other processes."""
    loop = asyncio.get_running_loop()
    task = _tasks.get(loop)
    if is_configured() and (task is None or task.done()):
        _tasks[loop] = loop.create_task(_poll_repeatedly(), name="positions")


async def _poll_repeatedly() -> None:
    read = database_sync_to_async(read_positions, thread_sensitive=False, executor=_poll_thread)
    expected: dict[str, ExpectedPosition] = {}
    has_failed = False
    while followed := broadcast.followed_conversations():
        try:
            found = await read(set(followed), expected)
            has_failed = False
        except Exception:
            if not has_failed:
                logger.warning("positions of live turns could not be read; this is tried again", exc_info=True)
            has_failed = True
            found = expected
        for conversation_id, position in expected.items():
            for subscriber in broadcast.subscribers(conversation_id):
                subscriber.deliver(position)
        expected = found
        await asyncio.sleep(POLL_INTERVAL_S)


def read_positions(followed: Collection[str], known: Mapping[str, ExpectedPosition]) -> dict[str, ExpectedPosition]:
    """Return the positions of live turns of other processes in these conversations.

    `known`: the result of the last poll. A turn that has ended since then is in the result one last time. A turn that
    waits for a person stays in the result until it ends.
    """
    running = Turn.objects.live_of_everyone().exclude(status=Turn.Status.WAITING)
    found = _positions(running.exclude(lease_owner=broadcast.PROCESS))
    found = {key: position for key, position in found.items() if key in followed}
    ended = [uuid.UUID(one.turn_id) for key, one in known.items() if one.turn_id and key not in found]
    if ended:
        found.update(_positions(Turn.objects.filter(pk__in=ended)))
    return found


def _positions(turns: QuerySet[Turn]) -> dict[str, ExpectedPosition]:
    last_events = TurnEvent.objects.filter(turn=OuterRef("pk")).order_by("-seq").values("seq")[:1]
    rows = turns.order_by().annotate(last_seq=Subquery(last_events))
    values = rows.values_list("conversation_id", "conversation__revision", "pk", "last_seq", "status")
    return {
        str(conversation_id): (
            ExpectedPosition(str(conversation_id), revision, str(turn_id), last_seq or 0)
            if status in Turn.LIVE
            else ExpectedPosition(str(conversation_id), revision)
        )
        for conversation_id, revision, turn_id, last_seq, status in values
    }
