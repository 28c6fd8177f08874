"""Runs work after the response, which must not be delayed and must not reveal how long the work takes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import connection

logger = logging.getLogger(__name__)

RESPONSE_TIME_S = 1.0
"""Seconds after which a response has been sent, with a large margin."""
ACTIONS_LIMIT = 50
"""Maximum number of actions that wait or run at the same time, each in a thread."""

_free = threading.BoundedSemaphore(ACTIONS_LIMIT)


def run_after_response(action: Callable[[], None]) -> None:
    """Call a function in a thread. Its error is logged. If too many run already, it is not called, and this is logged.

    The thread waits until the response has been sent, because its work would delay the response. It is not a daemon, so
    a process that ends waits for it.
    """
    if not _free.acquire(blocking=False):
        logger.error("an action after a response was left out, because %s others wait or run", ACTIONS_LIMIT)
        return
    timer = threading.Timer(RESPONSE_TIME_S, _run_and_close, [action])
    timer.daemon = False
    timer.start()


def _run_and_close(action: Callable[[], None]) -> None:
    try:
        action()
    except Exception:
        logger.exception("an action after a response failed")
    finally:
        connection.close()
        _free.release()
