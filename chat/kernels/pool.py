"""Sessions kept ready, so that a first cell waits for no start, and a cap on how many live at once.

A session is given to one caller and never comes back: whoever acquired it closes it, and its slot is free once its
kernel is gone, for whatever reason. A pool belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from types import MappingProxyType

from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import Session, SessionClosed

log = logging.getLogger(__name__)

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
"""Run in sessions while they wait: imports, the list of fonts and the first drawing cost seconds in a fresh one."""

_NO_FILES: Mapping[str, bytes] = MappingProxyType({})


class WarmPool:
    """Keeps sessions ready; `fill` starts that, and so does the first `acquire`."""

    def __init__(self, size: int = 1, *, limit: int = 8, preload: str = PRELOAD) -> None:
        """Keep `size` sessions warm; at most `limit` live at once, the warm ones included."""
        self._size = size
        self._limit = limit
        self._preload = preload
        self._warm: deque[Session] = deque()
        self._given: set[Session] = set()
        self._starting = 0
        self._refills: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._change = asyncio.Event()
        self._is_closed = False

    @property
    def alive(self) -> int:
        """Sessions that live or are being started."""
        return len(self._warm) + len(self._given) + self._starting

    @property
    def warm(self) -> int:
        """Sessions that wait, ready."""
        return len(self._warm)

    def fill(self) -> None:
        """Start in the background what is missing; callers that wait for a slot go first."""
        missing = self._size - len(self._warm) - len(self._refills)
        free = self._limit - self.alive - self._waiting
        for _ in range(0 if self._is_closed else min(missing, free)):
            self._starting += 1
            task = asyncio.create_task(self._refill())
            self._refills.add(task)
            task.add_done_callback(self._refills.discard)

    async def acquire(self, files: Mapping[str, bytes] = _NO_FILES) -> Session:
        """Give a session of the caller's own, at once where one is warm; waits while `limit` of them live.

        Raises SandboxUnavailable where code cannot be isolated, SessionClosed once the pool is closed, ValueError for
        files that are too large.
        """
        while not (self._warm or self._is_closed or self.alive < self._limit):
            await self._slot_or_session()
        if self._is_closed:
            raise SessionClosed("The pool of Python sessions is closed.")
        if self._warm:
            session = self._warm.popleft()
        else:
            self._starting += 1
            session = await self._start(preload="")
        self._given.add(session)
        try:
            self.fill()
            if files:
                await session.add_files(files)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """End every session, those given out too."""
        self._is_closed = True
        for task in tuple(self._refills):
            task.cancel()
        await asyncio.gather(*self._refills, return_exceptions=True)
        await asyncio.gather(*(session.close() for session in (*self._warm, *self._given)))
        self._change.set()

    async def _slot_or_session(self) -> None:
        self._change.clear()
        self._waiting += 1
        try:
            await self._change.wait()
        finally:
            self._waiting -= 1

    async def _start(self, preload: str) -> Session:
        """Start a session whose slot is counted already."""
        try:
            session = await Session.start(preload=preload)
        finally:
            self._starting -= 1
            self._change.set()
        session.when_gone(self._forget)
        return session

    async def _refill(self) -> None:
        try:
            self._warm.append(await self._start(self._preload))
        except SandboxUnavailable as error:
            # Whoever acquires next is told; here nobody listens.
            log.warning("No Python session could be kept ready: %s", error)
        self._change.set()

    def _forget(self, session: Session) -> None:
        # A warm one that died is replaced at the next `acquire`, not here: what kills it may kill the next one too.
        if session in self._warm:
            self._warm.remove(session)
        elif session in self._given:
            self._given.remove(session)
            self.fill()
        self._change.set()
