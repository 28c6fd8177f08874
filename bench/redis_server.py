"""A Redis server for several server processes of one benchmark, and for tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import BenchError, find_free_port


class RedisServer:
    """Redis without persistence, which can be ended and started again on the same port."""

    def __init__(self, folder: Path) -> None:
        """`folder`: for its log. Raise BenchError if Redis is not installed."""
        program = shutil.which("redis-server")
        if program is None:
            raise BenchError("redis-server is not installed: apt-get install redis-server")
        self._folder = folder
        port = find_free_port()
        self.url = f"redis://127.0.0.1:{port}/0"
        self._command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process. It runs on the cores of this process."""
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def stop(self) -> None:
        """End the process, if it runs."""
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._process = None


@contextmanager
def run_redis(folder: Path) -> Iterator[str]:
    """Run Redis until the block ends, and yield its URL. Raise BenchError if it is not installed."""
    server = RedisServer(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()
