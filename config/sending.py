"""How Daphne sends: what a connection takes, at once, and downloads no faster than they are read.

Daphne takes whatever an application sends and keeps what a connection cannot take yet, however much that is: an export
of a hundred megabytes to a slow reader would lie in memory as a whole. Here the application waits for the connection.

Twisted hands nothing to the kernel before the reactor's next round, and asks it twice then to watch the connection for
that: at a thousand frames a second a tenth of what they cost.
"""

from __future__ import annotations

import asyncio
from typing import Any

from daphne.cli import CommandLineInterface
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import tcp

LOOK_S = 0.02
#: A reader that takes nothing for so long has gone.
STALLED_LIMIT_S = 120.0


class PromptConnection(tcp.Server):
    """A connection that writes at once, unless something waits to be written already."""

    def write(self, data: bytes) -> None:
        """Hand over what the kernel takes; what is left, or an error, is the reactor's as ever."""
        # A producer that waits to be asked for more is asked after the reactor's own writing alone.
        waits = self.dataBuffer or self._tempDataLen or (self.producer is not None and not self.streamingProducer)
        if data and self.connected and not (self.TLS or self._writeDisconnected or waits):
            sent = self.writeSomeData(data)
            if isinstance(sent, int):
                data = data[sent:]
        super().write(data)  # type: ignore[no-untyped-call]  # typed in part


#: A longer message is sent in several WebSocket frames of this size.
FRAME_BYTES = 512 * 1024


class DividedMessages(WebSocketProtocol):  # type: ignore[misc]  # Daphne has no types
    """A socket that sends messages of any length.

    Autobahn applies its limit for received messages to sent ones too, unless a message is sent frame by frame.
    """

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:
        """Send one message, divided into frames if it is long."""
        data = content.encode() if isinstance(content, str) else content
        if len(data) <= FRAME_BYTES or self.state != self.STATE_OPEN:
            super().serverSend(content, binary)
            return
        self.beginMessage(isBinary=binary)
        for start in range(0, len(data), FRAME_BYTES):
            self.sendMessageFrame(data[start : start + FRAME_BYTES])
        self.endMessage()


class PacedServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne's server; a piece of a body that is not the last one counts as sent when the connection has room."""

    def listen_success(self, port: Any) -> None:  # noqa: ANN401 - Daphne has no types
        """Have connections over TCP write at once; those of Unix sockets have a way of their own."""
        super().listen_success(port)
        self.ws_factory.protocol = DividedMessages
        if getattr(port, "transport", None) is tcp.Server:
            port.transport = PromptConnection

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
