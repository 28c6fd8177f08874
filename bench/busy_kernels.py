"""Measures how long small cells of one person take while endless loops run in other kernels."""

from __future__ import annotations

import asyncio
import statistics
import time

from chat.python.kernels.client import JupyterClient, KernelClient

BUSY_KERNELS = 6
SETTLE_S = 3.0
"""Loops run for this time before calls are measured."""
CALLS = 150
PAUSE_S = 0.02
ENDLESS = "while True: pass"
LIMIT_S = 120.0


async def measure_beside_busy_kernels(client: JupyterClient) -> dict[str, float]:
    """Return milliseconds of calls of `1+1` alone and beside busy kernels, and the ratio of their 95th percentiles."""
    kernel_ids = [await client.start_kernel() for _ in range(BUSY_KERNELS + 1)]
    own, *others = [await client.connect(kernel_id) for kernel_id in kernel_ids]
    try:
        alone_ms = await _time_calls(own)
        loops = [asyncio.create_task(other.execute(ENDLESS, limit_s=LIMIT_S)) for other in others]
        await asyncio.sleep(SETTLE_S)
        beside_ms = await _time_calls(own)
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
    finally:
        for kernel in (own, *others):
            await kernel.close()
        for kernel_id in kernel_ids:
            await client.shut_down(kernel_id)
    name = f"call of 1+1 beside {BUSY_KERNELS} endless loops"
    return {
        "call of 1+1 with a pause before it, alone: p95, ms": _percentile_95(alone_ms),
        f"{name}: p50, ms": statistics.median(beside_ms),
        f"{name}: p95, ms": _percentile_95(beside_ms),
        f"{name}: p95, of alone": _percentile_95(beside_ms) / _percentile_95(alone_ms),
    }


async def _time_calls(kernel: KernelClient) -> list[float]:
    times = []
    for _ in range(CALLS):
        started_s = time.perf_counter()
        await kernel.execute("1+1")
        times.append((time.perf_counter() - started_s) * 1000)
        await asyncio.sleep(PAUSE_S)
    return times


def _percentile_95(values: list[float]) -> float:
    return sorted(values)[round(0.95 * (len(values) - 1))]
