"""Starts the web server, Daphne on uvloop with our limits: `python -m config.serve --bind 127.0.0.1 --port 8000`.

Takes Daphne's own options; those given win over the ones set here.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

# Daphne makes its loop when it is imported. A quarter more chunks a second than on asyncio's own loop.
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

from daphne.cli import CommandLineInterface  # noqa: E402 - see above

from config import bodies, spared  # noqa: E402

#: Of one socket message. Well above the longest prompt, so that a longer one is answered with a sentence.
MESSAGE_LIMIT_BYTES = 2 * 1024 * 1024

OPTIONS = [
    # Warnings only, and no access log: paths name conversations, and a proxy in front logs them anyway.
    "--verbosity=0",
    f"--websocket-max-message-size={MESSAGE_LIMIT_BYTES}",
    f"--websocket-max-frame-size={MESSAGE_LIMIT_BYTES}",
    "--no-server-name",
]


def main(arguments: list[str]) -> None:
    """Serve until SIGINT or SIGTERM; exit status 1 when the port cannot be had."""
    bodies.install()
    spared.leave_out_debug_words()
    CommandLineInterface().run([*OPTIONS, *arguments, "config.asgi:application"])


if __name__ == "__main__":
    main(sys.argv[1:])
