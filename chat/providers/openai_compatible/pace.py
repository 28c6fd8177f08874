"""Limits the share of the event loop's time that one response takes."""

from __future__ import annotations

import asyncio
import time

WORK_S = 0.002
"""After this many seconds of parsing, the reader of a response sleeps. An ordinary network read needs less."""


class Pace:
    """Lets a reader sleep for as long as it has parsed, however much the server sends.

    To let other tasks run is not enough. While the event loop never sleeps, each thread of another request waits
    for the interpreter's lock (see `config.serve`) whenever it comes back from the database.
    """

    def __init__(self) -> None:
        self._began_s = 0.0
        self._worked_s = 0.0

    def begin(self) -> None:
        """Start counting the time of parsing."""
        self._began_s = time.perf_counter()

    def end(self) -> None:
        """Stop counting, because other code runs now."""
        self._worked_s += time.perf_counter() - self._began_s

    async def rest(self) -> None:
        """Let other tasks run. If parsing took more than WORK_S since the last sleep, sleep for that time."""
        if self._worked_s < WORK_S:
            await asyncio.sleep(0)
            return
        rest_s, self._worked_s = self._worked_s, 0.0
        await asyncio.sleep(rest_s)
