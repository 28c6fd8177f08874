"""The emulator's command line, shared by `python -m chat.emulator` and `manage.py gemini_emulator`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from chat.emulator.app import CODE_LIMIT_S, Emulator
from chat.emulator.server import serve
from chat.python.kernels.places import Place, choose_place


def add_arguments(parser: argparse.ArgumentParser, kernel_service_directory: Path) -> None:
    """Declare the options. `kernel_service_directory` is the default of `--kernel-service`."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; the emulator asks for no key")
    parser.add_argument("--port", type=int, default=8300, help="port to listen on; 0 takes a free one")
    parser.add_argument("--pace", type=float, default=1.0, help="factor for all pauses; 0 removes them")
    parser.add_argument("--code-limit", type=float, default=CODE_LIMIT_S, help="time limit of one execution in seconds")
    parser.add_argument(
        "--kernel-service",
        type=Path,
        default=kernel_service_directory,
        metavar="DIR",
        help="folder of the service that runs code, `python -m chat.python.kernels.service --directory DIR`",
    )
    parser.add_argument("--gateway-url", default="", help="Jupyter server that runs code in place of that service")
    parser.add_argument("--gateway-token-file", type=Path, help="file with the token of that server")


def place_of(options: argparse.Namespace) -> Place:
    """Return the place that the options name for code to run; raises OSError if the token cannot be read."""
    token = options.gateway_token_file.read_text().strip() if options.gateway_token_file else ""
    return choose_place(options.gateway_url, token, options.kernel_service)


def run(options: argparse.Namespace) -> None:
    """Serve with these options until SIGINT or SIGTERM."""
    emulator = Emulator(place_of(options), pace=options.pace, code_limit_s=options.code_limit)
    asyncio.run(serve(emulator, options.host, options.port))
