"""An HTTP proxy on loopback in front of a real S3 server. It injects faults, with a seeded random generator."""

from __future__ import annotations

import contextlib
import http.client
import random
import socket
import threading
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.ports import free_port

ERROR_BODY = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
SLOW_BODY_STEP_BYTES = 1024
SLOW_STEP_S = 0.5
HANG_LIMIT_S = 60.0


class Fault(Enum):
    """The faults that the proxy can inject into requests."""

    NONE = auto()
    """Every request is passed on to the S3 server."""
    HANG = auto()
    """Requests get no response until `FaultProxy.release`."""
    HANG_ON_PUT = auto()
    """PUT requests get no response until `FaultProxy.release`."""
    FAIL_HALF = auto()
    """Half of the requests get a response with status 500."""
    TRUNCATE_HALF = auto()
    """Half of the PUT requests break off at a random byte of the body; the S3 server receives the first part."""
    SLOW_BODY = auto()
    """The response body arrives at 2 KB/s."""
    SLOW_HEADERS = auto()
    """The response headers arrive byte by byte."""
    ERROR = auto()
    """Every request gets the response `FaultProxy.error`."""


class FaultProxy:
    """The proxy. Tests may change `fault` at any time; `requests` records the method and path of each request."""

    def __init__(self, upstream_port: int, *, seed: int) -> None:
        self.upstream_port = upstream_port
        self.fault = Fault.NONE
        self.error = (403, "RequestTimeTooSkewed", "The clocks differ too much.")
        self.requests: list[tuple[str, str]] = []
        self.request_hangs = threading.Event()
        """Set once a request hangs."""
        self.random = random.Random(seed)
        self.hanging_requests = 0
        """The number of requests that hang now."""
        self._count_lock = threading.Lock()
        self._release_event = threading.Event()
        self._start(free_port())

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self.port}"

    def refuse(self) -> None:
        """Close the port and all connections. New connections are refused until `accept`."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._server.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def accept(self) -> None:
        """Open the same port again."""
        self._start(self.port)

    def hang(self) -> None:
        """Block the calling request handler until `release`, at most for `HANG_LIMIT_S`."""
        with self._count_lock:
            self.hanging_requests += 1
        self.request_hangs.set()
        self._release_event.wait(HANG_LIMIT_S)
        with self._count_lock:
            self.hanging_requests -= 1

    def release(self) -> None:
        """End the requests that hang and the responses that are sent slowly."""
        self._release_event.set()

    def wait_for_release(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` for `release`, and return whether it was called."""
        return self._release_event.wait(timeout_s)

    def close(self) -> None:
        """Stop the proxy."""
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def _start(self, port: int) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.proxy = self
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # server_close() must not wait for handlers that hang.
    block_on_close = False
    proxy: FaultProxy

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """Accept a connection and record it, so that `FaultProxy.refuse` can close it."""
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the errors of clients that disconnect, which the tests provoke."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def _handle(self) -> None:
        proxy = self.server.proxy
        proxy.requests.append((self.command, self.path))
        length = int(self.headers.get("Content-Length") or 0)
        fault = proxy.fault
        if fault is Fault.HANG or (fault is Fault.HANG_ON_PUT and self.command == "PUT"):
            proxy.hang()
            self.close_connection = True
            return
        body = self.rfile.read(length)
        if fault is Fault.ERROR:
            status, code, message = proxy.error
            self._respond(status, ERROR_BODY.format(code=code, message=message).encode(), {})
        elif fault is Fault.FAIL_HALF and proxy.random.random() < 0.5:
            self._respond(500, ERROR_BODY.format(code="InternalError", message="An injected fault.").encode(), {})
        elif fault is Fault.TRUNCATE_HALF and self.command == "PUT" and proxy.random.random() < 0.5:
            self._truncate(body)
        else:
            self._forward(body)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = _handle

    def _forward(self, body: bytes) -> None:
        """Send the request to the S3 server and its response to the client."""
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.proxy.upstream_port, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
        upstream.request(self.command, self.path, body=body, headers=headers)
        response = upstream.getresponse()
        content = response.read()
        self._respond(response.status, content, dict(response.getheaders()))
        upstream.close()

    def _truncate(self, body: bytes) -> None:
        """Send the first bytes of the body to the S3 server, then close both connections."""
        proxy = self.server.proxy
        head = f"{self.command} {self.path} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in self.headers.items() if name.lower() != "expect"
        )
        with socket.create_connection(("127.0.0.1", proxy.upstream_port)) as upstream:
            upstream.sendall(f"{head}\r\n".encode() + body[: proxy.random.randrange(len(body))])
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _respond(self, status: int, content: bytes, upstream_headers: dict[str, str]) -> None:
        dropped_headers = ("transfer-encoding", "connection", "date", "server")
        headers = {name: value for name, value in upstream_headers.items() if name.lower() not in dropped_headers}
        if self.command != "HEAD":
            headers["Content-Length"] = str(len(content))
        fault = self.server.proxy.fault
        if fault is Fault.SLOW_HEADERS:
            self._send_slowly(b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 1000, 1)
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault is Fault.SLOW_BODY:
            self._send_slowly(content, SLOW_BODY_STEP_BYTES)
        else:
            self.wfile.write(content)

    def _send_slowly(self, content: bytes, step_bytes: int) -> None:
        for start in range(0, len(content), step_bytes):
            self.wfile.write(content[start : start + step_bytes])
            self.wfile.flush()
            if self.server.proxy.wait_for_release(SLOW_STEP_S):
                self.close_connection = True
                return
