"""Work that must not delay a response, and whose time must not show in it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import connection

logger = logging.getLogger(__name__)

RESPONSE_TIME_S = 1.0
"""Seconds after which a response has been sent, with a large margin."""


def run_after_response(action: Callable[[], None]) -> None:
    """Call a function in a thread. An error is logged.

    The thread waits until the response has been sent, because its work would delay the response. It is not a daemon, so
    a process that ends waits for it.
    """
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
