"""Limits how many pages are rendered at once, and lets readers take turns, so that one reader cannot block the others.

Rendering a long page keeps the interpreter, which all threads share, busy for up to a second. A reader who requests
several pages gets one after the other. If a reader disconnects, the rendering ends after the message that it has
reached, and its place becomes free.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Hashable
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

PEOPLE_AT_ONCE = 4
"""Number of people for whom a process renders at once. More would not be faster: they share the interpreter."""
WAITING_PER_READER = 100
"""Maximum number of waiting requests of one reader. A school class at one IP address is one reader until it logs in."""


class QueueIsFull(Exception):
    """Too many requests of this reader wait already, or the reader has waited too long for a place."""


class ReaderLeft(Exception):
    """The reader has disconnected, so the rendering is no longer needed."""


class Place:
    """The right of one reader to render once."""

    def __init__(self, release: Callable[[], None]) -> None:
        """`release`: gives the place to the next reader in the queue."""
        self._release = release
        self._lock = threading.Lock()
        self._is_taken = False
        """Whether a thread has begun to render."""
        self.is_left = False
        """Whether the reader has disconnected, or has received the result."""

    def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function that renders, on the caller's thread. Call it only once. Raises ReaderLeft after `leave`."""
        with self._lock:
            if self.is_left:
                raise ReaderLeft
            self._is_taken = True
        token = _place.set(self)
        try:
            return function(*args, **kwargs)
        finally:
            _place.reset(token)
            self._release()

    def leave(self) -> None:
        """Give up the place. A thread that renders keeps it until it ends, or until `check_reader` raises."""
        with self._lock:
            was_left, self.is_left = self.is_left, True
            if self._is_taken or was_left:
                return
        self._release()


_place: ContextVar[Place | None] = ContextVar("_place", default=None)


def check_reader() -> None:
    """Raise ReaderLeft if the reader for whom this thread renders has disconnected."""
    place = _place.get()
    if place is not None and place.is_left:
        raise ReaderLeft


class RenderQueue:
    """Gives out places, at most one to each reader. Readers are served in the order of their requests. A reader who was
    served and has more requests goes to the end of the queue.

    It may be used from several event loops and threads.
    """

    def __init__(self, at_once: int, waiting_per_reader: int) -> None:
        """`at_once`: the number of places. `waiting_per_reader`: maximum number of waiting requests of a reader."""
        self._at_once = at_once
        self._waiting_per_reader = waiting_per_reader
        self._lock = threading.Lock()
        self._served: set[Hashable] = set()
        """The readers who have a place."""
        self._waiting: dict[Hashable, deque[Future[None]]] = {}
        """Reader -> waiting requests, in the order in which the readers are served."""

    @asynccontextmanager
    async def place(self, reader: Hashable, *, is_refusable: bool = False) -> AsyncGenerator[Place, None]:
        """Wait for a place, and hold it during the block. Raises QueueIsFull only if `is_refusable`."""
        request = self._request(reader, is_refusable)
        try:
            await asyncio.wrap_future(request)
        except BaseException:  # also of a generator that is closed
            self._withdraw(reader, request)
            raise
        place = Place(lambda: self._leave(reader))
        try:
            yield place
        finally:
            place.leave()

    @contextmanager
    def hold(self, reader: Hashable, limit_s: float) -> Generator[None]:
        """Wait for a place on the thread of the caller, and hold it during the block.

        Raises QueueIsFull if too many requests of this reader wait already, or if there is no place within `limit_s`.
        """
        request = self._request(reader, is_refusable=True)
        try:
            request.result(limit_s)
        except TimeoutError:
            self._withdraw(reader, request)
            raise QueueIsFull from None
        try:
            yield
        finally:
            self._leave(reader)

    def _request(self, reader: Hashable, is_refusable: bool) -> Future[None]:
        """Return a request that is done when the reader has a place. Raises QueueIsFull only if `is_refusable`."""
        request: Future[None] = Future()
        with self._lock:
            waiting = self._waiting.setdefault(reader, deque())
            if is_refusable and len(waiting) >= self._waiting_per_reader:
                raise QueueIsFull
            waiting.append(request)
            self._serve_next()
        return request

    def _withdraw(self, reader: Hashable, request: Future[None]) -> None:
        with self._lock, suppress(KeyError, ValueError):
            self._waiting[reader].remove(request)
        if not request.cancel():
            self._leave(reader)

    def _leave(self, reader: Hashable) -> None:
        with self._lock:
            self._served.discard(reader)
            if reader in self._waiting:
                # The reader goes to the end of the queue.
                self._waiting[reader] = self._waiting.pop(reader)
            self._serve_next()

    def _serve_next(self) -> None:
        """Give free places to readers who wait. The caller holds the lock."""
        for reader in list(self._waiting):
            if len(self._served) >= self._at_once:
                return
            requests = self._waiting[reader]
            while requests and reader not in self._served:
                request = requests.popleft()
                if request.set_running_or_notify_cancel():
                    self._served.add(reader)
                    request.set_result(None)
            if not requests:
                del self._waiting[reader]


PEOPLE = RenderQueue(PEOPLE_AT_ONCE, WAITING_PER_READER)
"""The queue of this process for the pages and sockets of people who are logged in."""
STRANGERS = RenderQueue(2, WAITING_PER_READER)
"""The queue for shared pages that are read without an account, so that strangers never keep people waiting."""
EXPORTS = RenderQueue(2, WAITING_PER_READER)
"""The queue for blocks of downloads, which may wait for storage."""
DOCUMENTS = RenderQueue(2, waiting_per_reader=3)
"""The queue for PDF and Word documents. The programs that make them use a core and up to 1 GB each."""
