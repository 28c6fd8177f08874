"""The CPU time of a kernel's processes is added up from samples, whatever becomes of the processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from chat.python.kernels.service.cgroups import KernelGroup
from chat.python.kernels.service.cpu_time import CpuMeter, ProcessTimes, read_times

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def total_ticks(*samples: dict[int, ProcessTimes]) -> int:
    """Return the sum of these samples."""
    meter = CpuMeter()
    for sample in samples:
        meter.add(sample)
    return round(meter.total_s * TICKS_PER_S)


def test_time_of_a_child_is_not_counted_again_when_its_parent_has_waited_for_it() -> None:
    parent, child = ProcessTimes(1, 10, 0), ProcessTimes(2, 50, 0)
    # The child has used 20 more before it exited.
    assert total_ticks({7: parent, 8: child}, {7: ProcessTimes(1, 12, 70)}) == 10 + 50 + 2 + 20


def test_time_of_an_ended_child_is_counted_even_if_its_parent_did_not_wait_for_it() -> None:
    parent, child = ProcessTimes(1, 10, 0), ProcessTimes(2, 50, 0)
    assert total_ticks({7: parent, 8: child}, {7: ProcessTimes(1, 40, 0)}) == 10 + 50 + 30


def test_all_time_of_a_new_process_is_counted_if_it_has_the_id_of_an_earlier_one() -> None:
    assert total_ticks({7: ProcessTimes(1, 10, 0)}, {7: ProcessTimes(5, 4, 0)}) == 14


def test_cpu_time_of_a_real_process_is_read() -> None:
    program = "import os, time\nwhile time.process_time() < 0.2: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        times = read_times(process.pid)
        process.communicate(b"\n")
    assert times is not None
    assert times.own >= 0.2 * TICKS_PER_S - 1
    assert read_times(process.pid) is None


def test_cpu_time_is_read_from_the_control_group(tmp_path: Path) -> None:
    assert KernelGroup((tmp_path,)).cpu_s() is None
    (tmp_path / "cpuacct.usage").write_text("2500000000\n")
    assert KernelGroup((tmp_path,)).cpu_s() == 2.5
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\nsystem_usec 2\n")
    assert KernelGroup((tmp_path,)).cpu_s() == 1.5
