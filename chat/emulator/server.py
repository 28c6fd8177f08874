"""Runs an emulator in this process until a signal ends it."""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from pathlib import Path

from aiohttp import web

from chat.emulator.app import Emulator

PORT_LINE = "Plotline emulator: http://{host}:{port}"
"""The first line on standard output, printed once the server accepts connections."""
MEMORY_LIMIT_BYTES = 2 * 1024 * 1024 * 1024
"""Limit of this process's writable memory. Kernels inherit it; their own limits are not higher."""
_OOM_SCORE_ADJ = 500
"""The kernel's out-of-memory killer ends Jupyter kernels (1000) first, then the emulator, then the web server (0)."""


def limit_memory() -> None:
    """Limit the memory of this process, so that it fails before the machine runs out of memory.

    Code in a kernel can send one message with any number of frames. ZeroMQ collects them without a limit.
    """
    _, hard_limit_bytes = resource.getrlimit(resource.RLIMIT_DATA)
    is_unlimited = hard_limit_bytes == resource.RLIM_INFINITY
    limit_bytes = MEMORY_LIMIT_BYTES if is_unlimited else min(MEMORY_LIMIT_BYTES, hard_limit_bytes)
    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
    score = Path("/proc/self/oom_score_adj")
    score.write_text(str(max(_OOM_SCORE_ADJ, int(score.read_text()))))


async def serve(emulator: Emulator, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; port 0 takes a free port.

    Call this in the main thread: kernels end with the thread that started them.
    """
    termination = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, termination.set)
    # aiohttp cancels a handler when its client disconnects, so that an abandoned answer does not run on.
    runner = web.AppRunner(emulator.application(host), access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        address = runner.addresses[0]
        sys.stdout.write(PORT_LINE.format(host=host, port=address[1]) + "\n")
        sys.stdout.flush()
        await termination.wait()
    finally:
        await runner.cleanup()
