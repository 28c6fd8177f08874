"""The command line of the emulator, shared by `python -m chat.emulator` and `manage.py gemini_emulator`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from chat.emulator.app import CODE_LIMIT_S, Emulator
from chat.emulator.server import bound_memory, serve


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be chosen."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; the emulator asks for no key")
    parser.add_argument("--port", type=int, default=8300, help="port to listen on; 0 takes a free one")
    parser.add_argument("--pace", type=float, default=1.0, help="multiplies all pauses; 0 leaves them out")
    parser.add_argument("--recordings", type=Path, help="folder of recorded bodies to replay as models replay-STEM")
    parser.add_argument("--cut", type=int, default=0, help="send recorded bodies in pieces of so many bytes")
    parser.add_argument("--warm-kernels", type=int, default=1, help="sessions kept ready for the demo model")
    parser.add_argument("--code-limit", type=float, default=CODE_LIMIT_S, help="seconds that executed code may take")
    parser.add_argument("--journal", action="store_true", help="keep what calls asked, for GET /emulator/calls/NUMBER")
    parser.add_argument("--strict", action="store_true", help="refuse what the real API does, as altered signatures")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when standard input does")


def run(options: argparse.Namespace) -> None:
    """Serve as chosen until told to end."""
    emulator = Emulator(
        pace=options.pace,
        recordings=options.recordings,
        cut_bytes=options.cut,
        warm_kernels=options.warm_kernels,
        code_limit_s=options.code_limit,
        keeps_requests=options.journal,
        strict=options.strict,
    )
    bound_memory()
    asyncio.run(serve(emulator, options.host, options.port, ends_with_stdin=options.end_with_stdin))
