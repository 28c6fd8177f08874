"""aiohttp sessions for requests to providers."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from functools import cache, partial
from http import HTTPStatus
from typing import Any

import aiohttp
import certifi
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage

from chat.providers.timeouts import read_within

CONNECT_LIMIT_S = 10.0
KEEP_ALIVE_S = 60.0
"""How long an idle connection stays open for the next request."""
FRAMING_LIMIT_BYTES = 64 * 1024
FRAMING_LIMIT_RATIO = 16
"""Maximum number of bytes received for each byte of a body. A chunk of one byte needs six."""
UNREQUESTED_LIMIT = 4
"""Maximum number of responses that may wait on a connection. If more wait, no request asked for them: close it."""
HEAD_END = b"\r\n\r\n"
INFORMATIONAL = {*range(100, 200)} - {HTTPStatus.SWITCHING_PROTOCOLS}


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context with the trusted certificates. They are read once, which takes 0.1 s."""
    context = ssl.create_default_context()
    # These are trusted in addition to the system's certificates, which container images often lack.
    context.load_verify_locations(certifi.where())
    return context


async def open_session(**options: Any) -> AsyncGenerator[aiohttp.ClientSession, None]:
    """Yield one session. It is closed with this generator, which asyncio closes before its loop ends."""
    connector = _Connector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=tls_context())
    async with aiohttp.ClientSession(connector=connector, **options) as session:
        yield session


async def read_piece(body: aiohttp.StreamReader, limit_s: float) -> bytes:
    """Return what has arrived of a body, or wait for it; empty at its end.

    Raises Stalled after `limit_s` seconds. Raises an error of aiohttp only after all bytes before it were returned.
    """
    if body.exception() is not None and (rest := body._read_nowait(-1)):
        # After an error, aiohttp would drop the bytes that arrived before it.
        return rest
    return await read_within(limit_s, body.readany())


class _Connector(aiohttp.TCPConnector):
    """A connector with a time limit for connecting. Gemini's SDK can limit only the whole stream."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[aiohttp.tracing.Trace], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        """Return a connection of the pool, or open one that uses `_Protocol`."""
        # The package has no public way to choose the protocol.
        protocol: type[ResponseHandler] = _Protocol
        self._factory = partial(protocol, loop=asyncio.get_running_loop())
        return await super().connect(req, traces, aiohttp.ClientTimeout(connect=CONNECT_LIMIT_S))


class _Protocol(ResponseHandler):
    """Ends a connection on which a server sends hardly anything but framing, or responses without a request.

    aiohttp does not limit responses of status 1xx, the framing of a chunked body, and responses without a request. It
    parses them without letting other tasks run.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._received_bytes = 0
        """Number of bytes received since the head of the last response."""

    def data_received(self, data: bytes) -> None:
        """Parse received bytes. Close a connection with hardly any content. Report invalid HTTP to a body's reader."""
        self._received_bytes += len(data)
        for piece in self._split_after_head(data):
            if self._exception is None:
                super().data_received(piece)
        body, failure = self._payload, self._exception
        body_bytes = 0 if body is None else body.total_bytes
        if self._received_bytes > FRAMING_LIMIT_BYTES + FRAMING_LIMIT_RATIO * body_bytes:
            self._refuse("The server sent hardly anything but framing.")
        elif failure is not None and body is not None and body.exception() is None and not body.is_eof():
            # The rest of the body is not valid HTTP. Tell the reader of the body, because aiohttp does not.
            body.set_exception(aiohttp.ClientPayloadError("The server sent a body that breaks the rules of HTTP."))

    def _split_after_head(self, data: bytes) -> list[bytes]:
        """Return the head of a response and what follows it, to be parsed one after the other.

        If aiohttp parses a broken body together with its head, it drops the response and the text before the fault.
        """
        is_in_body = self._payload is not None and not self._payload.is_eof()
        end = -1 if is_in_body else data.find(HEAD_END)
        return [data] if end < 0 else [data[: end + len(HEAD_END)], data[end + len(HEAD_END) :]]

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        """Pass a response on to its reader. Responses of status 1xx are dropped: they only announce another one."""
        if self._exception is not None or data[0].code in INFORMATIONAL:
            return
        self._received_bytes = 0
        super().feed_data(data, size)
        if len(self._buffer) > UNREQUESTED_LIMIT:
            self._refuse("The server sent responses without a request.")

    def _refuse(self, reason: str) -> None:
        """Close the connection, and raise an error with this reason in the reader of its body."""
        body = self._payload
        self.abort()
        self.set_exception(aiohttp.ClientConnectionError(reason))
        if body is not None:
            body.set_exception(aiohttp.ClientPayloadError(reason))

    def close(self) -> None:
        """Close the connection, or abort it if the server has not read the whole request: it might never do so."""
        if self.transport is not None and self.transport.get_write_buffer_size():
            self.abort()
        else:
            super().close()
