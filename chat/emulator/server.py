"""Runs the emulator in this process until it is told to end."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from pathlib import Path

from aiohttp import web

from chat.emulator.app import Emulator

PORT_LINE = "Plotline emulator: http://{host}:{port}"
"""The first line on standard output, once connections are taken."""
MEMORY_LIMIT_BYTES = 2 * 1024 * 1024 * 1024
"""Bound on this process's writable memory; kernels inherit it, and their own bounds are not above it."""
_OOM_SCORE_ADJ = 500
"""Between the web server, 0, and kernels, 1000: who goes first when the machine's memory ends."""


def bound_memory() -> None:
    """Let this process fail or die, and be started again, before it takes the machine's memory.

    A kernel can send one message of endless frames, which ZeroMQ gathers without a limit of its own.
    """
    _, most_bytes = resource.getrlimit(resource.RLIMIT_DATA)
    limit_bytes = MEMORY_LIMIT_BYTES if most_bytes == resource.RLIM_INFINITY else min(MEMORY_LIMIT_BYTES, most_bytes)
    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
    score = Path("/proc/self/oom_score_adj")
    score.write_text(str(max(_OOM_SCORE_ADJ, int(score.read_text()))))


async def serve(emulator: Emulator, host: str, port: int, *, ends_with_stdin: bool = False) -> None:
    """Serve until SIGINT or SIGTERM, or until standard input ends; port 0 takes a free one.

    Must run in the main thread: kernels die with the thread that started them.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, ended.set)
    # A handler is cancelled when its client leaves: else stalls would outlive the tests that asked for them.
    runner = web.AppRunner(emulator.application(host), access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        address = runner.addresses[0]
        sys.stdout.write(PORT_LINE.format(host=host, port=address[1]) + "\n")
        sys.stdout.flush()
        if ends_with_stdin:
            _watch_stdin(loop, ended)
        await ended.wait()
    finally:
        await runner.cleanup()


def _watch_stdin(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """The parent holds the other end of the pipe: however it dies, the pipe ends."""
    stdin = sys.stdin.fileno()
    os.set_blocking(stdin, False)

    def read() -> None:
        if not os.read(stdin, 4096):
            loop.remove_reader(stdin)
            ended.set()

    loop.add_reader(stdin, read)
