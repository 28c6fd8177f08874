"""A stream's body: lines of server-sent events as JSON, and the errors that stand in between. Pure.

The stream is split at line feeds alone: a string in it may hold U+2028, raw. One event is one `data:` line, of up to
some megabytes where it holds an image.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.genai import errors

DATA = b"data:"
_decode = json.JSONDecoder().decode
SHOWN_BYTES = 500
"""Of what could not be read, in the error's text."""


class StreamParser:
    """Bytes in, whole events out; what is no event must be the error that ends the stream."""

    def __init__(self) -> None:
        """Begin before the first byte."""
        self._pieces: list[bytes] = []
        """Of the line that has begun."""
        self._rest: list[bytes] = []
        """Lines of a bare error."""

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Take more bytes; the events that are whole now. Raises google.genai.errors.APIError, and ValueError."""
        first, feed, rest = data.partition(b"\n")
        self._pieces.append(first)
        if not feed:
            return
        whole = b"".join(self._pieces)
        *lines, last = rest.split(b"\n")
        self._pieces = [last]
        for line in (whole, *lines):
            event = self._event(line)
            if event is not None:
                yield event

    def close(self) -> Iterator[dict[str, Any]]:
        """No byte follows; the event whose line had no end. Raises as `feed` does."""
        event = self._event(b"".join(self._pieces))
        if event is not None:
            yield event
        if self._rest:
            rest = b"\n".join(self._rest)
            _raise_error(_json(rest))
            raise ValueError(f"the stream holds what is no event: {rest[:SHOWN_BYTES]!r}")

    def _event(self, line: bytes) -> dict[str, Any] | None:
        """The event in a line; none where it is empty, or belongs to a bare error."""
        line = line.rstrip(b"\r")
        if not line:
            return None
        if self._rest or not line.startswith(DATA):
            if line.strip():
                self._rest.append(line)
            return None
        event = _json(line[len(DATA) :])
        _raise_error(event)
        if not isinstance(event, dict):
            raise TypeError(f"an event is a JSON object, not {line[:SHOWN_BYTES]!r}")
        return event


def _json(data: bytes) -> object:
    try:
        # The encoding is known; `json.loads` would look for it.
        return _decode(data.decode())
    except ValueError as error:
        raise ValueError(f"{error}: {data[:SHOWN_BYTES]!r}") from None


def _raise_error(value: object) -> None:
    if isinstance(value, dict) and "error" in value:
        code = value["error"].get("code") if isinstance(value["error"], dict) else None
        if not isinstance(code, int):
            raise TypeError(f"an error has a code, unlike {str(value)[:SHOWN_BYTES]}")
        errors.APIError.raise_error(code, value, None)
