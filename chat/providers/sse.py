"""Parses server-sent events whose data are JSON, from the bytes of a response. Pure.

Source: html.spec.whatwg.org/multipage/server-sent-events.html. Accepted beyond it, because servers send it: an error as
the field `error`, a last event without the blank line after it, and events with no blank line between them.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

from chat.providers.untrusted_json import read_json
from chat.vocabulary.parts import JSON

EVENT_LIMIT_BYTES = 16 * 1024 * 1024
"""Maximum length of an event, unless the caller sets another limit. An image in base64 has some megabytes."""
OTHER_LIMIT_BYTES = 64 * 1024
"""Maximum length of all kept lines that belong to no event. A server may write an error in them."""
DONE = "[DONE]"


@dataclass(frozen=True, slots=True)
class JSONEvent:
    """One event."""

    name: str
    """Empty if the server gave none."""
    data: JSON
    """The JSON value of the event; `None` for `[DONE]`."""
    is_done: bool = False
    """Whether the event is `[DONE]`, which says that the stream is complete."""


class EventParser:
    """Parses a response piece by piece.

    Lines end at a line feed, a carriage return, or both, and nowhere else: a JSON string may hold U+2028.
    """

    def __init__(self, event_limit_bytes: int = EVENT_LIMIT_BYTES) -> None:
        """`event_limit_bytes`: maximum length of an event. A longer one is not read to its end."""
        self.other_lines: list[bytes] = []
        """Lines that belong to no event."""
        self._event_limit_bytes = event_limit_bytes
        self._other_bytes = 0
        self._pieces: list[bytes] = []
        """The pieces of the line that has no end yet."""
        self._name = ""
        self._data: list[str] = []
        self._pending_bytes = 0
        """Length of the event that has no end yet."""
        self._is_start = True

    def feed(self, data: bytes) -> Iterator[JSONEvent]:
        """Yield the events that these bytes complete. Raises ValueError for data that are not JSON."""
        self._pending_bytes += len(data)
        if self._pending_bytes > self._event_limit_bytes:
            raise ValueError(f"an event is longer than {self._event_limit_bytes} bytes")
        # The last piece may end with a carriage return, which was kept because it may be half of a line end.
        has_line_end = b"\n" in data or b"\r" in data or (self._pieces and self._pieces[-1].endswith(b"\r"))
        self._pieces.append(data)
        if has_line_end:
            held = b"".join(self._pieces)
            end = max(held.rfind(b"\n"), held.rfind(b"\r", 0, -1)) + 1
            self._pieces = [held[end:]]
            for line in held[:end].splitlines():
                yield from self._line(line)

    def close(self) -> Iterator[JSONEvent]:
        """Yield the last event, if no blank line followed it."""
        for line in b"".join(self._pieces).splitlines():
            yield from self._line(line)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[JSONEvent]:
        if self._is_start:
            line, self._is_start = line.removeprefix(codecs.BOM_UTF8), False
        if not line:
            event, lines, self._name, self._data = self._name, self._data, "", []
            self._pending_bytes = sum(map(len, self._pieces))
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
            case b"" | b"id" | b"retry":
                # Lines without a name begin with a colon and are comments.
                pass
            case _:
                self._other_bytes += len(line)
                if self._other_bytes <= OTHER_LIMIT_BYTES:
                    self.other_lines.append(line)


def _events(name: str, lines: list[str]) -> Iterator[JSONEvent]:
    """Yield the event with these lines of data. If only the single lines are JSON, yield an event for each line."""
    text = "\n".join(lines)
    if not text.strip():
        return
    if text.strip() == DONE:
        yield JSONEvent(name, None, is_done=True)
        return
    try:
        yield JSONEvent(name, read_json(text))
    except ValueError as error:
        if len(lines) == 1:
            # The error names a position, and never quotes the event, which may hold what people wrote.
            raise ValueError(f"an event of {len(text):,} characters is not JSON: {error}") from None
        for line in lines:
            yield from _events(name, [line])
