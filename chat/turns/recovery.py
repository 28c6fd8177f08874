"""Ends turns whose process is gone. Runs as a thread from start-up on, as Daphne tells no application that it starts.

A turn's lease is renewed by the process that runs it; when it runs out, any process that serves the same database
ends the turn as interrupted, with all that its log holds.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta

from django.conf import settings
from django.db import close_old_connections, connection

from chat.turns import store
from chat.turns.runner import live_turns

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 2.0

FORGET_INTERVAL_S = 600.0
LOG_LIFE = timedelta(days=1)
"""How long the log of an ended turn is kept, for readers that resume it."""


def start() -> threading.Thread:
    """Sweep now and every few seconds until the process ends."""
    thread = threading.Thread(target=_sweep_for_ever, name="turn-recovery", daemon=True)
    thread.start()
    return thread


def sweep() -> int:
    """End every turn whose lease ran out; how many. Open pages notice by the conversation's revision."""
    # A turn that runs here may be behind with its lease, when the database has just come back: it is alive.
    ended = store.interrupt_expired(alive=live_turns())
    for conversation_id in ended:
        logger.warning("a turn of conversation %s was interrupted: its process is gone", conversation_id)
    return len(ended)


def _sweep_for_ever() -> None:
    pause = threading.Event()
    forget_at = time.monotonic() + FORGET_INTERVAL_S
    while True:
        try:
            close_old_connections()
            sweep()
            if time.monotonic() > forget_at:
                forget_at = time.monotonic() + FORGET_INTERVAL_S
                store.forget_old_logs(older_than=LOG_LIFE)
        except Exception:
            logger.warning("interrupted turns could not be looked for", exc_info=True)
            connection.close()
            # Other processes could not renew their leases either: give them the time to.
            pause.wait(settings.TURN_LEASE_S)
        pause.wait(SWEEP_INTERVAL_S)
