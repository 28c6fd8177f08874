"""Connections that write at once, on real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from daphne.ws_protocol import WebSocketFactory
from twisted.internet import tcp
from twisted.internet.main import CONNECTION_DONE
from twisted.internet.protocol import Factory, Protocol

from config.sending import PacedServer, PromptConnection


class Reactor:
    """Remembers who waits for what; a test does the reading and writing."""

    def __init__(self) -> None:
        self.writers: set[object] = set()

    def addReader(self, reader: object) -> None:
        """Nothing is read here."""

    def removeReader(self, reader: object) -> None:
        """Nothing is read here."""

    def addWriter(self, writer: object) -> None:
        """It has something to write."""
        self.writers.add(writer)

    def removeWriter(self, writer: object) -> None:
        """It has nothing more to write."""
        self.writers.discard(writer)


class Ends:
    """Both ends of a connection."""

    def __init__(self) -> None:
        ours, self.theirs = socket.socketpair()
        ours.setblocking(False)
        self.theirs.settimeout(5)
        self.written: object = None
        """What the last writing gave to the reactor."""
        self.reactor = Reactor()
        self.connection = PromptConnection(ours, Protocol(), ("", 0), None, 1, self.reactor)  # type: ignore[arg-type]

    def received(self, size: int) -> bytes:
        """So many bytes, while the reactor writes whenever it is asked to."""
        data = b""
        while len(data) < size:
            data += self.theirs.recv(1 << 20)
            if self.reactor.writers:
                self.written = self.connection.doWrite()  # type: ignore[no-untyped-call]
        return data


@pytest.fixture
def ends() -> Iterator[Ends]:
    """A new connection."""
    made = Ends()
    yield made
    made.theirs.close()
    made.connection.socket.close()


def test_what_the_kernel_takes_is_written_at_once(ends: Ends) -> None:
    ends.connection.write(b"one")
    ends.connection.write(b"two")
    assert ends.theirs.recv(100) == b"onetwo"
    assert not ends.reactor.writers


def test_what_it_does_not_take_follows_in_order(ends: Ends) -> None:
    pieces = [bytes([number]) * 300_000 for number in range(20)]
    for piece in pieces:
        ends.connection.write(piece)
    assert ends.reactor.writers == {ends.connection}
    assert ends.received(6_000_000) == b"".join(pieces)
    assert ends.written is None
    assert not ends.reactor.writers
    ends.connection.write(b"at once again")
    assert ends.theirs.recv(100) == b"at once again"


def test_connection_that_is_closed_still_writes_what_it_was_given(ends: Ends) -> None:
    ends.connection.write(b"x" * 3_000_000)
    ends.connection.loseConnection()  # type: ignore[no-untyped-call]
    assert ends.received(3_000_000) == b"x" * 3_000_000
    assert ends.written is CONNECTION_DONE


def test_broken_connection_is_left_to_the_reactor(ends: Ends) -> None:
    ends.theirs.close()
    ends.connection.write(b"nobody reads this")
    assert ends.reactor.writers == {ends.connection}
    assert ends.connection.doWrite() is not None  # type: ignore[no-untyped-call]


def test_who_is_asked_for_more_after_each_writing_still_is(ends: Ends) -> None:
    asked = []

    class Pulled:
        def resumeProducing(self) -> None:
            asked.append(True)

        def stopProducing(self) -> None:
            """It never is."""

    ends.connection.registerProducer(Pulled(), False)  # type: ignore[no-untyped-call]
    assert len(asked) == 1
    ends.connection.write(b"piece")
    assert ends.connection.doWrite() is None  # type: ignore[no-untyped-call]
    assert len(asked) == 2
    assert ends.theirs.recv(100) == b"piece"


def test_connections_that_daphne_takes_are_of_this_kind() -> None:
    made: list[Any] = []

    class Remembered(Protocol):
        def connectionMade(self) -> None:
            made.append(self.transport)

    factory: Any = Factory.forProtocol(Remembered)
    port: Any = tcp.Port(0, factory, interface="127.0.0.1", reactor=Reactor())
    port.startListening()
    server = PacedServer(application=None, endpoints=["tcp:port=0"])
    server.ws_factory = WebSocketFactory(server)
    server.listen_success(port)
    address = port.getHost()
    with socket.create_connection((address.host, address.port), timeout=5):
        port.doRead()
        assert [type(transport) for transport in made] == [PromptConnection]
        made[0].socket.close()
    port.socket.close()
