"""A minimal websocket client (RFC 6455) that is written directly on an asyncio transport.

The reader and queue of a websocket library cost twice as much CPU as everything that the benchmark client does with a
message. The client shares its core with the upstream, so that cost would distort the measurement.
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


class WebSocket(asyncio.Protocol):
    """One connection. `on_text` is called with each text message in UTF-8 and the time of its receipt."""

    def __init__(self, request: bytes, on_text: Callable[[bytes, int], None]) -> None:
        self._request = request
        self._buffer = b""
        self._is_open = False
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_text = on_text

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the handshake request."""
        # uvloop's transports do not inherit from asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Complete `closed`, and fail `opened` if the handshake did not succeed."""
        if not self.opened.done():
            self.opened.set_exception(BenchError(f"the handshake was refused: {self._buffer[:200]!r}"))
        if not self.closed.done():
            self.closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Handle every complete frame in the buffer."""
        received_at_us = now_us()
        self._buffer = data = self._buffer + data if self._buffer else data
        if not self._is_open and not self._finish_handshake(data):
            return
        data, position, size = self._buffer, 0, len(self._buffer)
        while size - position >= 2:
            length, start = data[position + 1], position + 2
            if length == 126:
                if size - start < 2:
                    break
                length, start = int.from_bytes(data[start : start + 2]), start + 2
            elif length == 127:
                if size - start < 8:
                    break
                length, start = int.from_bytes(data[start : start + 8]), start + 8
            if size - start < length:
                break
            first_byte, position = data[position], start + length
            self._handle_frame(first_byte, data[start:position], received_at_us)
        self._buffer = data[position:]

    def _finish_handshake(self, data: bytes) -> bool:
        """Parse the handshake response, and return whether the socket is open."""
        head, separator, rest = data.partition(b"\r\n\r\n")
        if not separator:
            return False
        if not head.startswith(b"HTTP/1.1 101"):
            self._transport.close()
            return False
        self._is_open, self._buffer = True, rest
        self.opened.set_result(None)
        return True

    def _handle_frame(self, first_byte: int, payload: bytes, received_at_us: int) -> None:
        if first_byte == FINAL | TEXT:
            self.on_text(payload, received_at_us)
        elif first_byte == FINAL | PING:
            self._send_frame(PONG, payload)
        elif first_byte == FINAL | CLOSE:
            self._transport.close()
        elif first_byte != FINAL | PONG:
            # The servers under test send neither fragmented nor binary messages.
            raise BenchError(f"unexpected websocket frame with first byte {first_byte:#x}")

    def send(self, text: str) -> None:
        """Send one message. Its masking key is 0, so that masking needs no work."""
        self._send_frame(TEXT, text.encode())

    def _send_frame(self, opcode: int, payload: bytes) -> None:
        length = len(payload)
        if length < 126:
            head = bytes((FINAL | opcode, MASKED | length))
        else:
            head = struct.pack("!BBH", FINAL | opcode, MASKED | 126, length)
        self._transport.write(head + bytes(4) + payload)

    async def close(self) -> None:
        """Send a close frame, and wait until the connection is closed."""
        if not self._transport.is_closing():
            self._send_frame(CLOSE, b"\x03\xe8")
            self._transport.close()
        await self.closed


def ignore_text(_data: bytes, _received_at_us: int) -> None:
    """Discard a message. This is the callback of a new connection."""


async def connect(
    url: str, headers: Mapping[str, str], on_text: Callable[[bytes, int], None] = ignore_text
) -> WebSocket:
    """Open a websocket. Raise BenchError if the handshake is refused.

    The first message may arrive before this function returns.
    """
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
    _, socket = await loop.create_connection(
        lambda: WebSocket(request, on_text), parts.hostname or "", parts.port or 80
    )
    await socket.opened
    return socket
