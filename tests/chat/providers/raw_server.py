"""An HTTP server in the test's own event loop. A test decides what it writes to each connection, and when.

It accepts one request at a time on each connection, and records when the client closes the connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Answer: TypeAlias = Callable[["Exchange"], Awaitable[None]]

WAIT_LIMIT_S = 60.0
"""Time limit of a test that would wait forever. It measures no times."""


@dataclass(eq=False)
class Exchange:
    """One request, and the connection on which its response is written."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    transport: asyncio.Transport
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the connection is closed."""
    writable: asyncio.Event = field(default_factory=asyncio.Event)
    """Not set while the client reads too slowly."""
    sent_bytes: int = 0
    """Size of the pieces of the body."""

    @property
    def json(self) -> dict[str, Any]:
        """The request's body as JSON."""
        value: dict[str, Any] = json.loads(self.body)
        return value

    def head(
        self, status: int = 200, content_type: str = "text/event-stream", headers: Mapping[str, str] | None = None
    ) -> None:
        """Write the status line and the headers of a chunked response."""
        fields = {"Content-Type": content_type, "Transfer-Encoding": "chunked", **(headers or {})}
        lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in fields.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode())

    def send(self, data: bytes) -> None:
        """Write a piece of the body."""
        if data:
            self.sent_bytes += len(data)
            self.transport.write(b"%x\r\n%b\r\n" % (len(data), data))

    def event(self, value: object) -> None:
        """Write one server-sent event."""
        self.send(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\r\n\r\n")

    def end(self) -> None:
        """Write the end of the body. The connection stays open."""
        self.transport.write(b"0\r\n\r\n")

    async def wait_until_closed(self) -> None:
        """Wait until the client has closed the connection."""
        await asyncio.wait_for(self.closed.wait(), WAIT_LIMIT_S)


class RawServer:
    """The requests that were received, and the answer to the next one. A test may change `answer` at any time."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.url = ""
        self.connections = 0
        """Number of all connections so far."""
        self.exchanges: list[Exchange] = []
        self.tasks: set[asyncio.Future[None]] = set()
        """The answers that are being written."""
        self.transports: set[asyncio.Transport] = set()
        self._received: asyncio.Queue[Exchange] = asyncio.Queue()

    async def next_request(self) -> Exchange:
        """Wait for a request, and return its exchange. Each exchange is returned once."""
        return await asyncio.wait_for(self._received.get(), WAIT_LIMIT_S)

    def begin(self, exchange: Exchange) -> None:
        """Start answering a request."""
        self.exchanges.append(exchange)
        self._received.put_nowait(exchange)
        task = asyncio.ensure_future(self.answer(exchange))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


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
        exchange.writable.set()
        self._exchanges.append(exchange)
        self._server.begin(exchange)

    def pause_writing(self) -> None:
        for exchange in self._exchanges:
            exchange.writable.clear()

    def resume_writing(self) -> None:
        for exchange in self._exchanges:
            exchange.writable.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._server.transports.discard(self._transport)
        for exchange in self._exchanges:
            exchange.closed.set()


@asynccontextmanager
async def run_server(answer: Answer) -> AsyncGenerator[RawServer, None]:
    """Serve on a free loopback port during the block."""
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


def answer_with_body(body: bytes) -> Answer:
    """Answer with this body of an event stream."""

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(body)
        exchange.end()

    return answer


def answer_with_events(*values: object) -> Answer:
    """Answer with these server-sent events."""

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        for value in values:
            exchange.event(value)
        exchange.end()

    return answer


def answer_with_error(status: int, body: bytes, content_type: str = "application/json") -> Answer:
    """Answer with an HTTP error."""

    async def answer(exchange: Exchange) -> None:
        exchange.head(status, content_type)
        exchange.send(body)
        exchange.end()

    return answer


async def never_answer(exchange: Exchange) -> None:
    """Do not answer, and leave the connection open."""
    await asyncio.Event().wait()
