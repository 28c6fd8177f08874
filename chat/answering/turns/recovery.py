"""Ends turns whose process has died, denies overdue approvals, and deletes old logs and abandoned temporary
conversations.

The process that runs a turn renews its lease. When a lease expires, any process that uses the same database ends the
turn as interrupted, with everything that its log contains. During an outage of the database, no process can renew a
lease. So turns are ended only after this process has itself reached the database for the length of a lease. A turn that
waits for a decision has no lease. If nobody decides in time, any process resumes it with a denial (`approval_timeout`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Collection, Sequence

from django.conf import settings
from django.db import close_old_connections, connection
from django.db.models.functions import Now

from chat.answering.toolbox import abandon_calls
from chat.answering.turns.approval_timeout import deny_overdue_approvals
from chat.answering.turns.finish import end_turn_from_log
from chat.answering.turns.old_logs import delete_some_logs
from chat.answering.turns.runner import live_turns
from chat.answering.turns.stored_log import StoredLog
from chat.models import Turn, temporary_conversations
from chat.models.database_uptime import Uptime

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 2.0
REOPENING_S = 60.0
"""Seconds after an outage in which open pages connect again, before temporary conversations without a page
are deleted.
"""

ABANDON_LIMIT_S = 20.0
"""Maximum number of seconds in which tools may end the calls of interrupted turns. The recovery of other turns waits
meanwhile.
"""


def start(loop: asyncio.AbstractEventLoop) -> threading.Thread:
    """Start a thread that does the work of this module every few seconds, until the process ends.

    `loop`: the event loop that runs resumed turns.
    """
    thread = threading.Thread(target=_sweep_forever, args=[loop], name="turn-recovery", daemon=True)
    thread.start()
    return thread


def sweep() -> int:
    """End every turn whose lease has expired. Return how many. Open pages notice the conversation's new revision."""
    # After an outage of the database, the lease of a turn may have expired although the turn still runs here.
    conversations = interrupt_expired(alive=live_turns())
    for conversation_id in conversations:
        logger.warning("a turn of conversation %s was interrupted: its process has died", conversation_id)
    return len(conversations)


def interrupt_expired(*, alive: Collection[uuid.UUID] = ()) -> list[uuid.UUID]:
    """End every live turn whose lease has expired, except those that are `alive` in this process.

    After that, their tools end what they still run. Returns the ids of their conversations. Must not run on a thread
    with an event loop.
    """
    interrupted: list[Turn] = []
    expired = Turn.objects.filter(status__in=Turn.LIVE, lease_expires_at__lt=Now()).exclude(pk__in=alive)
    related = expired.select_related("conversation__owner", "conversation__project", "message", "user_message")
    try:
        for turn_id in list(expired.values_list("pk", flat=True)):
            turn = end_turn_from_log(StoredLog(turn_id), related, Turn.Status.INTERRUPTED)
            if turn is not None:
                interrupted.append(turn)
    finally:
        if interrupted:
            asyncio.run(_abandon_calls(interrupted))
    return [turn.conversation_id for turn in interrupted]


async def _abandon_calls(turns: Sequence[Turn]) -> None:
    """Let the tools of ended turns end the calls that still run. Limits of the tools end all other calls."""
    try:
        async with asyncio.timeout(ABANDON_LIMIT_S):
            errors = await asyncio.gather(*map(abandon_calls, turns), return_exceptions=True)
    except TimeoutError:
        logger.warning("the tools of %s interrupted turns did not end their calls in time", len(turns))
        return
    for turn, error in zip(turns, errors, strict=True):
        if isinstance(error, Exception):
            logger.error("the tools of turn %s could not end its calls", turn.pk, exc_info=error)


def _sweep_forever(loop: asyncio.AbstractEventLoop) -> None:
    pause = threading.Event()
    uptime = Uptime(settings.TURN_LEASE_S, SWEEP_INTERVAL_S)
    while True:
        _sweep_if_safe(uptime)
        try:
            deny_overdue_approvals(loop)
            delete_some_logs(pause)
            if uptime.has_lasted(REOPENING_S, time.monotonic()):
                temporary_conversations.delete_abandoned()
        except Exception:
            logger.warning("overdue decisions, old logs or temporary conversations could not be ended", exc_info=True)
            connection.close()
        uptime.note_pause(time.monotonic())
        pause.wait(SWEEP_INTERVAL_S)


def _sweep_if_safe(uptime: Uptime) -> None:
    """End turns whose lease has expired, if the database was reachable for the length of a lease."""
    try:
        close_old_connections()
        # This changes no row. It tests writing, which can be impossible while reading works, because leases are renewed
        # by writing.
        Turn.objects.filter(pk=uuid.UUID(int=0)).update(lease_expires_at=None)
        uptime.note_answer(time.monotonic())
        if uptime.is_long_enough(time.monotonic()):
            sweep()
    except Exception:
        logger.warning("interrupted turns could not be searched for", exc_info=True)
        connection.close()
        uptime.note_failure()
