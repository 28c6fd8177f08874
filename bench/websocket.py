"""A websocket client on the transport itself: as little as the client of a benchmark needs (RFC 6455).

A library's reader and queue cost twice as much as all that the client does with a message, on the core that it shares
with the upstream.
"""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from collections.abc import Callable, Mapping
from typing import cast
from urllib.parse import urlsplit

from bench.answers import now_us
from bench.processes import BenchError

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
FINAL = 0x80
MASKED = 0x80


class Socket(asyncio.Protocol):
    """One connection; `on_text` gets each text message in UTF-8, and when its bytes were received."""

    def __init__(self, request: bytes, on_text: Callable[[bytes, int], None]) -> None:
        self._request = request
        self._buffer = b""
        self._is_open = False
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_text = on_text

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        # uvloop's transports do not say that they are one.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits."""
        if not self.opened.done():
            self.opened.set_exception(BenchError(f"the handshake was refused: {self._buffer[:200]!r}"))
        if not self.closed.done():
            self.closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Take out all whole frames."""
        at_us = now_us()
        self._buffer = data = self._buffer + data if self._buffer else data
        if not self._is_open and not self._open(data):
            return
        data, at, size = self._buffer, 0, len(self._buffer)
        while size - at >= 2:
            length, begin = data[at + 1], at + 2
            if length == 126:
                if size - begin < 2:
                    break
                length, begin = int.from_bytes(data[begin : begin + 2]), begin + 2
            elif length == 127:
                if size - begin < 8:
                    break
                length, begin = int.from_bytes(data[begin : begin + 8]), begin + 8
            if size - begin < length:
                break
            first, at = data[at], begin + length
            self._take(first, data[begin:at], at_us)
        self._buffer = data[at:]

    def _open(self, data: bytes) -> bool:
        head, found, rest = data.partition(b"\r\n\r\n")
        if not found:
            return False
        if not head.startswith(b"HTTP/1.1 101"):
            self._transport.close()
            return False
        self._is_open, self._buffer = True, rest
        self.opened.set_result(None)
        return True

    def _take(self, first: int, payload: bytes, at_us: int) -> None:
        if first == FINAL | TEXT:
            self.on_text(payload, at_us)
        elif first == FINAL | PING:
            self._send(PONG, payload)
        elif first == FINAL | CLOSE:
            self._transport.close()
        elif first != FINAL | PONG:
            # None of the servers under test splits messages or sends bytes.
            raise BenchError(f"a frame of kind {first:#x} was not expected")

    def send(self, text: str) -> None:
        """Send one message; its mask is 0, which changes nothing and costs nothing."""
        self._send(TEXT, text.encode())

    def _send(self, kind: int, payload: bytes) -> None:
        length = len(payload)
        if length < 126:
            head = bytes((FINAL | kind, MASKED | length))
        else:
            head = struct.pack("!BBH", FINAL | kind, MASKED | 126, length)
        self._transport.write(head + bytes(4) + payload)

    async def close(self) -> None:
        """Say good-bye, and go."""
        if not self._transport.is_closing():
            self._send(CLOSE, b"\x03\xe8")
            self._transport.close()
        await self.closed


def ignore(_data: bytes, _at_us: int) -> None:
    """Take a message that nobody waits for."""


async def connect(url: str, headers: Mapping[str, str], on_text: Callable[[bytes, int], None] = ignore) -> Socket:
    """An open socket; its first message may come before this returns. Raises BenchError when it is refused."""
    parts = urlsplit(url)
    fields = {
        "Host": parts.netloc,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Version": "13",
        **headers,
    }
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    request = "\r\n".join(lines).encode()
    loop = asyncio.get_running_loop()
    _, socket = await loop.create_connection(lambda: Socket(request, on_text), parts.hostname or "", parts.port or 80)
    await socket.opened
    return socket
