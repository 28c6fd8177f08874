"""Ends turns whose process is gone. Runs as a thread from start-up on, as Daphne tells no application that it starts.

A turn's lease is renewed by the process that runs it; when it runs out, any process that serves the same database
ends the turn as interrupted, with all that its log holds.
"""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connection

from chat.turns import store

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 2.0


def start() -> threading.Thread:
    """Sweep now and every few seconds until the process ends."""
    thread = threading.Thread(target=_sweep_for_ever, name="turn-recovery", daemon=True)
    thread.start()
    return thread


def sweep() -> int:
    """End every turn whose lease ran out; how many. Open pages notice by the conversation's revision."""
    ended = store.interrupt_expired()
    for conversation_id in ended:
        logger.warning("a turn of conversation %s was interrupted: its process is gone", conversation_id)
    return len(ended)


def _sweep_for_ever() -> None:
    pause = threading.Event()
    while True:
        close_old_connections()
        try:
            sweep()
        except DatabaseError as error:
            logger.warning("interrupted turns could not be looked for: %s", error)
            connection.close()
        pause.wait(SWEEP_INTERVAL_S)
