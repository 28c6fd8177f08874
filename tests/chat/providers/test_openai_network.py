"""Network reads of servers of chat completions leave time to others."""

from __future__ import annotations

import httpcore2
import httpx2
import pytest

from chat.providers.openai_compatible import network
from chat.providers.openai_compatible.network import READ_BYTES, RestingNetwork, RestingStream, rest_between_reads


def test_all_connections_of_a_client_rest_also_those_through_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    client = httpx2.AsyncClient()
    transports = [one for one in (client._transport, *client._mounts.values()) if one is not None]
    assert len(transports) == 2
    rest_between_reads(client)
    for transport in transports:
        assert isinstance(transport, httpx2.AsyncHTTPTransport)
        assert isinstance(transport._pool, httpcore2.AsyncConnectionPool)
        assert isinstance(transport._pool._network_backend, RestingNetwork)


class Pieces(httpcore2.AsyncNetworkStream):
    """A connection with data that waits."""

    def __init__(self, waiting: bytes) -> None:
        self._waiting = waiting

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """See `httpcore2.AsyncNetworkStream`."""
        data, self._waiting = self._waiting[:max_bytes], self._waiting[max_bytes:]
        return data


async def test_connection_rests_while_more_data_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    monkeypatch.setattr(network, "sleep", rest)
    stream = RestingStream(Pieces(b"x" * (2 * READ_BYTES + 1)))
    sizes = [len(await stream.read(65_536)) for _ in range(4)]
    assert sizes == [READ_BYTES, READ_BYTES, 1, 0]
    # Before the second and the third read. Then the connection was empty.
    assert len(rests) == 2
    assert max(rests) <= network.LONGEST_REST_S
