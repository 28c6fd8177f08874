"""Adds up the CPU time of a kernel's processes, also of those that have exited since.

Linux adds the time of a child to that of its parent when the parent waits for the exited child. A parent that ignores
SIGCHLD never waits. Then the time that the child uses between the last sample and its exit is not counted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """The CPU time of one process, in clock ticks."""

    started: int
    """Start time of the process. It tells a process from a later one with the same id."""
    own: int
    """Time of all threads of the process."""
    children: int
    """Time of the children that have exited, and of their own exited children."""


class CpuMeter:
    """Counts the CPU time of one kernel's processes. Several threads may use it at the same time."""

    def __init__(self) -> None:
        """Start to count at zero."""
        self._lock = threading.Lock()
        self._known: dict[int, ProcessTimes] = {}
        self._ticks = 0

    @property
    def total_s(self) -> float:
        """The CPU time up to the last sample, in seconds."""
        return self._ticks / _TICKS_PER_S

    def sample(self, pids: Iterable[int]) -> None:
        """Add the time used since the last sample. `pids`: all processes that the kernel has now."""
        with self._lock:
            self.add({pid: times for pid in pids if (times := read_times(pid))})

    def add(self, now: dict[int, ProcessTimes]) -> None:
        """Add a sample of all processes of the kernel, by their ids. Reads nothing from the system."""
        own = of_children = 0
        for pid, times in now.items():
            before = self._known.get(pid)
            if before is None or before.started != times.started:
                before = ProcessTimes(times.started, 0, 0)
            own += times.own - before.own
            of_children += times.children - before.children
        exited = [old for pid, old in self._known.items() if pid not in now or now[pid].started != old.started]
        # The time of exited children is now in that of their parents. It was counted before, while they lived.
        of_children -= sum(old.own + old.children for old in exited)
        self._ticks += own + max(0, of_children)
        self._known = now


def read_times(pid: int) -> ProcessTimes | None:
    """Return the CPU time of a process; `None` if it has exited. Source: proc_pid_stat(5)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name of the program, in parentheses, may have any characters. The third field follows it.
    fields = stat.rpartition(")")[2].split()
    user, system, children_user, children_system = map(int, fields[11:15])
    return ProcessTimes(int(fields[19]), user + system, children_user + children_system)
