"""Parsing the body of a streamed response: server-sent events as JSON objects. Pure.

Lines are split at line feeds alone, because a JSON string may hold U+2028. One event is one `data:` line, which has
several megabytes if it holds an image. The stream may contain an error, as an event or as bare JSON over several lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chat.providers.gemini.errors import ReportedError

DATA = b"data:"
QUOTED_BYTES = 500
"""How much of an event the message of an error quotes."""

_decode = json.JSONDecoder().decode


class StreamParser:
    """Parses a response piece by piece, and yields the JSON object of each complete event."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        """Pieces of the line that has no end yet."""
        self._bare_lines: list[bytes] = []
        """Lines of an error without `data:`."""

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Yield the events that these bytes complete. Raises ReportedError, ValueError or TypeError."""
        first, line_feed, rest = data.partition(b"\n")
        self._line.append(first)
        if not line_feed:
            return
        complete = b"".join(self._line)
        *lines, last = rest.split(b"\n")
        self._line = [last]
        for line in (complete, *lines):
            event = self._event(line)
            if event is not None:
                yield event

    def close(self) -> Iterator[dict[str, Any]]:
        """Yield the last event, if its line had no end. Raises the errors of `feed`."""
        event = self._event(b"".join(self._line))
        if event is not None:
            yield event
        if self._bare_lines:
            bare = b"\n".join(self._bare_lines)
            _raise_if_error(_parse_json(bare))
            raise ValueError(f"the stream holds something that is not an event: {bare[:QUOTED_BYTES]!r}")

    def _event(self, line: bytes) -> dict[str, Any] | None:
        """Return the event in a line; `None` if the line is empty or belongs to a bare error."""
        line = line.rstrip(b"\r")
        if not line:
            return None
        if self._bare_lines or not line.startswith(DATA):
            if line.strip():
                self._bare_lines.append(line)
            return None
        event = _parse_json(line[len(DATA) :])
        _raise_if_error(event)
        if not isinstance(event, dict):
            raise TypeError(f"an event must be a JSON object, not {line[:QUOTED_BYTES]!r}")
        return event


def _parse_json(data: bytes) -> object:
    try:
        # `json.loads` would first guess the encoding, which is known.
        return _decode(data.decode())
    except ValueError as error:
        raise ValueError(f"{error}: {data[:QUOTED_BYTES]!r}") from None


def _raise_if_error(value: object) -> None:
    if isinstance(value, dict) and "error" in value:
        code = value["error"].get("code") if isinstance(value["error"], dict) else None
        if not isinstance(code, int):
            raise TypeError(f"an error must have a code: {str(value)[:QUOTED_BYTES]}")
        raise ReportedError(code, value)
