"""Downloads no faster than they are read.

Daphne takes whatever an application sends and keeps what a connection cannot take yet, however much that is: an export
of a hundred megabytes to a slow reader would lie in memory as a whole. Here the application waits for the connection.
"""

from __future__ import annotations

import asyncio
from typing import Any

from daphne.cli import CommandLineInterface
from daphne.server import Server

LOOK_S = 0.02
#: A reader that takes nothing for so long has gone.
STALLED_LIMIT_S = 120.0


class PacedServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne's server; a piece of a body that is not the last one counts as sent when the connection has room."""

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:  # noqa: ANN401 - Daphne has no types
        """Send, then wait."""
        await super().handle_reply(protocol, message)
        if message["type"] == "http.response.body" and message.get("more_body"):
            waited_s = 0.0
            while _is_full(protocol):
                await asyncio.sleep(LOOK_S)
                waited_s += LOOK_S
                if waited_s > STALLED_LIMIT_S and protocol.channel is not None:
                    protocol.channel.transport.abortConnection()
                    return


def _is_full(protocol: Any) -> bool:  # noqa: ANN401 - Twisted's channel
    """Whether the connection holds more than its buffer is for; one that is closed takes anything."""
    return bool(getattr(getattr(protocol, "channel", None), "_waitingForTransport", False))


def install() -> None:
    """Make Daphne's server a paced one; before it is made."""
    CommandLineInterface.server_class = PacedServer
