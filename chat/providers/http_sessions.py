"""aiohttp sessions for requests to providers."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator
from functools import cache, partial
from typing import Any

import aiohttp
import certifi
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage

CONNECT_LIMIT_S = 10.0
KEEP_ALIVE_S = 60.0
"""How long an idle connection stays open for the next request."""
INFORMATIONAL_LIMIT = 20
"""Most informational responses (status 1xx) before the response itself."""
LARGE_READ_BYTES = 16 * 1024
SHORTEST_REST_S = 0.001


@cache
def tls_context() -> ssl.SSLContext:
    """Return the certificates that are trusted. They are read once, which takes 0.1 s."""
    context = ssl.create_default_context()
    # In addition to the system's certificates, which images of containers often lack.
    context.load_verify_locations(certifi.where())
    return context


async def open_session(**options: Any) -> AsyncGenerator[aiohttp.ClientSession, None]:  # noqa: ANN401 - of the package
    """Yield one session. It is closed with this generator, which asyncio closes before its loop ends."""
    connector = _Connector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=tls_context())
    async with aiohttp.ClientSession(connector=connector, **options) as session:
        yield session


class _Connector(aiohttp.TCPConnector):
    """A connector with a time limit for connecting. The SDK of Gemini only lets one be set for the whole stream."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[aiohttp.tracing.Trace], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        """See `aiohttp.BaseConnector`."""
        # The package has no public way to choose the protocol.
        protocol: type[ResponseHandler] = _Protocol
        self._factory = partial(protocol, loop=asyncio.get_running_loop())
        return await super().connect(req, traces, aiohttp.ClientTimeout(connect=CONNECT_LIMIT_S))


class _Protocol(ResponseHandler):
    """Leaves time to others, whatever a server sends.

    All that one read of the network holds is parsed before other tasks run. While a server sends without end, the event
    loop would never sleep, and each thread of another request would wait for the interpreter's lock again and again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._informational = 0
        """How many informational responses have come in a row."""

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`. After a large read, the connection rests for as long as the work on it took."""
        began_s = time.perf_counter()
        super().data_received(data)
        if len(data) >= LARGE_READ_BYTES and self.transport is not None and self.transport.is_reading():
            self.transport.pause_reading()
            self._loop.call_later(max(SHORTEST_REST_S, time.perf_counter() - began_s), self._end_rest)

    def _end_rest(self) -> None:
        if self.transport is not None and not (self._reading_paused or self._buffer_paused):
            self.transport.resume_reading()

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        """See `aiohttp.DataQueue`. Ends a connection on which informational responses come without end."""
        self._informational = self._informational + 1 if 100 <= data[0].code < 200 else 0
        if self._informational <= INFORMATIONAL_LIMIT:
            super().feed_data(data, size)
        elif self.transport is not None:
            self.abort()
            self.set_exception(aiohttp.ClientConnectionError("The server sent nothing but informational responses."))
