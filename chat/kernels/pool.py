"""A pool of sessions: keeps some ready, so that a first cell does not wait for a start, and limits their number.

Each session is given to one caller and is not reused. The caller closes it, and its slot becomes free once its kernel
has exited, for any reason. A pool belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from types import MappingProxyType

from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import Session, SessionClosed

logger = logging.getLogger(__name__)

PRELOAD = """
def _preload():
    import numpy, pandas
    import matplotlib.pyplot as plt
    figure = plt.figure()
    figure.gca().set_title("a")
    figure.canvas.draw()
    plt.close(figure)
_preload()
del _preload
"""
"""Code that warm sessions run while they wait: imports, the font list and a first drawing take seconds otherwise."""

_NO_FILES: Mapping[str, bytes] = MappingProxyType({})


class WarmPool:
    """Keeps sessions ready; `fill` or the first `acquire` starts them."""

    def __init__(self, size: int = 1, *, limit: int = 8, preload: str = PRELOAD) -> None:
        """Create an empty pool for `size` warm sessions; at most `limit` sessions live at once, including warm ones."""
        self._size = size
        self._limit = limit
        self._preload = preload
        self._warm_sessions: deque[Session] = deque()
        self._acquired_sessions: set[Session] = set()
        self._start_count = 0
        self._refill_tasks: set[asyncio.Task[None]] = set()
        self._waiter_count = 0
        self._change = asyncio.Event()
        self._is_closed = False

    @property
    def alive(self) -> int:
        """Number of sessions that live or are starting."""
        return len(self._warm_sessions) + len(self._acquired_sessions) + self._start_count

    @property
    def warm(self) -> int:
        """Number of sessions that are ready and wait for a caller."""
        return len(self._warm_sessions)

    def fill(self) -> None:
        """Start the missing warm sessions in the background; callers that wait for a slot take precedence."""
        missing = self._size - len(self._warm_sessions) - len(self._refill_tasks)
        free = self._limit - self.alive - self._waiter_count
        for _ in range(0 if self._is_closed else min(missing, free)):
            self._start_count += 1
            task = asyncio.create_task(self._refill())
            self._refill_tasks.add(task)
            task.add_done_callback(self._refill_tasks.discard)

    async def acquire(self, files: Mapping[str, bytes] = _NO_FILES) -> Session:
        """Return a session that belongs to the caller, at once if one is warm; waits while `limit` sessions live.

        Raises SandboxUnavailable if code cannot be isolated, SessionClosed if the pool is closed, ValueError if the
        files are too large.
        """
        while not (self._warm_sessions or self._is_closed or self.alive < self._limit):
            await self._wait_for_change()
        if self._is_closed:
            raise SessionClosed("The pool of Python sessions is closed.")
        if self._warm_sessions:
            session = self._warm_sessions.popleft()
        else:
            self._start_count += 1
            session = await self._start(preload="")
        self._acquired_sessions.add(session)
        try:
            self.fill()
            if files:
                await session.add_files(files)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """End every session, including those that callers hold."""
        self._is_closed = True
        for task in tuple(self._refill_tasks):
            task.cancel()
        await asyncio.gather(*self._refill_tasks, return_exceptions=True)
        await asyncio.gather(*(session.close() for session in (*self._warm_sessions, *self._acquired_sessions)))
        self._change.set()

    async def _wait_for_change(self) -> None:
        self._change.clear()
        self._waiter_count += 1
        try:
            await self._change.wait()
        finally:
            self._waiter_count -= 1

    async def _start(self, preload: str) -> Session:
        """Start a session that `_start_count` already includes."""
        try:
            session = await Session.start(preload=preload)
        finally:
            self._start_count -= 1
            self._change.set()
        session.add_exit_callback(self._remove)
        return session

    async def _refill(self) -> None:
        try:
            self._warm_sessions.append(await self._start(self._preload))
        except SandboxUnavailable as error:
            # No caller waits for this task. The next `acquire` raises the error to its caller.
            logger.warning("No Python session could be kept ready: %s", error)
        self._change.set()

    def _remove(self, session: Session) -> None:
        # The next `acquire` replaces a warm session that died. Replacing it here could repeat the failure in a loop.
        if session in self._warm_sessions:
            self._warm_sessions.remove(session)
        elif session in self._acquired_sessions:
            self._acquired_sessions.remove(session)
            self.fill()
        self._change.set()
