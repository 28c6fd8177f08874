"""Ends turns whose process has died, and deletes old logs.

The process that runs a turn renews its lease. When a lease expires, any process that serves the same database ends the
turn as interrupted, with everything that its log holds.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models.functions import Now

from chat.models import Turn, TurnEvent
from chat.turns.finish import end_turn_from_log
from chat.turns.runner import live_turns

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 2.0

LOG_CLEANING_INTERVAL_S = 600.0
DELETED_AT_ONCE = 1_000
"""Rows of old logs that one transaction deletes."""
LOG_LIFETIME = timedelta(days=1)
"""How long the log of an ended turn is kept, for readers that resume its event stream."""


def start() -> threading.Thread:
    """Start a thread that sweeps now and every few seconds until the process ends."""
    thread = threading.Thread(target=_sweep_forever, name="turn-recovery", daemon=True)
    thread.start()
    return thread


def sweep() -> int:
    """End every turn whose lease has expired; return how many. Open pages notice it by the conversation's revision."""
    # After an outage of the database, the lease of a turn may have expired although the turn still runs here.
    conversations = interrupt_expired(alive=live_turns())
    for conversation_id in conversations:
        logger.warning("a turn of conversation %s was interrupted: its process has died", conversation_id)
    return len(conversations)


def interrupt_expired(*, alive: Collection[uuid.UUID] = ()) -> list[uuid.UUID]:
    """End every live turn whose lease has expired, except those that are `alive` in this process.

    Return the ids of their conversations.
    """
    conversations = []
    expired = Turn.objects.filter(status__in=Turn.LIVE, lease_expires_at__lt=Now()).exclude(pk__in=alive)
    for turn_id in list(expired.values_list("pk", flat=True)):
        with transaction.atomic():
            turn = expired.select_for_update().filter(pk=turn_id).first()
            if turn is not None:
                end_turn_from_log(turn, Turn.Status.INTERRUPTED)
                conversations.append(turn.conversation_id)
    return conversations


def delete_old_logs(*, older_than: timedelta = LOG_LIFETIME) -> int:
    """Delete some log rows of turns that ended long ago and whose parts are stored as rows; return their number.

    There may be more if the number is DELETED_AT_ONCE.
    """
    rows = TurnEvent.objects.filter(turn__ended_at__lt=Now() - older_than, turn__message__parts__isnull=False)
    some = list(rows.values_list("pk", flat=True).distinct()[:DELETED_AT_ONCE])
    return TurnEvent.objects.filter(pk__in=some).delete()[0]


def _sweep_forever() -> None:
    pause = threading.Event()
    clean_at = time.monotonic() + LOG_CLEANING_INTERVAL_S
    while True:
        try:
            close_old_connections()
            sweep()
            # After a full batch, the next one follows with the next sweep: interrupted turns must not wait for it.
            if time.monotonic() > clean_at and delete_old_logs() < DELETED_AT_ONCE:
                clean_at = time.monotonic() + LOG_CLEANING_INTERVAL_S
        except Exception:
            logger.warning("interrupted turns could not be searched for", exc_info=True)
            connection.close()
            # Other processes could not renew their leases either. Give them the time to do so.
            pause.wait(settings.TURN_LEASE_S)
        pause.wait(SWEEP_INTERVAL_S)
