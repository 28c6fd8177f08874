"""Runs an emulator in this process until a signal ends it."""

from __future__ import annotations

import asyncio
import signal
import sys

from aiohttp import web

from chat.emulator.app import Emulator

PORT_LINE = "Plotline emulator: http://{host}:{port}"
"""The first line on standard output, printed once the server accepts connections."""


async def serve(emulator: Emulator, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; port 0 takes a free port."""
    termination = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, termination.set)
    # aiohttp cancels a handler when its client disconnects, so that an abandoned answer does not go on.
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
