"""Parses the body of a streamed response: server-sent events as JSON objects. Pure.

The stream may contain an error, as an event or as bare JSON over several lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chat.providers.google.errors import ReportedError
from chat.providers.sse import EventParser, JSONEvent
from chat.providers.untrusted_json import read_json
from chat.vocabulary.parts import JSONObject

EVENT_LIMIT_BYTES = 128 * 1024 * 1024
"""An event may hold several images in base64."""


class StreamParser:
    """Parses a response piece by piece, and yields the JSON object of each complete event."""

    def __init__(self) -> None:
        self._events = EventParser(EVENT_LIMIT_BYTES)
        self._is_done = False

    def feed(self, data: bytes) -> Iterator[JSONObject]:
        """Yield the completed events. Raises ReportedError for an error, ValueError or TypeError if one is invalid."""
        yield from self._objects(self._events.feed(data))

    def close(self) -> Iterator[JSONObject]:
        """Yield the last event, if no blank line followed it. Raises the errors of `feed`."""
        yield from self._objects(self._events.close())
        bare = b"\n".join(self._events.other_lines).decode("utf-8", "replace").strip()
        if not bare or self._is_done:
            return
        try:
            value = read_json(bare)
        except ValueError:
            raise ValueError(f"the stream holds {len(bare):,} characters that are no event") from None
        yield from self._objects([JSONEvent("", value)])

    def _objects(self, events: Iterable[JSONEvent]) -> Iterator[JSONObject]:
        for event in events:
            # Some gateways end the stream with `[DONE]`, as OpenAI's servers do.
            self._is_done = self._is_done or event.is_done
            if self._is_done:
                return
            _raise_if_error(event.data)
            if not isinstance(event.data, dict):
                raise TypeError(f"an event must be a JSON object, not {type(event.data).__name__}")
            yield event.data


def _raise_if_error(value: object) -> None:
    if isinstance(value, list) and len(value) == 1:
        # Some of Google's servers wrap the object into a list.
        [value] = value
    if isinstance(value, dict) and value.get("error") is not None:
        code = value["error"].get("code") if isinstance(value["error"], dict) else None
        if not isinstance(code, int | str):
            raise TypeError("an error must have a code")
        raise ReportedError(code, value)
