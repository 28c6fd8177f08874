"""An HTTP proxy on loopback that stands before a real S3 server and breaks what it is told to, by a seed.

Faults: `pass` nothing; `refuse` closes the port; `hole` accepts and never answers; `half` answers 500 to half of
the requests; `cut` ends half of the connections at a random byte of a PUT's body, which the server gets cut too;
`drip` passes the answer on at 2 KB/s or its status line byte by byte; `deny` answers with `error`.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.ports import free_port

ERROR_BODY = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
DRIP_BYTES = 1024
DRIP_EVERY_S = 0.5


class FaultProxy:
    """The proxy; `fault` may be changed at any time, `requests` holds what came: (method, path)."""

    def __init__(self, upstream_port: int, *, seed: int) -> None:
        self.upstream_port = upstream_port
        self.fault = "pass"
        self.error = (403, "RequestTimeTooSkewed", "The clocks differ too much.")
        self.requests: list[tuple[str, str]] = []
        self.reached = threading.Event()
        self.random = random.Random(seed)
        self._released = threading.Event()
        self._server = _Server(("127.0.0.1", free_port()), _Handler)
        self._server.proxy = self
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"http://127.0.0.1:{self.port}"

    def refuse(self) -> None:
        """Close the port and what is connected to it; connections are refused until `accept`."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._server.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def accept(self) -> None:
        """Open the same port again."""
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def hang(self) -> None:
        """Hold a request without an answer until `release`."""
        self.reached.set()
        self._released.wait(60)

    def release(self) -> None:
        """Let requests that hang end."""
        self._released.set()

    def close(self) -> None:
        """End for good."""
        self.release()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A request that hangs must not hold up the test's end.
    block_on_close = False
    proxy: FaultProxy

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        """Remember the connection, to be able to break it."""
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def _relay(self) -> None:
        proxy = self.server.proxy
        proxy.requests.append((self.command, self.path))
        length = int(self.headers.get("Content-Length") or 0)
        fault = proxy.fault
        if fault == "hole" or (fault == "hole on PUT" and self.command == "PUT"):
            proxy.hang()
            self.close_connection = True
            return
        body = self.rfile.read(length)
        if fault == "deny":
            status, code, message = proxy.error
            self._answer(status, ERROR_BODY.format(code=code, message=message).encode(), {})
            return
        if fault == "half" and proxy.random.random() < 0.5:
            self._answer(500, ERROR_BODY.format(code="InternalError", message="A seeded fault.").encode(), {})
            return
        if fault == "cut" and self.command == "PUT" and proxy.random.random() < 0.5:
            self._cut(body)
            return
        upstream = http.client.HTTPConnection("127.0.0.1", proxy.upstream_port, timeout=20)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
        upstream.request(self.command, self.path, body=body, headers=headers)
        answer = upstream.getresponse()
        content = answer.read()
        self._answer(answer.status, content, dict(answer.getheaders()))
        upstream.close()

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = _relay

    def _cut(self, body: bytes) -> None:
        """Send the server a part of the body, then end both connections."""
        proxy = self.server.proxy
        head = f"{self.command} {self.path} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in self.headers.items() if name.lower() != "expect"
        )
        with socket.create_connection(("127.0.0.1", proxy.upstream_port)) as upstream:
            upstream.sendall(f"{head}\r\n".encode() + body[: proxy.random.randrange(len(body))])
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        kept = {
            k: v for k, v in headers.items() if k.lower() not in ("transfer-encoding", "connection", "date", "server")
        }
        if self.command != "HEAD":
            kept["Content-Length"] = str(len(content))
        fault = self.server.proxy.fault
        if fault == "drip line":
            self._drip(b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 1000, 1)
            return
        self.send_response(status)
        for name, value in kept.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "drip":
            self._drip(content, DRIP_BYTES)
        else:
            self.wfile.write(content)

    def _drip(self, content: bytes, step_bytes: int) -> None:
        for start in range(0, len(content), step_bytes):
            self.wfile.write(content[start : start + step_bytes])
            self.wfile.flush()
            if self.server.proxy._released.wait(DRIP_EVERY_S):
                self.close_connection = True
                return
