"""Adds up the CPU time of a kernel's processes, also of those that have exited since.

Linux adds the time of a child to its parent's when the parent has waited for it. A parent that ignores SIGCHLD waits
for none: the time that such a child uses after the last sample before its exit is not counted.
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
    """When it was started. A later process may have the same id."""
    own: int
    """Of all its threads."""
    children: int
    """Of its children that have exited, with theirs."""


class CpuMeter:
    """The CPU time of one kernel's processes. Threads may use it at once."""

    def __init__(self) -> None:
        """Begin with no time."""
        self._lock = threading.Lock()
        self._known: dict[int, ProcessTimes] = {}
        self._ticks = 0

    @property
    def total_s(self) -> float:
        """The time up to the last sample, in seconds."""
        return self._ticks / _TICKS_PER_S

    def sample(self, pids: Iterable[int]) -> None:
        """Add what these processes, which are all that the kernel has now, have used since the last sample."""
        with self._lock:
            self.add({pid: times for pid in pids if (times := read_times(pid))})

    def add(self, now: dict[int, ProcessTimes]) -> None:
        """Add a sample that was read before. Pure."""
        own = of_children = 0
        for pid, times in now.items():
            before = self._known.get(pid)
            if before is None or before.started != times.started:
                before = ProcessTimes(times.started, 0, 0)
            own += times.own - before.own
            of_children += times.children - before.children
        exited = [old for pid, old in self._known.items() if pid not in now or now[pid].started != old.started]
        # Parents have now what was counted while their children lived.
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
