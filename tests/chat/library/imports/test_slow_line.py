"""A large archive over a line that breaks, while servers and workers die and other people work."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import quantiles

import psutil
import pytest
import requests

from tests.chat.library.imports.large_archives import (
    PIECE,
    TUS,
    conversation,
    creation_headers,
    write_archive,
    write_claude_archive,
    write_takeout_archive,
)
from tests.child_processes import terminate, tied
from tests.environment import ROOT
from tests.live_server import LiveServer, Visitor, environment, running_server
from tests.polling import wait_until

pytestmark = pytest.mark.drill

CONVERSATIONS = 3000
FILE_BYTES = 70_000
PIECE_BYTES = 4 * 1024**2
LINE_BYTES_S = 20 * 1024**2
"""Speed of the line."""
P95_LIMIT_S = 0.25
"""Maximum 95th percentile of the times of other people's requests while the import runs."""
MEMORY_LIMIT_BYTES = 600 * 1024**2
"""Maximum memory of the worker. A list of 3,000 conversations and a file of 200 MB are never in memory at once."""


@dataclass
class Others:
    """Another person, who renames a conversation and loads its page all the time."""

    visitor: Visitor
    has_ended: threading.Event = field(default_factory=threading.Event)
    times_s: list[float] = field(default_factory=list)

    def work(self) -> None:
        """Send requests until `has_ended` is set."""
        conversation_id = self.visitor.new_conversation()
        number = 0
        while not self.has_ended.wait(0.1):
            number += 1
            for request in (self._rename, self._read):
                started_at_s = time.monotonic()
                request(conversation_id, number)
                self.times_s.append(time.monotonic() - started_at_s)

    def _rename(self, conversation_id: str, number: int) -> None:
        self.visitor.post(f"/c/{conversation_id}/rename/", title=f"Title {number}")

    def _read(self, conversation_id: str, number: int) -> None:
        assert f"Title {number}" in self.visitor.page(conversation_id)


@contextmanager
def running_worker(server: LiveServer) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker of the server's installation during the block."""
    with (server.var_dir / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            tied([sys.executable, "manage.py", "attachments_worker"]),
            cwd=ROOT,
            env=environment(server.var_dir, **server.variables),
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        terminate(process, 30)


class SlowBody(io.BytesIO):
    """The body of a request on a slow line."""

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes when the line has sent them."""
        data = super().read(size)
        time.sleep(len(data) / LINE_BYTES_S)
        return data


def write_chatgpt_archive(path: Path, count: int, *, file_bytes: int) -> None:
    write_archive(path, [conversation(number) for number in range(count)], file_bytes=file_bytes)


def offset_of(visitor: Visitor, url: str) -> int:
    response = visitor.http.head(url, headers=TUS, timeout=60)
    return int(response.headers["Upload-Offset"])


def upload(server: LiveServer, visitor: Visitor, path: Path) -> str:
    """Upload a file; the line breaks in the middle of one piece, and the server dies in another. Return the URL."""
    size_bytes = path.stat().st_size
    token = {"X-CSRFToken": visitor.http.cookies["csrftoken"] or "", "Referer": server.url}
    headers = creation_headers(size_bytes, path.name) | token
    created = visitor.http.post(f"{server.url}/import/uploads/", headers=headers, timeout=60)
    assert created.status_code == 201, created.text
    url = server.url + created.headers["Location"]
    breaks = [size_bytes // 3, 2 * size_bytes // 3]
    uploaded: list[int] = []

    def half(data: bytes) -> Iterator[bytes]:
        """Yield half of a piece, then break off."""
        yield data[: len(data) // 2]
        if len(breaks) == 1:
            server.kill()
        raise ConnectionError

    with path.open("rb") as file:
        while (offset := offset_of(visitor, url)) < size_bytes:
            file.seek(offset)
            data = file.read(PIECE_BYTES)
            piece_headers = TUS | token | {"Upload-Offset": str(offset), "Content-Type": PIECE}
            if breaks and offset > breaks[0]:
                with pytest.raises((ConnectionError, requests.ConnectionError)):
                    visitor.http.patch(url, data=half(data), headers=piece_headers, timeout=60)
                if len(breaks) == 1:
                    server.start()
                breaks.pop(0)
                assert offset_of(visitor, url) == offset
                continue
            assert visitor.http.patch(url, data=SlowBody(data), headers=piece_headers, timeout=60).status_code == 204
            if offset + len(data) < size_bytes:
                uploaded += percents(visitor, url, "uploaded")
    assert not breaks
    assert uploaded == sorted(uploaded)
    assert len({*uploaded}) > 10
    return url


def percents(visitor: Visitor, url: str, word: str) -> list[int]:
    """Return the percentage that the page shows in the sentence with a word."""
    page = visitor.http.get(url, timeout=60).text
    return [int(found) for found in re.findall(rf"(\d+) %[^<]* has been {word}", page)]


def count(server: LiveServer, statement: str) -> int:
    [[number]] = server.rows(statement)
    return int(str(number))


def is_empty(server: LiveServer, table: str) -> bool:
    return not count(server, f"SELECT COUNT(*) FROM {table}")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("write", [write_chatgpt_archive, write_claude_archive, write_takeout_archive])
def test_archive_of_200_mb_is_imported_completely_and_once_over_a_slow_line(
    write: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "export.zip"
    write(path, CONVERSATIONS, file_bytes=FILE_BYTES)
    assert path.stat().st_size > 200 * 1024**2
    with running_server() as server:
        visitor = Visitor(server)
        started_at_s = time.monotonic()
        url = upload(server, visitor, path)
        print(f"\nuploaded in {time.monotonic() - started_at_s:.0f} s")
        others = Others(Visitor.signed_up(server, "others", "a long password 1"))
        thread = threading.Thread(target=others.work)
        thread.start()
        wait_until(lambda: len(others.times_s) >= 200)
        alone_s = others.times_s[:]
        others.times_s.clear()
        started_at_s = time.monotonic()
        try:
            with running_worker(server) as worker:
                wait_until(lambda: count(server, "SELECT created FROM chat_importjob") > 500, 300)
                worker.kill()
                worker.wait()
            # Its claim would expire in 90 s.
            server.write("UPDATE chat_importjob SET claimed_until = NULL")
            with running_worker(server) as worker:
                process, peaks, read = psutil.Process(worker.pid), [0], []

                def has_ended() -> bool:
                    peaks.append(process.memory_info().rss)
                    read.extend(percents(visitor, url, "read"))
                    return not count(server, "SELECT COUNT(*) FROM chat_importjob WHERE state = 'running'")

                wait_until(has_ended, 900)
                imported_s = time.monotonic() - started_at_s
                for table in ("chat_importpiece", "attachments_pendingupload", "attachments_objectdeletion"):
                    wait_until(partial(is_empty, server, table), 300)
        finally:
            others.has_ended.set()
            thread.join()
        p95_s = quantiles(others.times_s, n=20)[-1]
        print(
            f"imported in {imported_s:.0f} s with one restart; worker {max(peaks) / 1024**2:.0f} MB;"
            f" {len(others.times_s)} requests of others: p95 {p95_s * 1000:.0f} ms, max {max(others.times_s):.2f} s;"
            f" progress {sorted({*read})}; before: p95 {quantiles(alone_s, n=20)[-1] * 1000:.0f} ms"
        )
        page = visitor.http.get(url, timeout=60).text
        assert f"{CONVERSATIONS} conversations are new." in page
        assert count(server, "SELECT COUNT(DISTINCT digest) FROM chat_importedconversation") == CONVERSATIONS
        assert count(server, "SELECT COUNT(*) FROM chat_importedconversation") == CONVERSATIONS
        texts = "SELECT COUNT(*), COUNT(DISTINCT text) FROM chat_message WHERE text LIKE '%of conversation%'"
        assert server.rows(texts) == [(4 * CONVERSATIONS, 4 * CONVERSATIONS)]
        files = "SELECT COUNT(*), COUNT(DISTINCT sha256), SUM(size_bytes) FROM attachments_attachment"
        assert server.rows(files) == [(CONVERSATIONS, CONVERSATIONS, CONVERSATIONS * FILE_BYTES)]
        objects = [one for one in (server.var_dir / "media").rglob("*") if one.is_file()]
        assert sum(one.stat().st_size for one in objects) == CONVERSATIONS * FILE_BYTES
        assert read == sorted(read)
        assert len({*read}) > 5
        assert max(peaks) < MEMORY_LIMIT_BYTES
        assert p95_s < P95_LIMIT_S
