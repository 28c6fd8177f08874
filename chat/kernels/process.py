"""A launched kernel process: detect its exit, kill it, and limit the memory of all its processes together."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from chat.kernels.sandbox import MIB

MEMORY_LIMIT_BYTES = 1536 * MIB
"""Memory of all processes of one kernel together."""

_MEMORY_CHECK_INTERVAL_S = 0.25


class KernelProcess:
    """Supervises the process of one kernel, on the event loop that created the instance."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Take over a process that `sandbox.launch` returned."""
        self._process = process
        self.stderr = b""
        """Complete once the process has exited."""
        self.kill_reason = ""
        """Why this instance killed the process; empty if it exited by itself."""
        self.exit_future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # A pidfd becomes readable when its process exits, so neither a thread nor polling is needed.
        self._pidfd = os.pidfd_open(process.pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._on_exit)
        self._memory_task = asyncio.create_task(self._limit_memory())

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return not self.exit_future.done()

    def kill(self, reason: str) -> None:
        """Kill the process and all that it started; only the first reason is recorded."""
        if self.is_alive and not self.kill_reason:
            self.kill_reason = reason
            self._process.kill()

    async def close(self) -> None:
        """Kill the process if it runs, and wait until it has exited."""
        self.kill("It was closed.")
        await self.exit_future
        self._memory_task.cancel()
        await asyncio.gather(self._memory_task, return_exceptions=True)

    def add_exit_callback(self, callback: Callable[[], None]) -> None:
        """Call this function once the process has exited, for any reason."""
        self.exit_future.add_done_callback(lambda _: callback())

    def _on_exit(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stderr is not None:
            os.set_blocking(self._process.stderr.fileno(), False)
            self.stderr = self._process.stderr.read() or b""
            self._process.stderr.close()
        self.exit_future.set_result(None)

    async def _limit_memory(self) -> None:
        while self.is_alive:
            await asyncio.sleep(_MEMORY_CHECK_INTERVAL_S)
            # Runs in a thread because reading the sizes of many busy processes can take a second.
            size_bytes = await asyncio.to_thread(measure_memory_bytes, self._process.pid, MEMORY_LIMIT_BYTES)
            if size_bytes > MEMORY_LIMIT_BYTES:
                self.kill(f"It used more than {MEMORY_LIMIT_BYTES / MIB / 1024:g} GiB of memory.")


def measure_memory_bytes(pid: int, threshold_bytes: int) -> int:
    """Return the memory of a process and all its descendants.

    Adds up resident sizes, which are cheap to read but count a shared page once per process. If the sum reaches
    `threshold_bytes`, returns the sum of proportional sizes (PSS), which are exact and cost milliseconds.
    """
    pids = tuple(_process_tree(pid))
    resident_bytes = sum(_resident_bytes(pid) for pid in pids)
    return resident_bytes if resident_bytes < threshold_bytes else sum(_proportional_bytes(pid) for pid in pids)


def _process_tree(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read_proc(children).split():
            yield from _process_tree(int(child))


def _resident_bytes(pid: int) -> int:
    words = _read_proc(Path(f"/proc/{pid}/statm")).split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if words else 0


def _proportional_bytes(pid: int) -> int:
    lines = _read_proc(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _read_proc(path: Path) -> str:
    """Return the text of a file below `/proc`, or an empty text if its process has just exited."""
    try:
        return path.read_text()
    except OSError:
        return ""
