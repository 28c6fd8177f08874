"""What is sent: steps of an answer, the parts and errors in them, and their bytes.

An answer is a stream of steps; the server turns the same steps into server-sent events, a JSON array or one
unary body. Pure: no clock, no network.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

WireObject: TypeAlias = dict[str, Any]
"""A JSON object in camelCase, as it stands on the wire."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One GenerateContentResponse; `after_s` is the pause before it at pace 1."""

    response: WireObject
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes put into the body as they are; `after_s` as in Chunk."""

    data: bytes
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing is sent for so long; the pace does not change it, for it is what the scenario is about."""

    duration_s: float


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset (TCP RST)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP answer with a JSON body instead of a stream, usually an error; only as the first step."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class StreamError:
    """An error inside a stream that began with 200.

    With `as_event` it is a `data:` event, else a bare JSON object over several lines; both forms occur.
    """

    body: WireObject
    as_event: bool
    after_s: float = 0.0


Step: TypeAlias = Chunk | Raw | Silence | Reset | Reply | StreamError


class WireError(Exception):
    """A request that gets an HTTP error in Gemini's form."""

    def __init__(self, status: int, message: str, name: str = "INVALID_ARGUMENT") -> None:
        """`status` is the HTTP status, `name` its google.rpc.Code."""
        super().__init__(message)
        self.status = status
        self.body = error(status, message, name)


# --- parts ------------------------------------------------------------------------------------------------------


def text(value: str, signature: str = "") -> WireObject:
    """A text part; with a signature it may be empty, as the last part of a Gemini 3 stream is."""
    return _signed({"text": value}, signature)


def thought(value: str) -> WireObject:
    """A thought summary."""
    return {"text": value, "thought": True}


def code(source: str, call_id: str = "", signature: str = "") -> WireObject:
    """An `executableCode` part; Gemini 3 gives it an id and a signature, 2.5 neither."""
    body: WireObject = {"language": "PYTHON", "code": source}
    if call_id:
        body["id"] = call_id
    return _signed({"executableCode": body}, signature)


def result(outcome: str, output: str = "", call_id: str = "") -> WireObject:
    """A `codeExecutionResult` part; without output the field is absent, as on the wire."""
    body: WireObject = {"outcome": outcome}
    if output:
        body["output"] = output
    if call_id:
        body["id"] = call_id
    return {"codeExecutionResult": body}


def image(data: bytes, mime_type: str = "image/png") -> WireObject:
    """An `inlineData` part."""
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode()}}


def _signed(part: WireObject, signature: str) -> WireObject:
    return {**part, "thoughtSignature": signature} if signature else part


def refusal(status: int, message: str, name: str, details: Sequence[WireObject] = ()) -> Reply:
    """An HTTP error in Gemini's form."""
    return Reply(status, bare_error(error(status, message, name, details)))


def error(status: int, message: str, name: str, details: Sequence[WireObject] = ()) -> WireObject:
    """The body of an HTTP error."""
    body: WireObject = {"code": status, "message": message, "status": name}
    if details:
        body["details"] = list(details)
    return {"error": body}


# --- bytes ------------------------------------------------------------------------------------------------------


def dump(value: WireObject | list[WireObject]) -> bytes:
    """JSON on one line, UTF-8; U+2028 and the like stay raw, as in the real API."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def event(response: WireObject) -> bytes:
    """One server-sent event: a single `data:` line, CRLF CRLF, nothing else."""
    return b"data: " + dump(response) + b"\r\n\r\n"


def bare_error(body: WireObject) -> bytes:
    """An error over several lines without `data:`, as it stands inside a broken stream."""
    return json.dumps(body, ensure_ascii=False, indent=2).encode() + b"\n"


@dataclass
class Unary:
    """Chunks joined into the one body of `generateContent`: parts in order, the last of everything else."""

    response: WireObject = field(default_factory=dict)

    def add(self, chunk: WireObject) -> None:
        """Take in one chunk."""
        candidates = chunk.get("candidates", [])
        self.response.update({key: value for key, value in chunk.items() if key != "candidates"})
        if not candidates:
            return
        incoming = candidates[0]
        whole = self.response.setdefault("candidates", [{"index": 0}])[0]
        whole.update({key: value for key, value in incoming.items() if key != "content"})
        if "content" in incoming:
            content = whole.setdefault("content", {"role": "model"})
            parts = incoming["content"].get("parts", [])
            if parts:
                content["parts"] = join_text([*content.get("parts", []), *parts])


def join_text(parts: Iterable[WireObject]) -> list[WireObject]:
    """Join neighbouring text parts of one kind; a signed part is never joined to what follows or precedes it."""
    joined: list[WireObject] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is not None and _is_open_text(last) and _is_open_text(part) and last.keys() == part.keys():
            joined[-1] = {**last, "text": last["text"] + part["text"]}
        elif part.get("text") != "" or part.keys() != {"text"}:
            joined.append(part)
    return joined or [{"text": ""}]


def _is_open_text(part: WireObject) -> bool:
    return "text" in part and "thoughtSignature" not in part
