"""All processes of a kernel end with it, and its connection outlives many pings."""

from __future__ import annotations

import asyncio
import contextlib

import psutil
import pytest

from chat.python.kernels.client import JupyterClient
from chat.python.kernels.outputs import ExecutionStatus
from tests.chat.python.kernels.hostile_programs import FORK_BOMB
from tests.kernel_service import KernelServiceProcess, running_service

pytestmark = pytest.mark.drill

LIMIT_S = 2.0


def kernel_processes(service: KernelServiceProcess) -> list[psutil.Process]:
    """Return the processes in sandboxes of this service."""
    found = []
    for process in psutil.Process(service.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("bootstrap" in word for word in process.cmdline()):
                found.append(process)
    return found


async def test_all_processes_of_a_fork_bomb_are_gone_when_its_kernel_ends() -> None:
    with running_service("--warm-kernels", "0") as service:
        client = JupyterClient(service.place)
        try:
            kernel_id = await client.start_kernel()
            async with await client.connect(kernel_id) as kernel:
                execution = await kernel.execute(FORK_BOMB, limit_s=LIMIT_S)
            assert execution.status is ExecutionStatus.TIMEOUT
            await client.shut_down(kernel_id)
            async with asyncio.timeout(60):
                while kernel_processes(service):
                    await asyncio.sleep(0.05)
        finally:
            await client.aclose()


async def test_connection_stays_open_after_many_pings() -> None:
    with running_service("--warm-kernels", "0", "--ping-interval", "0.2") as service:
        client = JupyterClient(service.place)
        try:
            async with await client.connect(await client.start_kernel()) as kernel:
                assert (await kernel.execute("import time; time.sleep(2); print(7)")).text == "7\n"
        finally:
            await client.aclose()
