"""Requests that are too large or never end do not stop the server, and a page that closes is no error."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import requests
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web.http import Request

from config import daphne_server
from config.daphne_server import ARRIVAL_LIMIT_S, BODY_STEP_BYTES, Channel, WebSocket
from tests.live_server import LiveServer, running_server

MULTIPART = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    # No emulator is needed, so the address is one at which nothing listens.
    with running_server(GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9") as running:
        yield running


def send_and_receive(server: LiveServer, *pieces: bytes) -> bytes:
    """Send the pieces, and return what the server responds before it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        answer = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while data := connection.recv(65536):
                answer += data
        except (BrokenPipeError, ConnectionResetError):
            pass
        return answer


def head_of(path: str, *headers: str) -> bytes:
    """Return the head of a request that posts a form."""
    lines = (f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Type: {MULTIPART}", *headers)
    return "\r\n".join([*lines, "", ""]).encode()


def test_body_with_a_too_large_content_length_is_refused_before_it_is_sent(server: LiveServer) -> None:
    announced = ("Content-Length: 99999999", "Expect: 100-continue", "Accept-Language: de")
    page = send_and_receive(server, head_of("/import/", *announced, "Accept: text/html")).decode()
    assert page.startswith("HTTP/1.1 413 ")
    assert "100 Continue" not in page
    assert "Höchstens 16" in page
    script = send_and_receive(server, head_of("/import/", *announced, "Accept: application/json"))
    assert b'{"detail": "H\\u00f6chstens 16' in script
    api = send_and_receive(server, head_of("/api/v1/import/", *announced))
    assert api.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in api
    assert b"may have 15.1 MB. Whoever runs this server can import more with `manage.py import_conversations`." in api
    upload = send_and_receive(server, head_of("/attachments/", *announced))
    assert upload.startswith(b"HTTP/1.1 413 ")
    assert b'{"detail":' in upload


def test_chunked_body_that_exceeds_the_limit_gets_a_response_also_if_all_of_it_is_sent(server: LiveServer) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    answer = send_and_receive(server, head_of("/import/", "Transfer-Encoding: chunked"), *[chunk] * 40, b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200


def test_forms_are_not_parsed_on_the_event_loop(server: LiveServer) -> None:
    # Twisted's parser takes 11 s for this body, longer than the timeout, on the event loop and before authentication.
    body = b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + b"1,2\r\n" * 3_000_000 + b"--b--\r\n"
    answer = requests.post(f"{server.url}/healthz", data=body, headers={"Content-Type": MULTIPART}, timeout=60)
    assert answer.status_code in (403, 405)


# --- the time in which a request must arrive --------------------------------------------------------------------------


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def channel(clock: Clock) -> Iterator[Channel]:
    channel = Channel()
    for name, value in {"callLater": clock.callLater, "timeOut": ARRIVAL_LIMIT_S, "requestFactory": Request}.items():
        setattr(channel, name, value)
    channel.makeConnection(StringTransport())
    yield channel
    for request in channel.requests:
        if request.content:
            request.content.close()


def is_closed_while_sending(channel: Channel, clock: Clock, piece: bytes, pieces: int) -> bool:
    """Send a piece ten times within the limit, again and again; return whether the connection was closed."""
    for _ in range(pieces):
        channel.dataReceived(piece)
        clock.advance(ARRIVAL_LIMIT_S / 10)
    assert isinstance(channel.transport, StringTransport)
    return bool(channel.transport.disconnecting)


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nContent-Length: 999\r\n\r\n"])
def test_connection_is_closed_if_a_request_arrives_byte_by_byte(channel: Channel, clock: Clock, start: bytes) -> None:
    channel.dataReceived(start)
    assert is_closed_while_sending(channel, clock, b"x", 11)


def test_connection_stays_open_while_a_long_body_arrives(channel: Channel, clock: Clock) -> None:
    channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n")
    assert not is_closed_while_sending(channel, clock, b"x" * (BODY_STEP_BYTES // 5), 50)


@pytest.mark.parametrize("is_late", [True, False])
def test_refused_body_is_discarded_up_to_a_limit_and_for_a_limited_time(
    channel: Channel, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    monkeypatch.setattr(daphne_server, "DISCARDED_LIMIT_BYTES", 10)
    transport = channel.transport
    assert isinstance(transport, StringTransport)
    monkeypatch.setattr(transport, "loseWriteConnection", lambda: None, raising=False)
    channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: 999\r\n\r\n")
    assert channel.discard_body() == (b"POST", b"/", b"HTTP/1.1")
    channel.dataReceived(b"x" * 10)
    channel.loseConnection()
    clock.advance(ARRIVAL_LIMIT_S - 1)
    assert (transport.disconnecting, transport.disconnected) == (False, False)
    if is_late:
        clock.advance(1)
    else:
        channel.dataReceived(b"x")
    assert transport.disconnected


def test_incomplete_requests_do_not_delay_other_requests(server: LiveServer) -> None:
    with ExitStack() as stack:
        for _ in range(250):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            connection.sendall(b"POST /accounts/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
        assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200


@pytest.mark.parametrize("state", [WebSocket.STATE_CLOSING, WebSocket.STATE_CLOSED])
def test_message_to_a_socket_that_is_closing_or_closed_is_dropped(state: int) -> None:
    connection = WebSocket()
    connection.state, connection.transport, connection.client_addr = state, StringTransport(), None
    connection.serverSend("A frame.")
    assert connection.transport.value() == b""
