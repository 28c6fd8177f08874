"""Runs the web server: Daphne on uvloop. `python -m config.serve --bind 127.0.0.1 --port 8000`.

This is the only supported way to start a server process. It accepts Daphne's options, which override those in OPTIONS.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

# The import of Daphne below creates its event loop. uvloop relays a quarter more chunks a second than asyncio.
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

from daphne.cli import CommandLineInterface

import config.asgi  # sets Django up, which the next imports need
from config.daphne_server import EVENT_LOOP  # imports Daphne, after the event loop policy is set
from config.draining_server import Server  # imports Daphne, as above
from config.startup import prepare_process, refuse_path  # after Django is set up

#: Limit of one WebSocket message. It is well above the longest prompt, so that a prompt above its own limit gets an
#: error message instead of a closed socket.
MESSAGE_LIMIT_BYTES = 2 * 1024 * 1024

#: Maximum time in seconds that a thread computes while others wait for the interpreter's lock. A request releases this
#: lock at each step of a query. With Python's own 5 ms, an import of 4 MB delayed the requests of others by 1.6 s, and
#: with this value by 0.7 s.
SWITCH_INTERVAL_S = 0.0005

OPTIONS = [
    # Warnings only and no access log: paths contain ids of conversations, and a reverse proxy has its own log.
    "--verbosity=0",
    f"--websocket-max-message-size={MESSAGE_LIMIT_BYTES}",
    f"--websocket-max-frame-size={MESSAGE_LIMIT_BYTES}",
    "--no-server-name",
]


def main(arguments: list[str]) -> None:
    """Serve until SIGINT or SIGTERM (see `config.draining_server`); the exit status is 1 if the port is not free."""
    refuse_path(arguments)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    prepare_process(EVENT_LOOP)
    command = CommandLineInterface()
    command.server_class = Server
    command.run([*OPTIONS, *arguments, f"{config.asgi.__name__}:application"])


if __name__ == "__main__":
    main(sys.argv[1:])
