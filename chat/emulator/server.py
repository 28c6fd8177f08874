"""Runs the emulator in this process until it is told to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from aiohttp import web

from chat.emulator.app import Emulator

PORT_LINE = "Plotline emulator: http://{host}:{port}"
"""The first line on standard output, once connections are taken."""


async def serve(emulator: Emulator, host: str, port: int, *, ends_with_stdin: bool = False) -> None:
    """Serve until SIGINT or SIGTERM, or until standard input ends; port 0 takes a free one.

    Must run in the main thread: kernels die with the thread that started them.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, ended.set)
    # A handler is cancelled when its client leaves: else stalls would outlive the tests that asked for them.
    runner = web.AppRunner(emulator.application(), access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
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
