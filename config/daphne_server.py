"""Daphne's server with limits that Daphne lacks, by subclasses of its classes and of Twisted's and Autobahn's.

- A request body above the limit is discarded, and the application answers at once, because it knows the length.
- No body is parsed on the event loop. Twisted would parse every form: 15 MB of multipart lines take ten seconds.
- A download is sent no faster than the client reads it. Daphne alone would hold all of it in memory.
- A request that does not arrive in time is given up, also if its bytes come one by one.
- A WebSocket message may be sent in any length. Autobahn applies its limit for received messages to sent ones too.
"""

from __future__ import annotations

import asyncio
from typing import TypeAlias, cast

from daphne import http_protocol, server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet.tcp import Port
from twisted.web.http import HTTPChannel

from config.body_limit import BODY_LIMIT_BYTES

EVENT_LOOP: asyncio.AbstractEventLoop = server.twisted_loop
"""The event loop on which Daphne serves. It exists before the server runs."""

ARRIVAL_LIMIT_S = 30.0
"""Maximum time until the head of a request has arrived, and then for each `BODY_STEP_BYTES` of its body."""
BODY_STEP_BYTES = 64 * 1024
"""Bytes of a body that must arrive within the time limit. So an upload of less than 18 kbit/s is cancelled."""
DISCARDED_LIMIT_BYTES = 64 * 1024 * 1024
"""Maximum number of bytes of a refused body that are read and discarded. Most clients read a response only after they
have sent the whole body."""
STALLED_LIMIT_S = 120.0
"""Time after which the connection of a client that reads nothing is closed."""
CLOSE_LIMIT_S = 5.0
"""Time that a client has to read the last data before its WebSocket is closed. Then the connection is aborted."""
FRAME_BYTES = 512 * 1024
"""Maximum size of a WebSocket frame. A longer message is sent in several frames."""

Message: TypeAlias = dict[str, object]
"""An ASGI message."""


class Request(http_protocol.WebRequest):
    """A request with a bounded body. As a Twisted push producer, it knows when its connection can take more data."""

    def __init__(self, *args: object, **options: object) -> None:
        """Create a request whose body has not arrived, on a connection that can take data."""
        self._received_bytes = 0
        self._is_refused = False
        self._has_started = False
        self._is_writable = asyncio.Event()
        self._is_writable.set()
        super().__init__(*args, **options)

    # --- the body -------------------------------------------------------------------------------------------------

    def gotLength(self, length: int | None) -> None:
        """Refuse a body whose announced length is above the limit. `None`: it is sent in chunks."""
        is_too_large = length is not None and length > BODY_LIMIT_BYTES
        super().gotLength(0 if is_too_large else length)
        if is_too_large:
            self._refuse_body()

    def handleContentChunk(self, data: bytes) -> None:
        """Take a piece of the body, and refuse the body once it is above the limit."""
        if self._is_refused:
            return
        self._received_bytes += len(data)
        if self._received_bytes <= BODY_LIMIT_BYTES:
            super().handleContentChunk(data)
        else:
            self.content.seek(0)
            self.content.truncate()
            self.requestHeaders.setRawHeaders(b"Content-Length", [b"%d" % self._received_bytes])
            self._refuse_body()

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """Serve the request, unless its body was refused: then the application has already got the request."""
        if not self._is_refused:
            self._serve(command, path, version)

    def _serve(self, command: bytes, path: bytes, version: bytes) -> None:
        """Serve the request. Unlike Twisted, do not parse its query and body: Daphne uses neither result."""
        self.method, self.uri, self.clientproto = command, path, version
        self.path = path.partition(b"?")[0]
        self.args: dict[bytes, list[bytes]] = {}
        self.content.seek(0)
        self.process()

    def _refuse_body(self) -> None:
        """Serve the request now, without its body. The application sees the `Content-Length` and sends the error.

        So the response is a page in the reader's language, or JSON for a program.
        """
        self._is_refused = True
        # Twisted would answer `Expect` by asking for the body. A WebSocket would parse the body as messages.
        for name in (b"Expect", b"Upgrade"):
            self.requestHeaders.removeHeader(name)
        self.responseHeaders.setRawHeaders(b"Connection", [b"close"])
        self._serve(*self.channel.discard_body())

    # --- the response ---------------------------------------------------------------------------------------------

    def handle_reply(self, message: Message) -> None:
        """Write a part of the response."""
        if message["type"] == "http.response.start" and self.channel is not None and not self._has_started:
            self._has_started = True
            self.registerProducer(self, True)
        super().handle_reply(message)

    def handle_exception(self, exception: BaseException) -> None:
        """Answer that the application failed, or close the connection if a response has begun.

        Daphne would begin a second response, fail, and then never remove the request from its list.
        """
        if not self._has_started:
            super().handle_exception(exception)
        else:
            self._abort()

    def finish(self) -> None:
        """End the response."""
        if self.producer is not None:
            self.unregisterProducer()
        super().finish()

    async def wait_until_writable(self) -> None:
        """Return once the connection can take more data or is closed."""
        try:
            async with asyncio.timeout(STALLED_LIMIT_S):
                await self._is_writable.wait()
        except TimeoutError:
            self._abort()

    def pauseProducing(self) -> None:
        """Twisted calls this when the connection's buffer is full."""
        self._is_writable.clear()

    def resumeProducing(self) -> None:
        """Twisted calls this when the buffer is empty again."""
        self._is_writable.set()

    def stopProducing(self) -> None:
        """Twisted calls this when the connection is lost."""
        self._is_writable.set()

    def connectionLost(self, reason: object) -> None:
        """Release the application, which may wait for the connection."""
        self._is_writable.set()
        super().connectionLost(reason)

    def _abort(self) -> None:
        if self.channel is not None:
            self.channel.transport.abortConnection()


class Channel(HTTPChannel):
    """An HTTP connection whose requests must arrive in time. It discards the rest of a refused body.

    Twisted's own limit begins anew with each byte, so a client could hold a connection open for ever.
    """

    _step_bytes = 0
    """Bytes of a body that have arrived since the time limit was last restarted."""
    _discards = False
    _discarded_bytes = 0
    _has_answered = False
    """Whether the response to a refused body was sent. Nothing more is sent then."""

    def resetTimeout(self) -> None:
        """Do nothing. Twisted calls this for all data, and would restart the time limit."""

    def discard_body(self) -> tuple[bytes, bytes, bytes]:
        """Discard all further data of the client. Return the method, path and version of the request with this body."""
        self._discards, self.persistent = True, False
        # Twisted's own declaration of the path is wrong.
        return self._command, cast("bytes", self._path), self._version

    def dataReceived(self, data: bytes) -> None:
        """Handle the data, or discard them if the body was refused."""
        if not self._discards:
            super().dataReceived(data)
            return
        self._discarded_bytes += len(data)
        if self._discarded_bytes > DISCARDED_LIMIT_BYTES and self.transport:
            self.transport.abortConnection()

    def loseConnection(self) -> None:
        """Close the connection. After a refused body, close only the sending direction at first.

        A connection that is closed while data arrive is reset, and the client could lose the response.
        """
        if not self._discards:
            super().loseConnection()
        elif self.transport and self._has_answered:
            self.transport.abortConnection()
        elif self.transport:
            self._has_answered = True
            self.setTimeout(ARRIVAL_LIMIT_S)
            self._networkProducer.unregisterProducer()
            self.transport.loseWriteConnection()

    def rawDataReceived(self, data: bytes) -> None:
        """Take a piece of a body. Restart the time limit after each `BODY_STEP_BYTES`."""
        self._step_bytes += len(data)
        if self._step_bytes >= BODY_STEP_BYTES:
            self._step_bytes = 0
            super().resetTimeout()
        super().rawDataReceived(data)


class WebSocket(WebSocketProtocol):
    """A WebSocket that sends messages of any length, and sends them at once."""

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:
        """Send one message, divided into frames if it is long. Do nothing if the connection is closed."""
        if self.state in (self.STATE_CLOSING, self.STATE_CLOSED):
            # Autobahn would raise an error. The application is about to be notified of the disconnect.
            return
        data = content.encode() if isinstance(content, str) else content
        if len(data) <= FRAME_BYTES or self.state != self.STATE_OPEN:
            super().serverSend(content, binary)
        else:
            self.beginMessage(isBinary=binary)
            for start in range(0, len(data), FRAME_BYTES):
                self.sendMessageFrame(data[start : start + FRAME_BYTES])
            self.endMessage()
        if self.transport.connected:
            # Otherwise Twisted waits until its reactor finds the connection writable, which takes a tenth more time.
            self.transport.doWrite()


class Server(server.Server):
    """Daphne's server, with requests and WebSockets of this module."""

    def __init__(self, *args: object, **options: object) -> None:
        """Create a server without open ports."""
        self._ports: list[Port] = []
        self._has_closed = asyncio.Event()
        """Set when a request has been answered, or a WebSocket has been closed."""
        super().__init__(*args, **options)

    def run(self) -> None:
        """Serve until `stop` is called, or Twisted receives SIGINT or SIGTERM."""
        # Daphne's factory of connections takes the class of requests from its module.
        http_protocol.WebRequest = Request
        super().run()

    def listen_success(self, port: Port) -> None:
        """Set this module's classes for connections, before the first connection is accepted."""
        super().listen_success(port)
        self._ports.append(port)
        self.http_factory.protocol = Channel
        self.http_factory.timeOut = ARRIVAL_LIMIT_S
        self.ws_factory.protocol = WebSocket
        self.ws_factory.setProtocolOptions(closeHandshakeTimeout=CLOSE_LIMIT_S)

    async def handle_reply(self, protocol: Request | WebSocket, message: Message) -> None:
        """Send a message of the application; after a piece of a body, wait until the connection can take the next."""
        await super().handle_reply(protocol, message)
        if isinstance(protocol, Request) and message.get("more_body"):
            await protocol.wait_until_writable()

    def stop_listening(self) -> None:
        """Accept no more connections. Open connections stay open."""
        for port in self._ports:
            port.stopListening()

    def protocol_disconnected(self, protocol: Request | WebSocket) -> None:
        """Daphne calls this when a request has been answered, or a WebSocket has been closed."""
        super().protocol_disconnected(protocol)
        self._has_closed.set()

    async def wait_until_closed(self, kind: type[Request | WebSocket], limit_s: float) -> None:
        """Return when no request, or no WebSocket, is open, or after `limit_s` seconds."""
        try:
            async with asyncio.timeout(limit_s):
                while self._is_open(kind):
                    self._has_closed.clear()
                    await self._has_closed.wait()
        except TimeoutError:
            pass

    def _is_open(self, kind: type[Request | WebSocket]) -> bool:
        return any(
            isinstance(protocol, kind) and "disconnected" not in details
            for protocol, details in self.connections.items()
        )
