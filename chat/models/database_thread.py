"""Threads on which tasks use the database, each with one connection of its own.

They are separate from Django's shared thread, so that no query of a page delays the transaction that stores a part of
an answer. A connection stays open, because opening one costs more than the queries of a turn's start.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

import psycopg
from django.db import InterfaceError, OperationalError, connection

from attachments.database_connection import close_connection as close_connection

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThread:
    """One thread with a database connection."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function on the thread. Return its result or raise its exception."""

        def call() -> T:
            _close_if_ended()
            try:
                return function(*args, **kwargs)
            except (OperationalError, InterfaceError):
                # Django keeps a connection that failed. It is closed here, so that the next call opens a new one.
                if connection.connection is not None and not connection.is_usable():
                    connection.close()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def close_connection(self) -> None:
        """Close the thread's connection. The next call opens a new one."""
        self._executor.submit(lambda: connection.close()).result()


def _close_if_ended() -> None:
    """Close this thread's connection if PostgreSQL has ended it since the last call, as a restart does.

    Otherwise the first call after a restart would fail. The check costs no query: an idle connection has something to
    read only if the server has ended it, or sent a notice.
    """
    if connection.vendor != "postgresql" or connection.connection is None:
        return
    poll = select.poll()
    try:
        poll.register(connection.connection.fileno(), select.POLLIN)
        has_ended = bool(poll.poll(0)) and not connection.is_usable()
    except psycopg.OperationalError:
        # The client library has already noticed the end of the connection, so there is no socket.
        has_ended = True
    if has_ended:
        connection.close()
