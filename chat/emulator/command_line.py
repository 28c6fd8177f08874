"""The emulator's command line, shared by `python -m chat.emulator` and `manage.py gemini_emulator`."""

from __future__ import annotations

import argparse
import asyncio

from chat.emulator.app import CODE_LIMIT_S, Emulator
from chat.emulator.server import limit_memory, serve


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; the emulator asks for no key")
    parser.add_argument("--port", type=int, default=8300, help="port to listen on; 0 takes a free one")
    parser.add_argument("--pace", type=float, default=1.0, help="factor for all pauses; 0 removes them")
    parser.add_argument("--warm-kernels", type=int, default=1, help="number of kernels started in advance")
    parser.add_argument("--code-limit", type=float, default=CODE_LIMIT_S, help="time limit of one execution in seconds")


def run(options: argparse.Namespace) -> None:
    """Serve with these options until SIGINT or SIGTERM."""
    emulator = Emulator(pace=options.pace, warm_kernels=options.warm_kernels, code_limit_s=options.code_limit)
    limit_memory()
    asyncio.run(serve(emulator, options.host, options.port))
