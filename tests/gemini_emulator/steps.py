"""Steps of an answer that only the test server sends: faults, silence and raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chat.emulator import wire
from chat.emulator.wire import Step, WireObject


@dataclass(frozen=True, slots=True)
class RawBytes(Step):
    """Bytes that are written to the body unchanged. A unary response ignores them."""

    data: bytes
    after_s: float = 0.0
    """Pause before the bytes in seconds, at pace 1."""


@dataclass(frozen=True, slots=True)
class Silence(Step):
    """A time in which nothing is sent. The server's pace does not change it."""

    duration_s: float


@dataclass(frozen=True, slots=True)
class ConnectionReset(Step):
    """A reset of the connection (TCP RST)."""


@dataclass(frozen=True, slots=True)
class JsonReply(Step):
    """A whole HTTP response with a JSON body, usually an error. It must be the first step."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class StreamError(Step):
    """An error inside a stream whose HTTP status was 200."""

    body: WireObject
    as_event: bool
    """Whether the error is a `data:` event. Otherwise it is a JSON object over several lines, which also occurs."""
    after_s: float = 0.0
    """Pause before the error in seconds, at pace 1."""


def http_error(status: int, message: str, name: str, details: Sequence[WireObject] = ()) -> JsonReply:
    """Return an HTTP error in Gemini's form; `name` is the name of the google.rpc.Code."""
    return JsonReply(status, wire.serialize_indented(wire.error_body(status, message, name, details)))
