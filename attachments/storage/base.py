"""What every storage promises, how it fails, and the limit of time that no call outlives."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")

#: No call into storage keeps its caller waiting for longer.
ATTEMPT_LIMIT_S = 12.0
#: Calls that may be under way at once in a process, those included whose callers gave up on them.
CALL_LIMIT = 32


class StorageError(Exception):
    """Storage did not do as asked; the text is a sentence for staff.

    StorageError
    |-- StorageRefused       time alone does not mend it: keys, rights, no bucket
    |-- StorageUnavailable   it may work later: down, slow, full, a broken transfer
    `-- NotStored            there is nothing under that name
    """


class StorageRefused(StorageError):
    """Storage says no for a reason that time alone does not mend."""


class StorageUnavailable(StorageError):
    """Storage cannot do it now."""


class NotStored(StorageError):
    """Nothing is kept under that name."""


class Deadline:
    """A moment after which work is of no use to anybody."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._ends_at_s = time.monotonic() + limit_s

    @property
    def remaining_s(self) -> float:
        """Time left, never negative."""
        return max(0.0, self._ends_at_s - time.monotonic())

    def check(self) -> None:
        """Raise StorageUnavailable when it has passed; to be called between the steps of a call."""
        if not self.remaining_s:
            raise StorageUnavailable(f"Storage did not finish within {self._limit_s:.0f} s.")


class VerifyingStorage(Protocol):
    """A Django storage that confirms what it holds."""

    def store_verified(self, name: str, data: bytes, content_type: str, deadline: Deadline) -> None:
        """Return once `name` is confirmed to hold exactly `data`; accept it when it does already."""

    def fetch(self, name: str, size_bytes: int, deadline: Deadline) -> bytes:
        """The `size_bytes` bytes under `name`."""

    def probe(self, deadline: Deadline) -> None:
        """Return if storage answers."""


class _Call(Generic[T]):
    """One call on a thread of its own; keeps what came of it, an error too, for who asked."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.results: list[T] = []
        self.error: BaseException | None = None

    def __enter__(self) -> _Call[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.error = error
        self.done.set()
        return True


_free_slots = threading.BoundedSemaphore(CALL_LIMIT)


def within(limit_s: float, work: Callable[[Deadline], T]) -> T:
    """What `work` returns or raises, or StorageUnavailable after `limit_s`.

    Sockets have limits for each single wait only, so a server that sends a byte now and then outlives all of
    them. Therefore the work is done on its own thread, which is left behind when the time is over: it ends
    by itself at its next `Deadline.check` or socket timeout, and what it still writes is the same content.
    Threads left behind keep their slot, so that a storage that hangs for ever cannot pile them up.
    """
    deadline = Deadline(limit_s)
    call: _Call[T] = _Call()

    def run() -> None:
        try:
            with call:
                call.results.append(work(deadline))
        finally:
            _free_slots.release()

    if not _free_slots.acquire(timeout=limit_s):
        raise StorageUnavailable("Storage is not answering; too many calls wait for it already.")
    threading.Thread(target=run, name="storage-call", daemon=True).start()
    if not call.done.wait(deadline.remaining_s):
        raise StorageUnavailable(f"Storage did not finish within {limit_s:.0f} s.")
    if call.error is not None:
        raise call.error
    return call.results[0]
