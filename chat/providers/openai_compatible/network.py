"""Network reads that leave time to others, whatever a server sends.

The HTTP package parses all that one read holds before other tasks run, and reads again at once: heads of status 103
without end take the whole event loop. Here a read is short, and a connection on which more data waits rests first.
"""

from __future__ import annotations

import ssl
import time
from asyncio import sleep
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

READ_BYTES = 4 * 1024
"""Longest read. It may hold 130 heads, which take 20 ms."""
LONGEST_REST_S = 0.02


def rest_between_reads(client: httpx2.AsyncClient) -> None:
    """Let all connections of a client rest, also those through the proxies that the environment names.

    The package has no public way to set the network of a client that uses these proxies.
    """
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.AsyncHTTPTransport):
            transport._pool._network_backend = RestingNetwork()


class RestingNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections that rest between reads."""

    def __init__(self) -> None:
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """See `httpcore2.AsyncNetworkBackend`."""
        return RestingStream(await self._network.connect_tcp(host, port, timeout, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        """See `httpcore2.AsyncNetworkBackend`."""
        await sleep(seconds)


class RestingStream(httpcore2.AsyncNetworkStream):
    """A connection that rests before a read if the last one was full, for as long as the work on what it had read."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._is_full = False
        """Whether the last read was full, so that more data probably waits."""
        self._read_at_s = 0.0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """See `httpcore2.AsyncNetworkStream`."""
        if self._is_full:
            await sleep(min(time.perf_counter() - self._read_at_s, LONGEST_REST_S))
        size = min(max_bytes, READ_BYTES)
        data = await self._stream.read(size, timeout)
        self._is_full, self._read_at_s = len(data) == size, time.perf_counter()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """See `httpcore2.AsyncNetworkStream`."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """See `httpcore2.AsyncNetworkStream`."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """See `httpcore2.AsyncNetworkStream`."""
        return RestingStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - the package's interface
        """See `httpcore2.AsyncNetworkStream`."""
        return self._stream.get_extra_info(info)
