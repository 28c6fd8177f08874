"""The protocol and the errors of storages, and the time limit of every call to a storage."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Protocol, TypeVar

T = TypeVar("T")

#: Maximum time that a caller waits for one call to storage.
ATTEMPT_LIMIT_S = 12.0
#: Maximum number of concurrent calls of one process, including calls whose callers no longer wait for them.
CALL_LIMIT = 32


class StorageError(Exception):
    """The base of all storage errors. The text of an error is a message for staff.

    StorageError
    |-- StorageRefused       the same call fails until someone changes keys, permissions or the bucket
    |-- StorageUnavailable   a later call may succeed: storage is down, slow or full, or a transfer broke off
    `-- ObjectNotFound       no object has that name
    """


class StorageRefused(StorageError):
    """Storage refuses the call for a reason that a retry does not change."""


class StorageUnavailable(StorageError):
    """Storage cannot complete the call now; a retry may succeed."""


class ObjectNotFound(StorageError):
    """Storage has no object under that name."""


class Deadline:
    """The time at which the caller of a storage call stops waiting."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._ends_at_s = time.monotonic() + limit_s

    @property
    def remaining_s(self) -> float:
        """The time left in seconds; never negative."""
        return max(0.0, self._ends_at_s - time.monotonic())

    def check(self) -> None:
        """Raise StorageUnavailable if the deadline has passed. Storages call this between the steps of a call."""
        if not self.remaining_s:
            raise StorageUnavailable(f"Storage did not finish within {self._limit_s:.0f} s.")


class VerifyingStorage(Protocol):
    """A Django storage that verifies each object after writing it."""

    def store_verified(self, name: str, data: bytes, content_type: str, deadline: Deadline) -> None:
        """Return once the object `name` is confirmed to hold exactly `data`; an existing equal object is kept."""

    def fetch(self, name: str, size_bytes: int, deadline: Deadline) -> bytes:
        """Return the `size_bytes` bytes of the object `name`."""

    def remove(self, name: str, deadline: Deadline) -> None:
        """Delete the object `name`. An object that does not exist is no error."""

    def probe(self, deadline: Deadline) -> None:
        """Return if the storage responds."""


_free_slots = threading.BoundedSemaphore(CALL_LIMIT)


def run_with_deadline(limit_s: float, work: Callable[[Deadline], T]) -> T:
    """Return what `work` returns, or raise its error. Raise StorageUnavailable after `limit_s`.

    A socket timeout limits each single read only, so a server that sends one byte now and then never triggers it.
    Therefore the work runs in its own thread, and the caller stops waiting at the deadline. The abandoned thread ends
    at its next `Deadline.check` or socket timeout; until then it can only write the same content, or delete the object
    that its caller has claimed. It keeps its slot, so a storage that hangs has at most `CALL_LIMIT` threads.
    """
    deadline = Deadline(limit_s)
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work(deadline))
        except BaseException as error:  # noqa: BLE001 - every error of `work` is raised again in the caller's thread
            result.set_exception(error)
        finally:
            _free_slots.release()

    if not _free_slots.acquire(timeout=limit_s):
        raise StorageUnavailable("Storage is not answering; too many calls wait for it already.")
    try:
        threading.Thread(target=run, name="storage-call", daemon=True).start()
    except Exception:
        # The thread was not started, for lack of threads or memory, so `run` does not release the slot.
        _free_slots.release()
        raise
    wait([result], timeout=deadline.remaining_s)
    if not result.done():
        raise StorageUnavailable(f"Storage did not finish within {limit_s:.0f} s.")
    return result.result()
