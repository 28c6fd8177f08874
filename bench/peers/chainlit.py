"""The protocol of Chainlit's page, tested with Chainlit 2.12."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping

from bench.peers.socketio import SocketIOClient
from bench.websocket import OnText, ignore_text


class ChainlitPage:
    """One session. It implements `bench.client.Connection`."""

    closed: asyncio.Future[None]

    def __init__(self) -> None:
        self.on_text: OnText = ignore_text
        self._socket = SocketIOClient(lambda data, received_at_us: self.on_text(data, received_at_us))

    async def open(self, url: str, headers: Mapping[str, str]) -> None:
        """Connect and start a new session."""
        session = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "userEnv": "{}", "threadId": ""}
        await self._socket.open(f"{url}ws/socket.io/", headers, session)
        self.closed = self._socket.closed
        self._socket.emit("connection_successful")

    def send(self, text: str) -> None:
        """Send the text of Plotline's message as the page's composer does."""
        step = {"id": str(uuid.uuid4()), "name": "user", "type": "user_message", "output": json.loads(text)["text"]}
        step |= {"threadId": "", "createdAt": "2026-01-01T00:00:00.000Z"}
        self._socket.emit("client_message", {"message": step, "fileReferences": []})

    async def close(self) -> None:
        """Close the connection."""
        await self._socket.close()


async def connect_page(url: str, headers: Mapping[str, str]) -> ChainlitPage:
    """Open a page with a new session."""
    page = ChainlitPage()
    await page.open(url, headers)
    return page
