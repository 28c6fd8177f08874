"""Stores bytes under names, in the storage that the settings configure. Each call has a hard time limit.

A name is derived from its content, so writing an object twice is harmless, and a confirmed object never changes until
it is deleted.
"""

from __future__ import annotations

from typing import cast

from django.core.files.storage import storages

from attachments.storage.base import (
    ATTEMPT_LIMIT_S,
    Deadline,
    ObjectNotFound,
    StorageError,
    StorageRefused,
    StorageUnavailable,
    VerifyingStorage,
    run_with_deadline,
)

__all__ = [
    "ObjectNotFound",
    "StorageError",
    "StorageRefused",
    "StorageUnavailable",
    "delete",
    "fetch",
    "probe",
    "put",
]

PROBE_LIMIT_S = 3.0
READ_ATTEMPTS = 4


def put(name: str, data: bytes, content_type: str) -> None:
    """Return once storage has confirmed that `name` holds exactly `data`.

    Raise StorageRefused or StorageUnavailable if it does not. The call ends within `ATTEMPT_LIMIT_S` in any case.
    """
    storage = _get_storage()
    run_with_deadline(ATTEMPT_LIMIT_S, lambda deadline: storage.store_verified(name, data, content_type, deadline))


def fetch(name: str, size_bytes: int, limit_s: float | None = None) -> bytes:
    """Return the `size_bytes` bytes under `name`. An object of another size counts as unavailable.

    If storage is unavailable, it is read again immediately, up to `READ_ATTEMPTS` times in all, because a user waits
    for the bytes. Raise ObjectNotFound, StorageRefused, or StorageUnavailable after the last read. The call ends within
    `limit_s`, by default `ATTEMPT_LIMIT_S`.
    """
    storage = _get_storage()

    def read(deadline: Deadline) -> bytes:
        for _ in range(READ_ATTEMPTS - 1):
            try:
                return storage.fetch(name, size_bytes, deadline)
            except StorageUnavailable:
                deadline.check()
        return storage.fetch(name, size_bytes, deadline)

    return run_with_deadline(ATTEMPT_LIMIT_S if limit_s is None else limit_s, read)


def delete(name: str) -> None:
    """Return once storage has no object `name`, whether it had one or not.

    Raise StorageRefused or StorageUnavailable if this fails. The call ends within `ATTEMPT_LIMIT_S` in any case.
    """
    storage = _get_storage()
    run_with_deadline(ATTEMPT_LIMIT_S, lambda deadline: storage.remove(name, deadline))


def probe() -> None:
    """Return if the storage responds. Raise StorageRefused or StorageUnavailable within `PROBE_LIMIT_S`."""
    storage = _get_storage()
    run_with_deadline(PROBE_LIMIT_S, storage.probe)


def _get_storage() -> VerifyingStorage:
    """Return the default storage of the settings.

    Django's types know it only as a `Storage`; both backends of the settings implement `VerifyingStorage`.
    """
    return cast(VerifyingStorage, storages["default"])
