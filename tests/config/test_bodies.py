"""Bodies of requests, against a real server: none stops it, none is larger than it says."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import requests

from tests.live_server import LiveServer, running_server

MULTIPART = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    # An address where nothing listens: no emulator is needed here.
    with running_server(GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9") as running:
        yield running


def received(server: LiveServer, *pieces: bytes) -> bytes:
    """What the server answers before it closes."""
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


def test_announced_body_that_is_too_large_is_refused_before_it_comes(server: LiveServer) -> None:
    head = f"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Type: {MULTIPART}\r\nContent-Length: 99999999\r\n\r\n"
    assert b" 413 " in received(server, head.encode())


def test_chunked_body_without_an_end_is_cut(server: LiveServer) -> None:
    head = f"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Type: {MULTIPART}\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    answer = received(server, head.encode(), *[chunk] * 40)
    assert answer == b"" or b" 413 " in answer
    assert requests.get(f"{server.url}/healthz", timeout=5).status_code == 200


def test_forms_are_parsed_by_django_alone(server: LiveServer) -> None:
    # Twisted's own parser took eleven seconds for this, on the event loop, and before any check of who sent it.
    body = b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + b"1,2\r\n" * 3_000_000 + b"--b--\r\n"
    answer = requests.post(f"{server.url}/healthz", data=body, headers={"Content-Type": MULTIPART}, timeout=10)
    assert answer.status_code in (403, 405)
    assert answer.elapsed.total_seconds() < 5
