"""A Redis server for several server processes of one benchmark, and for tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import BenchError, find_free_port


@contextmanager
def run_redis(folder: Path) -> Iterator[str]:
    """Run Redis without persistence until the block ends, and yield its URL.

    It runs on the cores of this process. Raise BenchError if it is not installed.
    """
    program = shutil.which("redis-server")
    if program is None:
        raise BenchError("redis-server is not installed: apt-get install redis-server")
    port = find_free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with (folder / "redis.log").open("ab") as log:
        process = subprocess.Popen([program, *options], stdout=log, stderr=log)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()
