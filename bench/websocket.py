"""The websocket client of the benchmarks. aiohttp reads frames in compiled code, so it costs little CPU.

The client shares its core with the upstream, and a busy core would look like a slow product.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import aiohttp

from bench.answers import now_us
from bench.processes import BenchError

OnText = Callable[[bytes, int], None]
"""Called with each text message in UTF-8, and the time of its receipt in microseconds."""


def ignore_text(_data: bytes, _received_at_us: int) -> None:
    """Discard a message. This is the callback of a new connection."""


class WebSocket:
    """One connection. It implements `bench.client.Connection`."""

    def __init__(
        self, session: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse[bool], on_text: OnText
    ) -> None:
        self._session, self._socket = session, socket
        self._sending: set[asyncio.Task[None]] = set()
        self.on_text = on_text
        self.closed: asyncio.Future[None] = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            self.on_text(message.data, now_us())

    def send(self, text: str) -> None:
        """Send one message. Messages are sent in the order of the calls."""
        task = asyncio.ensure_future(self._socket.send_str(text))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def close(self) -> None:
        """Close the connection."""
        await self._socket.close()
        await self._session.close()


async def connect(url: str, headers: Mapping[str, str], on_text: OnText = ignore_text) -> WebSocket:
    """Open a websocket. Raise BenchError if the handshake is refused."""
    session = aiohttp.ClientSession()
    try:
        socket = await session.ws_connect(url, headers=headers, max_msg_size=0, decode_text=False)
    except aiohttp.ClientError as error:
        await session.close()
        raise BenchError(f"the handshake was refused: {error}") from error
    return WebSocket(session, socket, on_text)
