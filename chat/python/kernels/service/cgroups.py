"""Control groups for kernels: limits of memory, processes and CPU time that Linux itself enforces.

They are used only where the system has delegated a control group to this service: on systemd by `Delegate=yes`, on
cgroup v1 by a folder that belongs to the service's user. Root may write everywhere, which proves no delegation, so a
service that runs as root uses them only if systemd has marked the group, or on request. Without them, `memory_watch` is
the only limit of memory.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chat.python.kernels.service import memory

logger = logging.getLogger(__name__)

PROCESSES_LIMIT = 80
"""Maximum number of processes in a group. A kernel may have 64; the processes of bubblewrap count, too."""
CPU_PERIOD_US = 100_000
"""Length of a scheduling period. A kernel may use as much CPU time in each period, which is one processor."""
_SERVICE_GROUP = "plotline-service"
_KERNEL_PREFIX = "plotline-kernel-"
_REMOVAL_ATTEMPTS = 20
_REMOVAL_PAUSE_S = 0.05
_CONTROLLERS = ("memory", "pids", "cpu")


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """The control group of one kernel: one folder, or with cgroup v1 one for each controller."""

    folders: tuple[Path, ...]

    def add_processes(self, pid: int) -> None:
        """Move a process and all its descendants into the group. New children follow their parents."""
        for process in tuple(memory.process_tree(pid)):
            for folder in self.folders:
                # A process that has just exited cannot be moved.
                with suppress(OSError):
                    (folder / "cgroup.procs").write_text(str(process))

    def count_memory_kills(self) -> int:
        """Return how many processes Linux has killed because the group reached its memory limit."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    lines = (folder / name).read_text().splitlines()
                    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
        return 0

    def cpu_s(self) -> float | None:
        """Return the CPU seconds of the group's processes, also of exited ones; `None` if it is not counted."""
        for folder in self.folders:
            with suppress(OSError):
                lines = (folder / "cpu.stat").read_text().splitlines()
                counts = [int(line.split()[1]) for line in lines if line.startswith("usage_usec ")]
                if counts:
                    return counts[0] / 1e6
            # With cgroup v1, most systems have the controllers `cpu` and `cpuacct` in one folder.
            with suppress(OSError):
                return int((folder / "cpuacct.usage").read_text()) / 1e9
        return None

    def remove(self) -> None:
        """Remove the group, whose processes have been killed; waits a moment until they are gone."""
        for folder in self.folders:
            for _ in range(_REMOVAL_ATTEMPTS):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_REMOVAL_PAUSE_S)
                else:
                    break


class KernelGroups:
    """Creates groups below the folders that are delegated to this service."""

    def __init__(self, parents: Iterable[Path], memory_limit_bytes: int) -> None:
        """Use the folders that `find_parents` returns. Groups that a killed service has left are removed."""
        self._parents = tuple(parents)
        self._memory_limit_bytes = memory_limit_bytes
        for parent in self._parents:
            for leftover in parent.glob(f"{_KERNEL_PREFIX}*"):
                with suppress(OSError):
                    leftover.rmdir()

    def create(self, name: str, pid: int) -> KernelGroup | None:
        """Create the group of a kernel and move its processes there; returns None if this is not possible."""
        if not self._parents:
            return None
        group = KernelGroup(tuple(parent / f"{_KERNEL_PREFIX}{name}" for parent in self._parents))
        try:
            for folder in group.folders:
                folder.mkdir(exist_ok=True)
                self._set_limits(folder)
        except OSError:
            logger.warning("A kernel could not be put into a control group.", exc_info=True)
            group.remove()
            return None
        group.add_processes(pid)
        return group

    def _set_limits(self, folder: Path) -> None:
        """Write each limit for which this folder has a file. The files depend on the version and on the controller."""
        limits = {
            "memory.max": self._memory_limit_bytes,
            "memory.swap.max": 0,
            "memory.limit_in_bytes": self._memory_limit_bytes,
            "pids.max": PROCESSES_LIMIT,
            "cpu.max": f"{CPU_PERIOD_US} {CPU_PERIOD_US}",
            "cpu.cfs_quota_us": CPU_PERIOD_US,
        }
        for name, value in limits.items():
            if (folder / name).exists():
                (folder / name).write_text(str(value))


def find_parents(*, is_root_allowed: bool) -> list[Path]:
    """Return the folders in which this service may create groups; an empty list if nothing is delegated."""
    groups = _own_groups(Path("/proc/self/cgroup").read_text())
    mounts = _cgroup_mounts(Path("/proc/self/mountinfo").read_text())
    if "" in groups and "" in mounts:
        own = mounts[""] / groups[""].lstrip("/")
        parent = own.parent if own.name == _SERVICE_GROUP else own
        if _is_delegated(parent, is_root_allowed) and _prepare_v2(parent):
            return [parent]
    parents = [mounts[name] / groups[name].lstrip("/") for name in _CONTROLLERS if name in groups and name in mounts]
    return [parent for parent in parents if _is_delegated(parent, is_root_allowed)]


def _own_groups(text: str) -> dict[str, str]:
    """Return this process's groups by controller; the key of cgroup v2 is empty. Source: cgroups(7)."""
    groups = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _cgroup_mounts(text: str) -> dict[str, Path]:
    """Return the mount points by controller; the key of cgroup v2 is empty. Source: proc_pid_mountinfo(5)."""
    mounts = {}
    for line in text.splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind == "cgroup2":
            mounts[""] = Path(fields.split()[4])
        elif kind == "cgroup":
            for controller in options.split(","):
                mounts[controller] = Path(fields.split()[4])
    return mounts


def _is_delegated(folder: Path, is_root_allowed: bool) -> bool:
    if not os.access(folder, os.W_OK):
        return False
    if os.geteuid() != 0:
        return folder.stat().st_uid == os.geteuid()
    # systemd marks the groups that it has delegated with this attribute.
    for name in ("user.delegate", "trusted.delegate"):
        with suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return is_root_allowed


def _prepare_v2(parent: Path) -> bool:
    """Prepare this folder, so that groups with limits can be created in it. Return whether that succeeded.

    Linux allows processes only in the leaves of the tree of groups. So the processes of this service move to a group
    of their own. If the folder also has processes of other programs, it is not used.
    """
    try:
        if "memory" not in (parent / "cgroup.controllers").read_text().split():
            return False
        pids = {int(pid) for pid in (parent / "cgroup.procs").read_text().split()}
        if not pids <= set(memory.process_tree(os.getppid())):
            return False
        service = parent / _SERVICE_GROUP
        service.mkdir(exist_ok=True)
        for pid in pids:
            # A process of the self-test may have exited.
            with suppress(ProcessLookupError):
                (service / "cgroup.procs").write_text(str(pid))
        for controller in _CONTROLLERS:
            with suppress(OSError):
                (parent / "cgroup.subtree_control").write_text(f"+{controller}")
        return "memory" in (parent / "cgroup.subtree_control").read_text().split()
    except OSError:
        logger.warning("The delegated control group %s cannot be used.", parent, exc_info=True)
        return False
