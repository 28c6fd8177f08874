"""The share of the event loop that one response takes."""

from __future__ import annotations

import asyncio
import time

WORK_S = 0.002
"""After so much work, a response rests. An ordinary network read needs less."""


class Pace:
    """Makes a response rest for as long as it has worked, however much the server sends.

    Giving other tasks a turn is not enough. While the event loop never sleeps, each thread of another request waits
    for the interpreter's lock (see `config.serve`) whenever it comes back from the database.
    """

    def __init__(self) -> None:
        self._began_s = 0.0
        self._worked_s = 0.0

    def begin(self) -> None:
        """Begin to count work."""
        self._began_s = time.perf_counter()

    def end(self) -> None:
        """Stop to count, because others work now."""
        self._worked_s += time.perf_counter() - self._began_s

    async def rest(self) -> None:
        """Let other tasks run, and sleep if there was much work since the last rest."""
        if self._worked_s < WORK_S:
            await asyncio.sleep(0)
            return
        rest_s, self._worked_s = self._worked_s, 0.0
        await asyncio.sleep(rest_s)
