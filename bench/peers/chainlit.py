"""Chainlit's page: Socket.IO 4 on a websocket; checked with Chainlit 2.12."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping

from bench.websocket import connect, ignore

#: Engine.IO's packets, and Socket.IO's inside of its messages.
PING, PONG = b"2", "3"
JOIN = "40"
EVENT = "42"


class Line:
    """One visit; takes what the relays' client sends."""

    def __init__(self) -> None:
        self.on_text: Callable[[bytes, int], None] = ignore
        self.joined: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self, url: str, headers: Mapping[str, str]) -> None:
        """Connect, and say who this is."""
        self._socket = await connect(f"{url}ws/socket.io/?EIO=4&transport=websocket", headers, self._take)
        self.closed = self._socket.closed
        self.close = self._socket.close
        # As its page says who it is; every visit is a session.
        about = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "userEnv": "{}", "threadId": ""}
        self._socket.send(JOIN + json.dumps(about))
        async with asyncio.timeout(30):
            await self.joined

    def _take(self, data: bytes, at_us: int) -> None:
        if data == PING:
            self._socket.send(PONG)
        elif data.startswith(JOIN.encode()):
            self._socket.send(EVENT + '["connection_successful"]')
            self.joined.set_result(None)
        else:
            self.on_text(data, at_us)

    def send(self, text: str) -> None:
        """Ask as the page's box does."""
        step = {"id": str(uuid.uuid4()), "name": "user", "type": "user_message", "output": json.loads(text)["text"]}
        step |= {"threadId": "", "createdAt": "2026-01-01T00:00:00.000Z"}
        self._socket.send(EVENT + json.dumps(["client_message", {"message": step, "fileReferences": []}]))


async def open_line(url: str, headers: Mapping[str, str]) -> Line:
    """A visit that has begun."""
    line = Line()
    await line.open(url, headers)
    return line
