"""Keeping bytes under names, each call within a hard limit of time; which storage it is, the settings say.

A name is made from its content, so writing twice is harmless and a confirmed object never changes.
"""

from __future__ import annotations

from typing import cast

from django.core.files.storage import storages

from attachments.storage.base import (
    ATTEMPT_LIMIT_S,
    Deadline,
    NotStored,
    StorageError,
    StorageRefused,
    StorageUnavailable,
    VerifyingStorage,
    within,
)

__all__ = [
    "NotStored",
    "StorageError",
    "StorageRefused",
    "StorageUnavailable",
    "fetch",
    "probe",
    "put",
]

PROBE_LIMIT_S = 3.0
READ_ATTEMPTS = 4


def put(name: str, data: bytes, content_type: str) -> None:
    """Return once storage has confirmed that `name` holds exactly `data`.

    Raises StorageRefused or StorageUnavailable, within `ATTEMPT_LIMIT_S` whatever the storage does.
    """
    storage = _configured()
    within(ATTEMPT_LIMIT_S, lambda deadline: storage.store_verified(name, data, content_type, deadline))


def fetch(name: str, size_bytes: int, limit_s: float | None = None) -> bytes:
    """The bytes under `name`; one that holds another number of bytes counts as unavailable.

    Somebody waits for them, so what fails at once is tried again at once. Raises NotStored, StorageRefused or
    StorageUnavailable, within `limit_s`, by default `ATTEMPT_LIMIT_S`.
    """
    storage = _configured()

    def read(deadline: Deadline) -> bytes:
        for _ in range(READ_ATTEMPTS - 1):
            try:
                return storage.fetch(name, size_bytes, deadline)
            except StorageUnavailable:
                deadline.check()
        return storage.fetch(name, size_bytes, deadline)

    return within(ATTEMPT_LIMIT_S if limit_s is None else limit_s, read)


def probe() -> None:
    """Return if storage answers at all. Raises StorageRefused or StorageUnavailable, within `PROBE_LIMIT_S`."""
    storage = _configured()
    within(PROBE_LIMIT_S, storage.probe)


def _configured() -> VerifyingStorage:
    """Django hands out plain storages by type; both that the settings offer are verifying ones."""
    return cast(VerifyingStorage, storages["default"])
