"""Socket.IO 4 on a websocket, as much of it as a page that chats needs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from bench.processes import BenchError
from bench.websocket import connect

#: Engine.IO's packets, and Socket.IO's inside of its messages.
PING, PONG = b"2", "3"
JOIN, REFUSED, EVENT = "40", "44", "42"
JOIN_LIMIT_S = 30


class SocketIO:
    """A connection that has joined; `on_text` gets all that follows, packets as they are."""

    def __init__(self, on_text: Callable[[bytes, int], None]) -> None:
        self._on_text = on_text
        self._joined: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def open(self, url: str, headers: Mapping[str, str], about: Mapping[str, str]) -> None:
        """Connect, and say who this is: `about` is the server's own. Raises BenchError when it is refused."""
        self._socket = await connect(f"{url}?EIO=4&transport=websocket", headers, self._take)
        self.closed = self._socket.closed
        self.close = self._socket.close
        self._socket.send(JOIN + json.dumps(about))
        async with asyncio.timeout(JOIN_LIMIT_S):
            # The server's name for this connection.
            self.session_id = await self._joined

    def _take(self, data: bytes, at_us: int) -> None:
        if data == PING:
            self._socket.send(PONG)
        elif data.startswith(JOIN.encode()):
            self._joined.set_result(json.loads(data[len(JOIN) :])["sid"])
        elif data.startswith(REFUSED.encode()):
            self._joined.set_exception(BenchError(f"refused: {data.decode()}"))
        else:
            self._on_text(data, at_us)

    def emit(self, event: str, *values: Any) -> None:  # noqa: ANN401 - JSON
        """Send one event; no answer is asked for."""
        self._socket.send(EVENT + json.dumps([event, *values]))
