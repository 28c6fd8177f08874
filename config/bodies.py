"""Requests as Daphne has them: bodies bounded and parsed by nobody but Django, answers that fail cut off.

Twisted reads every body to its end and parses forms on the event loop, whoever sent them: 15 MB of multipart lines
stop the server for ten seconds, and a body without an end fills the disk. Daphne uses none of what is parsed.
"""

from __future__ import annotations

from typing import Any

from daphne import http_protocol
from twisted.web import http

#: The largest upload, and what a form around it takes.
BODY_LIMIT_BYTES = 16 * 1024 * 1024
#: Query strings go through the same function as bodies; a line of headers is shorter than this.
QUERY_LIMIT_BYTES = 64 * 1024

TOO_LARGE = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    b"At most 16 MB can be sent at once.\n"
)


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]  # Daphne has no types
    """A request that is refused as soon as its body is known to be too large."""

    _received_bytes = 0
    _is_refused = False

    def gotLength(self, length: int | None) -> None:
        """The announced length, before the body; None: it comes in chunks."""
        super().gotLength(length)
        if length is not None and length > BODY_LIMIT_BYTES:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:
        """Some of the body."""
        self._received_bytes += len(data)
        if self._received_bytes > BODY_LIMIT_BYTES:
            self._refuse()
        if not self._is_refused:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """The body has come to its end; one that was refused is answered already."""
        if not self._is_refused:
            super().requestReceived(command, path, version)

    def handle_exception(self, exception: BaseException) -> None:
        """The application has failed. An answer that has begun can only be cut off, so that nobody takes it for whole.

        Daphne would begin another one, and fail so badly at it that it never again clears away what has ended.
        """
        if not self._response_started:
            super().handle_exception(exception)
        elif self.channel is not None:
            self.channel.transport.abortConnection()

    def _refuse(self) -> None:
        if not self._is_refused:
            self._is_refused = True
            self.channel.transport.write(TOO_LARGE)
            self.channel.loseConnection()


_parse_query = http.parse_qs


def _parse_short_query(text: bytes, *args: Any, **kwargs: Any) -> dict[bytes, list[bytes]]:  # noqa: ANN401 - as Twisted's
    if len(text) > QUERY_LIMIT_BYTES:
        return {}
    parsed: dict[bytes, list[bytes]] = _parse_query(text, *args, **kwargs)  # type: ignore[no-untyped-call]
    return parsed


def _parse_nothing(content: bytes, ctype: bytes) -> dict[bytes, list[bytes]]:
    return {}


def install() -> None:
    """Make Daphne's requests bounded ones; before its server is made."""
    http_protocol.WebRequest = BoundedRequest
    http._getMultiPartArgs = _parse_nothing
    http.parse_qs = _parse_short_query  # type: ignore[assignment]  # Twisted's is untyped
