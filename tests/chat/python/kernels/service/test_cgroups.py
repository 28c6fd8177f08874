"""Control groups limit kernels where the system delegates some, and are left alone elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.python.kernels.service import cgroups
from chat.python.kernels.service.cgroups import KernelGroups, find_parents
from tests.chat.python.kernels.processes import survivors_of

V1 = "12:pids:/a\n11:memory:/b\n10:cpu,cpuacct:/\n0::/c\n"
MOUNTS = (
    "30 24 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "32 24 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "33 24 0:29 / / rw - ext4 /dev/vda rw,discard\n"
)
PIDS = Path("/sys/fs/cgroup/pids")


def test_path_and_mount_of_each_cgroup_controller_are_parsed() -> None:
    groups, mounts = cgroups._own_groups(V1), cgroups._cgroup_mounts(MOUNTS)
    assert groups == {"pids": "/a", "memory": "/b", "cpu": "/", "cpuacct": "/", "": "/c"}
    assert mounts[""] == Path("/sys/fs/cgroup/unified")
    assert mounts["cpu"] == mounts["cpuacct"] == Path("/sys/fs/cgroup/cpu,cpuacct")
    assert mounts["pids"] == PIDS


@pytest.mark.skipif(os.geteuid() != 0, reason="another user may have a delegated group")
def test_service_of_root_does_not_use_a_control_group_that_was_not_delegated_to_it() -> None:
    assert find_parents(is_root_allowed=False) == []


def test_no_control_group_is_created_if_none_was_delegated() -> None:
    assert KernelGroups([], 1).create("name", os.getpid()) is None


def test_control_group_that_contains_other_processes_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    assert not cgroups._prepare_v2(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"cgroup.controllers", "cgroup.procs"}


def test_memory_process_and_cpu_limits_are_written_to_the_control_group(tmp_path: Path) -> None:
    folder = tmp_path / "plotline-kernel-name"
    folder.mkdir()
    for name in ("memory.max", "pids.max", "cpu.max"):
        (folder / name).write_text("max\n")
    (folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    group = KernelGroups([tmp_path], 1000).create("name", os.getpid())
    assert group is not None
    assert (folder / "memory.max").read_text() == "1000"
    assert (folder / "pids.max").read_text() == "80"
    assert (folder / "cpu.max").read_text() == "100000 100000"
    assert group.count_memory_kills() == 2


@pytest.fixture
def parent() -> Iterator[Path]:
    """A real group of the controller of processes, which holds nothing else."""
    folder = PIDS / f"plotline-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("no group of cgroup v1 may be created here")
    yield folder
    folder.rmdir()


def test_control_group_limits_the_number_of_processes_and_can_be_removed(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "PROCESSES_LIMIT", 5)
    code = (
        "import os, signal, sys\nsys.stdin.readline()\ncount = 0\n"
        "try:\n    while True:\n        if os.fork() == 0: signal.pause()\n        count += 1\n"
        "except BlockingIOError: print(count, flush=True)\nsignal.pause()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True) as process:
        group = KernelGroups([parent], 10**9).create("name", process.pid)
        assert group is not None
        assert _start(process) == "4\n"
        pids = [int(pid) for pid in (parent / "plotline-kernel-name/cgroup.procs").read_text().split()]
        for pid in pids:
            os.kill(pid, 9)
        assert survivors_of(pids) == []
    group.remove()
    assert not (parent / "plotline-kernel-name").exists()


def _start(process: subprocess.Popen[str]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline()
