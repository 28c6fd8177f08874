"""Logs outages of the database and of Redis once when they begin and once when they end, not at every attempt.

The bridge between processes (`chat.page.relay.channel_bridge`) reports failures and successes of Redis. For the
database, a filter of the log sees the errors of all parts of the server. During an outage of the database, each part
logs one line without a traceback.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable

import psycopg
from django.db.utils import InterfaceError, OperationalError

logger = logging.getLogger(__name__)

SHUTDOWN_STATES = frozenset({"57P01", "57P02", "57P03"})
"""SQLSTATEs that PostgreSQL sends while it shuts down, after a crash, and while it starts."""
CONNECTION_CLASS = "08"
"""The class of SQLSTATEs of a lost connection."""


class Outage:
    """Logs once that a component cannot be reached, and once that it can be reached again. Thread-safe."""

    def __init__(self, component: str, consequence: str, *, late_s: float = 0.0) -> None:
        """`component`: the subject of both sentences. `consequence`: what happens during the outage.

        `late_s`: for so many seconds after the end of an outage, attempts that began during the outage may still fail.
        """
        self._component = component
        self._consequence = consequence
        self._late_s = late_s
        self._lock = threading.Lock()
        self._began_s: float | None = None
        self._ended_s = float("-inf")
        self._parts: set[Hashable] = set()
        self._left_out = 0

    def note_failure(self, error: BaseException, part: Hashable = None) -> bool:
        """Record a failed attempt of a part of the server; return whether it is the part's first in this outage."""
        now_s = time.monotonic()
        with self._lock:
            begins = self._began_s is None and now_s - self._ended_s >= self._late_s
            if begins:
                self._began_s, self._left_out = now_s, 0
                self._parts.clear()
            is_first = part not in self._parts
            self._parts.add(part)
            self._left_out += not is_first
        if begins:
            first_line = str(error).partition("\n")[0]
            reason = f"{type(error).__name__}: {first_line}".rstrip(": ")
            logger.warning("%s cannot be reached (%s); %s", self._component, reason, self._consequence)
        return is_first

    def note_success(self) -> None:
        """Record a successful attempt, which ends an outage. Without an outage this costs nearly no time."""
        if self._began_s is None:
            return
        now_s = time.monotonic()
        with self._lock:
            began_s, left_out = self._began_s, self._left_out
            self._began_s, self._ended_s = None, now_s
        if began_s is not None:
            length_s = now_s - began_s
            logger.warning(
                "%s is back after %.1f s; %d more errors were not logged", self._component, length_s, left_out
            )


LATE_S = 15.0
"""`late_s` of the database. It is longer than the 10 s that a thread waits for a connection (`config.databases`)."""

database_outage = Outage(
    "the database", "attempts are repeated, and each part of the server logs this once", late_s=LATE_S
)


def note_connection(**_: object) -> None:
    """End an outage of the database. Receiver of Django's signal for new connections: after an outage, every thread
    opens one.
    """
    database_outage.note_success()


def is_unreachable(error: BaseException) -> bool:
    """Return whether an error of Django means that PostgreSQL could not be reached, not that it refused a statement."""
    cause = error.__cause__
    if not isinstance(error, OperationalError | InterfaceError) or not isinstance(cause, psycopg.OperationalError):
        return False
    # Without a state, the error comes from the client library or its pool.
    state = cause.sqlstate
    return state is None or state.startswith(CONNECTION_CLASS) or state in SHUTDOWN_STATES


class DatabaseOutageFilter(logging.Filter):
    """Lets each part of the server log one line for each outage of the database. Other records are not changed.

    A part is identified by its logger and the first line of its message, before arguments are inserted.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record. During an outage of the database, remove its traceback."""
        error = _find_error(record)
        if error is None or not is_unreachable(error):
            return True
        if not database_outage.note_failure(error, (record.name, str(record.msg).partition("\n")[0])):
            return False
        record.exc_info = record.exc_text = None
        return True


def _find_error(record: logging.LogRecord) -> BaseException | None:
    """Return the error in a record's traceback, or else in the arguments of its message."""
    if record.exc_info:
        return record.exc_info[1]
    arguments = record.args if isinstance(record.args, tuple) else ()
    return next((argument for argument in arguments if isinstance(argument, BaseException)), None)
