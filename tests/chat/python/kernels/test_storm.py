"""Hostile programs in several kernels at once, while another person works in a kernel of their own.

The tests print their figures: `make test-drills ARGS='-s tests/chat/python/kernels/test_storm.py'`.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.outputs import Execution, ExecutionStatus
from chat.python.kernels.sandbox import MIB
from tests.chat.python.kernels.hostile_programs import FORK_BOMB, PROGRAMS, search_for
from tests.kernel_service import KernelServiceProcess, running_service

pytestmark = pytest.mark.drill

SEED = 20
IDLE_S = 2.0
"""The other person works for this time before the storm, as a baseline."""
LIMIT_S = 2.0
END_LIMIT_S = LIMIT_S + 5.0 + 6.0
"""The time limit, the grace after an interrupt, and what the end of a kernel may take on a busy machine."""
FREE_SHARE = 0.25
"""The host's free memory never falls below this share."""

AT_ONCE = 6


@dataclass
class Storm:
    """A service, a client, and the kernel of the person who works meanwhile."""

    service: KernelServiceProcess
    client: JupyterClient
    worker: KernelClient


@pytest_asyncio.fixture
async def storm() -> AsyncIterator[Storm]:
    with running_service("--warm-kernels", "0") as service:
        client = JupyterClient(service.place)
        try:
            worker = await client.connect(await client.start_kernel())
            await worker.execute("value = 7")
            yield Storm(service, client, worker)
            await worker.close()
        finally:
            await client.aclose()


async def attack(client: JupyterClient, program: str) -> tuple[Execution, float]:
    """Run a program in a kernel of its own; return how it ended, and after how many seconds."""
    kernel_id = await client.start_kernel()
    async with await client.connect(kernel_id) as kernel:
        started_s = time.monotonic()
        execution = await kernel.execute(program, limit_s=LIMIT_S)
        duration_s = time.monotonic() - started_s
    await client.shut_down(kernel_id)
    return execution, duration_s


async def work(kernel: KernelClient, durations: list[float]) -> None:
    """Run small cells until cancelled, and add the seconds of each to the list."""
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            started_s = time.monotonic()
            execution = await kernel.execute("value * 6")
            assert execution.text.strip() == "42"
            durations.append(time.monotonic() - started_s)
            await asyncio.sleep(0.02)


def percentile_95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(0.95 * (len(values) - 1))]


async def watch_memory() -> tuple[float, int]:
    """Watch until cancelled; return the smallest share of free memory, and the largest memory of this process."""
    share, own_bytes = 1.0, 0
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            memory = psutil.virtual_memory()
            share = min(share, memory.available / memory.total)
            own_bytes = max(own_bytes, psutil.Process().memory_info().rss)
            await asyncio.sleep(0.05)
    return share, own_bytes


def kernel_processes(service: KernelServiceProcess) -> list[psutil.Process]:
    """Return the processes in sandboxes of this service."""
    found = []
    for process in psutil.Process(service.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("bootstrap" in word for word in process.cmdline()):
                found.append(process)
    return found


async def test_storm_in_several_kernels_hurts_nobody_else(storm: Storm) -> None:
    names = list(PROGRAMS)
    random.Random(SEED).shuffle(names)
    own_before = psutil.Process().memory_info().rss
    durations: list[float] = []
    watching, working = asyncio.create_task(watch_memory()), asyncio.create_task(work(storm.worker, durations))
    await asyncio.sleep(IDLE_S)
    idle, durations[:] = durations[:], []
    print(f"\nseed {SEED}; a cell limit of {LIMIT_S:g} s; {AT_ONCE} programs at once")
    for start in range(0, len(names), AT_ONCE):
        group = names[start : start + AT_ONCE]
        results = await asyncio.gather(*(attack(storm.client, PROGRAMS[name]) for name in group))
        for name, (execution, duration_s) in zip(group, results, strict=True):
            last = execution.text.strip().splitlines()[-1:] or [""]
            print(f"  {name:24} {execution.status:8} {duration_s:5.1f} s  {last[0][:90]}")
            assert duration_s < END_LIMIT_S, name
            assert execution.status is not ExecutionStatus.OK, name
    working.cancel()
    watching.cancel()
    await working
    share, own_bytes = await watching
    for name, values in (("before the storm", idle), ("in the storm", durations)):
        print(
            f"  other person's cells {name}: {len(values)}, p50 {statistics.median(values) * 1000:.0f} ms,"
            f" p95 {percentile_95(values) * 1000:.0f} ms, slowest {max(values) * 1000:.0f} ms"
        )
    print(f"  p95 in the storm, of before: {percentile_95(durations) / percentile_95(idle):.1f}")
    print(
        f"  least free memory of the host: {share:.0%}; this process grew by {(own_bytes - own_before) / MIB:.0f} MiB"
    )
    assert share > FREE_SHARE
    assert (own_bytes - own_before) / MIB < 150
    assert (await storm.worker.execute("value")).text.strip() == "7"
    assert storm.service.place.status().restarts == 0


async def test_all_processes_of_a_fork_bomb_are_gone_when_its_kernel_ends(storm: Storm) -> None:
    before = len(kernel_processes(storm.service))
    execution, _ = await attack(storm.client, FORK_BOMB)
    assert execution.status is ExecutionStatus.TIMEOUT
    async with asyncio.timeout(2):
        while len(kernel_processes(storm.service)) > before:
            await asyncio.sleep(0.05)


async def test_connection_outlives_many_pings() -> None:
    with running_service("--warm-kernels", "0", "--ping-interval", "0.2") as service:
        client = JupyterClient(service.place)
        try:
            async with await client.connect(await client.start_kernel()) as kernel:
                assert (await kernel.execute("import time; time.sleep(2); print(7)")).text == "7\n"
        finally:
            await client.aclose()


async def test_kernel_can_read_no_secret_of_the_server(storm: Storm, tmp_path: Path) -> None:
    secrets = [(await storm.service.place.address()).token, "canary-in-a-folder", "canary-beside-the-socket"]
    for folder, secret in zip((tmp_path, storm.service.directory), secrets[1:], strict=True):
        (folder / "secret.txt").write_text(secret)
    kernel_id = await storm.client.start_kernel()
    async with await storm.client.connect(kernel_id) as kernel:
        execution = await kernel.execute(search_for(secrets))
    assert execution.text.strip() == "[]", execution.text
