"""An HTTP server that does to a connection exactly what a test says, and notes when the other side closes it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Answer: TypeAlias = Callable[["Exchange"], Awaitable[None]]


@dataclass(eq=False)
class Exchange:
    """One request, and the connection to answer it on."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    transport: asyncio.Transport
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    closed_at: float = 0.0
    """`time.monotonic()` when the client closed."""

    @property
    def json(self) -> dict[str, Any]:
        """The request's body."""
        value: dict[str, Any] = json.loads(self.body)
        return value

    def head(
        self, status: int = 200, content_type: str = "text/event-stream", headers: Mapping[str, str] | None = None
    ) -> None:
        """Status line and headers; the body is chunked."""
        fields = {"Content-Type": content_type, "Transfer-Encoding": "chunked", **(headers or {})}
        lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in fields.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode())

    def send(self, data: bytes) -> None:
        """A piece of the body."""
        if data:
            self.transport.write(b"%x\r\n%b\r\n" % (len(data), data))

    def event(self, value: object) -> None:
        """One server-sent event."""
        self.send(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\r\n\r\n")

    def end(self) -> None:
        """The end of the body; the connection stays open."""
        self.transport.write(b"0\r\n\r\n")


class _Connection(asyncio.Protocol):
    def __init__(self, server: RawServer) -> None:
        self._server = server
        self._received = b""
        self._exchanges: list[Exchange] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections += 1
        self._server.transports.add(transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, rest = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._received = rest[length:]
        exchange = Exchange(first.split(" ")[1], headers, rest[:length], self._transport)
        self._exchanges.append(exchange)
        self._server.exchanges.append(exchange)
        task = asyncio.ensure_future(self._server.answer(exchange))
        self._server.tasks.add(task)
        task.add_done_callback(self._server.tasks.discard)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.transports.discard(self._transport)
        for exchange in self._exchanges:
            exchange.closed_at = time.monotonic()
            exchange.closed.set()


class RawServer:
    """What has come, and how it is answered; `answer` may be changed at any time."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.url = ""
        self.connections = 0
        self.exchanges: list[Exchange] = []
        self.tasks: set[asyncio.Future[None]] = set()
        self.transports: set[asyncio.Transport] = set()


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[RawServer, None]:
    """Serve on a free port of loopback, in this event loop."""
    server = RawServer(answer)
    listener = await asyncio.get_running_loop().create_server(lambda: _Connection(server), "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        for task in server.tasks:
            task.cancel()
        await asyncio.gather(*server.tasks, return_exceptions=True)
        listener.close()
        for transport in list(server.transports):
            transport.abort()
        await listener.wait_closed()


def whole(body: bytes) -> Answer:
    """Answer with these bytes of an event stream."""

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(body)
        exchange.end()

    return answer


def events(*values: object) -> Answer:
    """Answer with these events."""

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        for value in values:
            exchange.event(value)
        exchange.end()

    return answer


def failing(status: int, body: bytes, content_type: str = "application/json") -> Answer:
    """Answer with an HTTP error."""

    async def answer(exchange: Exchange) -> None:
        exchange.head(status, content_type)
        exchange.send(body)
        exchange.end()

    return answer
