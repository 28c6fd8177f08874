"""Threads on which live turns use the database, each with one connection of its own.

They are separate from Django's shared thread, so that no query of a page delays the transaction that stores a part of
an answer. A connection stays open, because opening one costs more than the queries of a turn's start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThread:
    """One thread with a database connection."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function on the thread; return its result or raise its exception."""

        def call() -> T:
            try:
                return function(*args, **kwargs)
            except (OperationalError, InterfaceError):
                # The thread keeps its connection. The next call opens one that the database has dropped again.
                if connection.connection is not None and not connection.is_usable():
                    connection.close()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def close_connection(self) -> None:
        """Close the thread's connection. The next call opens a new one."""
        self._executor.submit(lambda: connection.close()).result()


turn_store = DatabaseThread("turn-store")
"""Stores the changes of live turns."""

prompt_reader = DatabaseThread("prompt-reader")
"""Reads what prompts are made from. A long history must not delay the store."""
