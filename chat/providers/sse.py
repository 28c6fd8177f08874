"""Parsing server-sent events whose data are JSON, from the bytes of a response. Pure.

Source: html.spec.whatwg.org/multipage/server-sent-events.html. Accepted beyond it, because servers send it: an error as
the field `error`, a last event without the blank line after it, and events with no blank line between them.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

EVENT_LIMIT_BYTES = 64 * 1024 * 1024
"""An event that is longer is not read to its end. An image in base64 has some megabytes."""
QUOTED_CHARS = 500
"""How much of an event the message of an error quotes."""
DONE = "[DONE]"
LINE_END = re.compile(rb"\r\n|\n|\r")

_decode = json.JSONDecoder(strict=False).decode


@dataclass(frozen=True, slots=True)
class JSONEvent:
    """One event."""

    name: str
    """Empty if the server gave none."""
    data: Any
    """Its JSON value; `None` for `[DONE]`."""
    is_done: bool = False
    """Whether it is `[DONE]`, which says that the stream is complete."""


class EventParser:
    """Parses a response piece by piece.

    Lines end at a line feed, a carriage return, or both, and nowhere else: a JSON string may hold U+2028.
    """

    def __init__(self) -> None:
        self._rest = b""
        """The line that has no end yet."""
        self._name = ""
        self._data: list[str] = []
        self._is_start = True

    def feed(self, data: bytes) -> Iterator[JSONEvent]:
        """Yield the events that these bytes complete. Raises ValueError for data that are not JSON."""
        if self._is_start and len(self._rest) + len(data) >= len(codecs.BOM_UTF8):
            data, self._rest, self._is_start = (self._rest + data).removeprefix(codecs.BOM_UTF8), b"", False
        held = self._rest + data
        if len(held) > EVENT_LIMIT_BYTES:
            raise ValueError(f"an event is longer than {EVENT_LIMIT_BYTES} bytes")
        # A carriage return at the end may be the first half of a line end.
        end = held.rfind(b"\n") + 1 or held.rfind(b"\r", 0, -1) + 1
        self._rest = held[end:]
        if self._is_start or not end:
            return
        for line in LINE_END.split(held[:end])[:-1]:
            yield from self._line(line)

    def close(self) -> Iterator[JSONEvent]:
        """Yield the last event, if no blank line followed it."""
        for line in LINE_END.split(self._rest):
            yield from self._line(line)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[JSONEvent]:
        if not line:
            event, lines, self._name, self._data = self._name, self._data, "", []
            yield from _events(event, lines)
            return
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        match name:
            case b"data":
                self._data.append(text)
            case b"event":
                self._name = text
            case b"error":
                yield from _events("error", [text])
            case _:
                # Comments, which begin with a colon, and the fields `id` and `retry`.
                pass


def _events(name: str, lines: list[str]) -> Iterator[JSONEvent]:
    """Yield the event whose data these lines are; or one for each line, if only the single lines are JSON."""
    text = "\n".join(lines)
    if not text.strip():
        return
    if text.strip() == DONE:
        yield JSONEvent(name, None, is_done=True)
        return
    try:
        yield JSONEvent(name, _decode(text))
    except (ValueError, RecursionError) as error:
        if len(lines) == 1:
            raise ValueError(f"an event is not JSON: {error}: {text[:QUOTED_CHARS]!r}") from None
        for line in lines:
            yield from _events(name, [line])
