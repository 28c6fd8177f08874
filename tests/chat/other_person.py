"""Measures how long another person's requests take while somebody does harm, and the memory of the server."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.live_server import LiveServer, Visitor

P95_LIMIT_S = 0.25
LONGEST_LIMIT_S = 1.0
"""Limit for the longest wait of another person. The wait without harm is added, because the machine may be busy."""
MEMORY_LIMIT_MIB = 150
"""Maximum memory that one harm may take in addition."""


@dataclass
class OtherPerson:
    """Another person, who reads their conversation without a pause while a block runs."""

    server: LiveServer
    waits_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._visitor = Visitor.signed_up(self.server, "reader", "Reading-all-day-1")
        self._url = f"{self.server.url}/api/v1/conversations/{self._visitor.new_conversation()}/"

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read during the block; `waits_s` has the seconds of each request."""
        is_over = threading.Event()
        self.waits_s = []

        def read() -> None:
            while not is_over.wait(0.01):
                began = time.perf_counter()
                response = self._visitor.http.get(self._url, timeout=120)
                self.waits_s.append(time.perf_counter() - began)
                assert response.status_code == 200

        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    @property
    def p95_s(self) -> float:
        """The 95th percentile of the waits."""
        return (
            statistics.quantiles(self.waits_s, n=20, method="inclusive")[-1]
            if len(self.waits_s) > 1
            else max(self.waits_s)
        )


@dataclass
class Memory:
    """The resident memory of the server process, in MiB."""

    pid: int

    def now(self) -> float:
        """Return its memory now."""
        return self._field("VmRSS")

    def forget_peak(self) -> None:
        """Start measuring the peak."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def peak(self) -> float:
        """Return the peak of the memory since `forget_peak`."""
        return self._field("VmHWM")

    def _field(self, name: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0]) / 1024
