"""Chainlit's page; checked with Chainlit 2.12."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping

from bench.peers.socketio import SocketIO
from bench.websocket import ignore


class Line:
    """One visit; takes what the relays' client sends."""

    closed: asyncio.Future[None]

    def __init__(self) -> None:
        self.on_text: Callable[[bytes, int], None] = ignore
        self._socket = SocketIO(lambda data, at_us: self.on_text(data, at_us))

    async def open(self, url: str, headers: Mapping[str, str]) -> None:
        """Connect, and say who this is; every visit is a session."""
        about = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "userEnv": "{}", "threadId": ""}
        await self._socket.open(f"{url}ws/socket.io/", headers, about)
        self.closed = self._socket.closed
        self._socket.emit("connection_successful")

    def send(self, text: str) -> None:
        """Ask as the page's box does."""
        step = {"id": str(uuid.uuid4()), "name": "user", "type": "user_message", "output": json.loads(text)["text"]}
        step |= {"threadId": "", "createdAt": "2026-01-01T00:00:00.000Z"}
        self._socket.emit("client_message", {"message": step, "fileReferences": []})

    async def close(self) -> None:
        """Leave."""
        await self._socket.close()


async def open_line(url: str, headers: Mapping[str, str]) -> Line:
    """A visit that has begun."""
    line = Line()
    await line.open(url, headers)
    return line
