"""A minimal Socket.IO 4 client on a websocket, with what the page of a chat product needs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from bench.processes import BenchError
from bench.websocket import OnText, WebSocket, connect

#: Packet types of Engine.IO.
PING, PONG = b"2", "3"

#: Packet types of Socket.IO, inside a message packet of Engine.IO.
CONNECT, CONNECT_ERROR, EVENT = "40", "44", "42"

CONNECT_TIMEOUT_S = 30


class SocketIOClient:
    """One connection. `on_text` is called with every packet after the handshake, undecoded."""

    _socket: WebSocket
    session_id: str
    """The server's id of this connection."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._connected: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def open(self, url: str, headers: Mapping[str, str], auth: Mapping[str, str]) -> None:
        """Connect and authenticate. Raise BenchError if the server refuses, and TimeoutError if it does not answer."""
        self._socket = await connect(f"{url}?EIO=4&transport=websocket", headers, self._handle_packet)
        self._socket.send(CONNECT + json.dumps(auth))
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            self.session_id = await self._connected

    @property
    def closed(self) -> asyncio.Future[None]:
        """Completed when the connection is closed."""
        return self._socket.closed

    def _handle_packet(self, data: bytes, received_at_us: int) -> None:
        if data == PING:
            self._socket.send(PONG)
        elif data.startswith(CONNECT.encode()):
            self._connected.set_result(json.loads(data[len(CONNECT) :])["sid"])
        elif data.startswith(CONNECT_ERROR.encode()):
            self._connected.set_exception(BenchError(f"Socket.IO refused the connection: {data.decode()}"))
        else:
            self._on_text(data, received_at_us)

    def emit(self, event: str, *values: Any) -> None:
        """Send an event without waiting for an acknowledgement."""
        self._socket.send(EVENT + json.dumps([event, *values]))

    async def close(self) -> None:
        """Close the connection."""
        await self._socket.close()
