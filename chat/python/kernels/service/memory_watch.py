"""Ends kernels that use too much memory or create too many sockets, and the largest one if the machine runs out.

It also samples CPU time.

A separate thread measures, because reading the numbers of many busy processes can take a second. A kernel may exceed
the limit for a fraction of a second; a cgroup, where one is delegated (see `cgroups`), has no such gap.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from chat.python.kernels.sandbox import MIB
from chat.python.kernels.service import memory
from chat.python.kernels.service.provisioner import SandboxProvisioner

logger = logging.getLogger(__name__)

INTERVAL_S = 0.25
IDLE_INTERVAL_CHECKS = 4
"""A kernel that runs no cell is measured in each fourth check only, which saves CPU time."""
DROP_BYTES = 64 * MIB
"""If the available memory of the machine falls by this between two checks, idle kernels are measured too. Code may have
left threads or processes running there."""
SOCKET_FILES_LIMIT_COUNT = 64
"""Maximum number of files in a kernel's folder on the host. Code in the sandbox can create only sockets there."""
FREE_SHARE_LIMIT = 0.05
"""Minimum share of the machine's memory that must be available. Below it, the largest kernel is ended."""
VICTIM_MINIMUM_BYTES = 150 * MIB
"""Minimum size of a kernel that is ended for the machine. Ending a smaller one would not help."""
RECOVERY_S = 1.0
"""Time for the memory of an ended kernel to become free, before the next kernel is ended."""


class MemoryWatch:
    """Measures kernels in a thread, from the first `add` on."""

    def __init__(self, limit_bytes: int) -> None:
        """Prepare to watch kernels. `limit_bytes`: the maximum memory of one kernel."""
        self._limit_bytes = limit_bytes
        self._processes: dict[int, SandboxProvisioner] = {}
        self._sandboxed_pids: dict[int, int] = {}
        self._thread: threading.Thread | None = None
        self._recovered_at = 0.0
        self._check_count = 0
        self._available_bytes = 0
        self._sizes: dict[int, int] = {}

    def add(self, process: SandboxProvisioner) -> None:
        """Watch a kernel until it exits."""
        self._processes[process.pid] = process
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="memory-watch", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(INTERVAL_S)
            try:
                self.check()
            except Exception:  # continue: without a control group, only this watch limits the memory of a whole kernel
                logger.exception("The memory of kernels could not be measured.")

    def check(self) -> None:
        """Measure kernels once, and end those that use too much."""
        available_bytes, total_bytes = memory.host_memory_bytes()
        is_for_all = (
            self._check_count % IDLE_INTERVAL_CHECKS == 0 or self._available_bytes - available_bytes > DROP_BYTES
        )
        self._check_count += 1
        self._available_bytes = available_bytes
        for pid, process in tuple(self._processes.items()):
            if not process.is_running or process.pid != pid:
                for values in (self._processes, self._sandboxed_pids, self._sizes):
                    values.pop(pid, None)
            elif is_for_all or process.is_busy:
                self._check_kernel(pid, process)
        self._relieve_host(available_bytes, total_bytes)

    def _check_kernel(self, pid: int, process: SandboxProvisioner) -> None:
        pids = tuple(memory.process_tree(pid))
        process.cpu.sample(pids)
        self._sizes[pid] = self._measure(pid, pids)
        if self._sizes[pid] > self._limit_bytes:
            process.end(f"It used more than {self._limit_bytes / MIB / 1024:.2g} GiB of memory.")
        elif process.count_socket_files(SOCKET_FILES_LIMIT_COUNT + 1) > SOCKET_FILES_LIMIT_COUNT:
            process.end("It created too many socket files.")

    def _measure(self, pid: int, pids: tuple[int, ...]) -> int:
        other_bytes = 0
        sandboxed_pid = self._sandboxed_pid(pid, pids)
        if sandboxed_pid is not None:
            other_bytes = memory.file_bytes(sandboxed_pid) + memory.socket_bytes(sandboxed_pid)
        size_bytes = memory.process_bytes(pids) + other_bytes
        return size_bytes if size_bytes <= self._limit_bytes else memory.proportional_bytes(pids) + other_bytes

    def _sandboxed_pid(self, pid: int, pids: tuple[int, ...]) -> int | None:
        known = self._sandboxed_pids.get(pid)
        if known is None or known not in pids:
            found = memory.find_sandboxed_process(pids)
            if found is None:
                return None
            self._sandboxed_pids[pid] = known = found
        return known

    def _relieve_host(self, available_bytes: int, total_bytes: int) -> None:
        if time.monotonic() < self._recovered_at:
            return
        victim = choose_victim(self._sizes, available_bytes, total_bytes)
        if victim is not None and (process := self._processes.get(victim)) is not None:
            process.end("The machine ran out of memory, and this Python session used the most.")
            self._recovered_at = time.monotonic() + RECOVERY_S


def choose_victim(sizes: Mapping[int, int], available_bytes: int, total_bytes: int) -> int | None:
    """Return the kernel to end, or None if the machine has enough memory or no kernel is large."""
    if available_bytes >= FREE_SHARE_LIMIT * total_bytes or not sizes:
        return None
    hungriest = max(sizes, key=lambda pid: sizes[pid])
    return hungriest if sizes[hungriest] >= VICTIM_MINIMUM_BYTES else None
