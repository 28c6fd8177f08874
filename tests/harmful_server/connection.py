"""One request to the harmful server, and what it writes to the connection: bytes that need not be HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

CANARY = "quoted-diary-canary"
"""A text that the server sends, and that must not be in the log."""
STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Request:
    """A request, and the connection on which its response is written."""

    path: str
    body: Mapping[str, Any]
    writer: asyncio.StreamWriter

    async def write(self, data: bytes) -> None:
        """Write bytes, and wait while the client reads too slowly. Raises ConnectionError when it has gone."""
        self.writer.write(data)
        await self.writer.drain()

    async def head(
        self, content_type: str = STREAM, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Write the status line and the headers. The end of the connection is the end of the body."""
        fields = {"Content-Type": content_type, "Connection": "close", **(headers or {})}
        lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in fields.items())]
        await self.write("\r\n".join([*lines, "", ""]).encode())

    async def event(self, value: object) -> None:
        """Write one event."""
        await self.write(event(value))

    async def forever(self, data: bytes) -> None:
        """Write the same bytes until the client goes."""
        while True:
            await self.write(data)

    def reset(self) -> None:
        """Close the connection with RST in place of FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Harm: TypeAlias = Callable[[Request], Awaitable[None]]
HARMS: dict[str, Harm] = {}
"""Name of the model -> its harm."""


def harm(function: Harm) -> Harm:
    """Register a harm under the name of its function."""
    HARMS[function.__name__.replace("_", "-")] = function
    return function


def event(value: object) -> bytes:
    """Return an event with a JSON value."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(**delta: object) -> dict[str, Any]:
    """Return a chunk with one choice."""
    return {"choices": [{"index": 0, "delta": delta}]}


def text(content: str) -> bytes:
    """Return an event with some text of the answer."""
    return event(chunk(content=content))


DONE = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n"
