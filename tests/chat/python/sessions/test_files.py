"""Files of a conversation that are written into the working directory of its kernel."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

import pytest

from attachments.models import Attachment
from attachments.store import BytesUnavailable
from chat.python.kernels.client import KernelClient
from chat.python.sessions import files
from chat.python.sessions.files import RETRY_AFTER_S, SessionFile, place_files

FILE = SessionFile(Attachment(name="data.csv"), "data.csv", is_kept=False)


class FakeKernel:
    """Takes every file."""

    async def write_file(self, name: str, pieces: AsyncIterator[bytes]) -> None:
        """Read the pieces."""
        async for _ in pieces:
            pass


async def test_stored_file_is_not_read_on_the_thread_that_renews_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def read(attachment: Attachment) -> bytes:
        threads.append(threading.current_thread().name)
        return b"x"

    monkeypatch.setattr(files, "read_bytes", read)
    placed, problems = await place_files(cast("KernelClient", FakeKernel()), [FILE], {}, [])
    assert (placed, problems) == ({"data.csv": str(FILE.attachment.pk)}, [])
    assert not threads[0].startswith("python-sessions")


async def test_file_that_could_not_be_read_is_read_again_a_minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = cast("KernelClient", FakeKernel())
    reads = 0
    now_s = 100.0

    def read(attachment: Attachment) -> bytes:
        nonlocal reads
        reads += 1
        if reads == 1:
            raise BytesUnavailable("Storage does not answer.")
        return b"x"

    monkeypatch.setattr(files, "read_bytes", read)
    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=lambda: now_s))
    first = await place_files(kernel, [FILE], {}, [])
    assert first == ({}, ["The file “data.csv” could not be put into the session: Storage does not answer."])
    assert await place_files(kernel, [FILE], {}, []) == first
    assert reads == 1
    now_s += RETRY_AFTER_S
    placed, problems = await place_files(kernel, [FILE], {}, [])
    assert (reads, list(placed), problems) == (2, ["data.csv"], [])
