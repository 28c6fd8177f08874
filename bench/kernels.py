"""The benchmark of Python sessions: starts, calls, also beside busy kernels, interrupts, memory; `bench kernels`.

A bare ipykernel without a sandbox is measured in the same run, alternately with the service, so that their ratio is
comparable between machines. Times end when the result of `1+1` has arrived.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from bench.busy_kernels import measure_beside_busy_kernels
from bench.goals import KERNEL_GOALS, format_goals_table, missed_goals
from bench.kernel_calls import measure_calls
from bench.processes import ROOT, BenchError
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.interpreter import find_interpreter
from chat.python.kernels.outputs import ExecutionStatus, Output
from chat.python.kernels.places import LocalService

STARTS = 30
"""Number of starts. Their 95th percentile is the second slowest start."""
CALLS = 100
INTERRUPTS = 10
IDLE_S = 1.0
"""Pause before memory is read and before each start, so that no earlier kernel is still ending."""
ENDLESS = "print('begun')\nwhile True: pass"
ENDLESS_IN_C = "print('begun')\nsum(range(10**11))"
IMPORTS = "import numpy, pandas, matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('/tmp/a.png')"
HARD_STOP_AFTER_S = 1.0
START_LIMIT_S = 60.0

Figures = dict[str, float]


def main(argv: Sequence[str]) -> None:
    """Measure, print a table, and write the figures as JSON. Raises BenchError if a goal is missed."""
    figures = asyncio.run(measure())
    with TemporaryDirectory(prefix="plotline-bench-") as folder:
        figures |= measure_calls(Path(folder), CALLS)
    rows = [("measure", "figure"), *((name, f"{value:,.2f}") for name, value in figures.items())]
    print(format_markdown_table(rows), end="\n\n")
    print(format_goals_table(figures, KERNEL_GOALS))
    path = write_result("kernels", {**describe_environment(), "figures": figures})
    print(f"\nWritten to {path}")
    if missed := missed_goals(figures, KERNEL_GOALS):
        raise BenchError(f"these goals were missed: {'; '.join(missed)}")


async def measure() -> Figures:
    """Return all figures that need no web server."""
    with running_service("--warm-kernels", "0") as cold, running_service("--warm-kernels", "1") as warm:
        cold_client, warm_client = JupyterClient(cold), JupyterClient(warm)
        try:
            figures = await measure_starts(cold_client, warm, warm_client)
            figures |= await measure_use(cold_client)
            figures |= await measure_beside_busy_kernels(cold_client)
        finally:
            await cold_client.aclose()
            await warm_client.aclose()
    return figures


@contextmanager
def running_service(*options: str) -> Iterator[LocalService]:
    """Run the service in a folder of its own, with an empty environment."""
    with TemporaryDirectory(prefix="plk-", dir="/tmp") as folder:
        command = [sys.executable, "-m", "chat.python.kernels.service", "--directory", folder, *options]
        process = subprocess.Popen(command, cwd=ROOT, env={"PATH": os.environ["PATH"]})
        try:
            service = LocalService(Path(folder))
            wait_until_running(service)
            yield service
        finally:
            process.terminate()
            process.wait()


def wait_until_running(service: LocalService) -> None:
    """Start the service's gateway. Raise BenchError if it does not run in time."""
    deadline_s = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline_s:
        try:
            status = service.start()
        except KernelsUnavailable:
            time.sleep(0.1)
            continue
        if status.state == "running":
            return
        raise BenchError(status.error)
    raise BenchError("the service for Python sessions did not start")


async def measure_starts(cold: JupyterClient, warm_service: LocalService, warm: JupyterClient) -> Figures:
    """Return milliseconds until a kernel has answered: bare, from the service, and from its warm pool."""
    times: dict[str, list[float]] = {"bare ipykernel": [], "session, cold": [], "session, warm": []}
    for _ in range(STARTS):
        await asyncio.sleep(IDLE_S)
        times["bare ipykernel"].append(await time_bare_start())
        await asyncio.sleep(IDLE_S)
        times["session, cold"].append(await time_start(cold))
        await wait_until_warm(warm_service)
        await asyncio.sleep(IDLE_S)
        times["session, warm"].append(await time_start(warm))
    figures: Figures = {}
    for name, values in times.items():
        figures[f"{name}: ready p50, ms"] = statistics.median(values)
        figures[f"{name}: ready p95, ms"] = sorted(values)[round(0.95 * (STARTS - 1))]
    ratio = statistics.median(times["session, cold"]) / statistics.median(times["bare ipykernel"])
    return {**figures, "session, cold, of a bare ipykernel": ratio}


async def time_bare_start() -> float:
    """Return the milliseconds until an ipykernel without sandbox, on the same interpreter, has run `1+1`."""
    manager = AsyncKernelManager(transport="ipc")
    manager._kernel_spec = KernelSpec(
        argv=[find_interpreter().executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
    )
    started_s = time.perf_counter()
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=START_LIMIT_S)
        await client.execute_interactive("1+1", output_hook=lambda _: None)
        return (time.perf_counter() - started_s) * 1000
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


async def time_start(client: JupyterClient) -> float:
    """Return the milliseconds until a kernel of the service has run `1+1`."""
    started_s = time.perf_counter()
    kernel_id = await client.start_kernel()
    async with await client.connect(kernel_id) as kernel:
        await kernel.execute("1+1")
    duration_ms = (time.perf_counter() - started_s) * 1000
    await client.shut_down(kernel_id)
    return duration_ms


async def wait_until_warm(service: LocalService) -> None:
    """Wait until the service has a warm kernel."""
    deadline_s = time.monotonic() + START_LIMIT_S
    while not (await asyncio.to_thread(service.status)).warm_kernels:
        if time.monotonic() > deadline_s:
            raise BenchError("no kernel became warm")
        await asyncio.sleep(0.1)


async def measure_use(client: JupyterClient) -> Figures:
    """Return the figures of one kernel: calls, interrupt, hard stop and memory."""
    kernel_id = await client.start_kernel()
    kernel = await client.connect(kernel_id)
    call_ms, interrupt_ms = [], []
    for _ in range(CALLS):
        started_s = time.perf_counter()
        await kernel.execute("1+1")
        call_ms.append((time.perf_counter() - started_s) * 1000)
    idle_bytes = kernel_memory_bytes()
    for _ in range(INTERRUPTS):
        begun = asyncio.Event()
        execution = asyncio.create_task(kernel.execute(ENDLESS, on_output=partial(_set, begun)))
        await begun.wait()
        started_s = time.perf_counter()
        await client.interrupt(kernel_id)
        await execution
        interrupt_ms.append((time.perf_counter() - started_s) * 1000)
    await kernel.execute(IMPORTS)
    loaded_bytes = kernel_memory_bytes()
    started_s = time.perf_counter()
    stopped = await kernel.execute(ENDLESS_IN_C, limit_s=HARD_STOP_AFTER_S)
    stop_s = time.perf_counter() - started_s - HARD_STOP_AFTER_S
    if stopped.status is not ExecutionStatus.TIMEOUT:
        raise BenchError(f"an endless loop ended as {stopped.status}")
    await kernel.close()
    await client.shut_down(kernel_id)
    return {
        "call of 1+1: p50, ms": statistics.median(call_ms),
        "call of 1+1: p95, ms": sorted(call_ms)[round(0.95 * (CALLS - 1))],
        "interrupt: p50, ms": statistics.median(interrupt_ms),
        "interrupt: slowest, ms": max(interrupt_ms),
        "hard stop after the limit, s": stop_s,
        "memory of an idle kernel (PSS), MiB": idle_bytes / 1024**2,
        "memory with numpy, pandas and a plot (PSS), MiB": loaded_bytes / 1024**2,
    }


def _set(event: asyncio.Event, _: Output) -> None:
    event.set()


def kernel_memory_bytes() -> int:
    """Return the memory of the only kernel of the services: its processes in the sandbox, without the warm ones."""
    kernels = []
    for process in psutil.Process().children(recursive=True):
        try:
            # `bootstrap` has the arguments `kernel MIB`; a warm kernel has one more.
            if process.cmdline()[-2:-1] == ["kernel"] and "bwrap" not in process.name():
                kernels.append(process)
        except psutil.Error:
            continue
    if not kernels:
        raise BenchError("no kernel was found among the processes")
    return int(sum(process.memory_full_info().pss for process in kernels))
