"""Request bodies, against a real server: a body that is too large or never ends does not stop the server."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import requests

from tests.live_server import LiveServer, running_server

MULTIPART = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    # No emulator is needed, so the address is one at which nothing listens.
    with running_server(GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9") as running:
        yield running


def send_and_receive(server: LiveServer, *pieces: bytes) -> bytes:
    """Send the pieces, and return what the server responds before it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        answer = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while data := connection.recv(65536):
                answer += data
        except (BrokenPipeError, ConnectionResetError):
            pass
        return answer


def test_body_with_a_too_large_content_length_is_refused_before_it_is_sent(server: LiveServer) -> None:
    head = f"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Type: {MULTIPART}\r\nContent-Length: 99999999\r\n\r\n"
    assert b" 413 " in send_and_receive(server, head.encode())


def test_chunked_body_that_exceeds_the_limit_is_refused(server: LiveServer) -> None:
    head = f"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Type: {MULTIPART}\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    answer = send_and_receive(server, head.encode(), *[chunk] * 40)
    assert answer == b"" or b" 413 " in answer
    assert requests.get(f"{server.url}/healthz", timeout=5).status_code == 200


def test_forms_are_not_parsed_on_the_event_loop(server: LiveServer) -> None:
    # Twisted's parser takes 11 s for this body, longer than the timeout, on the event loop and before authentication.
    body = b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + b"1,2\r\n" * 3_000_000 + b"--b--\r\n"
    answer = requests.post(f"{server.url}/healthz", data=body, headers={"Content-Type": MULTIPART}, timeout=10)
    assert answer.status_code in (403, 405)
