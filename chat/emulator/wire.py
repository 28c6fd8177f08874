"""Gemini's wire form: the steps of an answer, the parts and errors in them, and their JSON.

An answer is a stream of steps, which `response_writer` writes as server-sent events or as one JSON object. This module
is pure: it uses no clock and no network.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

WireObject: TypeAlias = dict[str, Any]
"""A JSON object with names in camelCase, as Gemini sends it."""


class Step:
    """One step of an answer. The emulator itself sends only `Chunk`; the test server adds faults."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Chunk(Step):
    """One GenerateContentResponse of a stream."""

    response: WireObject
    after_s: float = 0.0
    """Pause before the chunk in seconds, at pace 1."""


class WireError(Exception):
    """A request that the server answers with an HTTP error in Gemini's form."""

    def __init__(self, status: int, message: str, name: str = "INVALID_ARGUMENT") -> None:
        """`status` is the HTTP status, `name` the name of the google.rpc.Code."""
        super().__init__(message)
        self.status = status
        self.body = error_body(status, message, name)


# --- parts ------------------------------------------------------------------------------------------------------


def text_part(text: str, signature: str = "") -> WireObject:
    """Return a text part. With a signature its text may be empty, as in the last part of a Gemini 3 stream."""
    return _with_signature({"text": text}, signature)


def thought_part(text: str) -> WireObject:
    """Return a thought summary."""
    return {"text": text, "thought": True}


def code_part(source: str, code_id: str = "", signature: str = "") -> WireObject:
    """Return an `executableCode` part. Gemini 3 sends an id and a signature with it, Gemini 2.5 neither."""
    body: WireObject = {"language": "PYTHON", "code": source}
    if code_id:
        body["id"] = code_id
    return _with_signature({"executableCode": body}, signature)


def call_part(name: str, arguments: WireObject, call_id: str, signature: str = "") -> WireObject:
    """Return a `functionCall` part."""
    return _with_signature({"functionCall": {"name": name, "args": arguments, "id": call_id}}, signature)


def result_part(outcome: str, output: str = "", code_id: str = "") -> WireObject:
    """Return a `codeExecutionResult` part. If the output is empty, the field is absent, as in real responses."""
    body: WireObject = {"outcome": outcome}
    if output:
        body["output"] = output
    if code_id:
        body["id"] = code_id
    return {"codeExecutionResult": body}


def image_part(data: bytes, mime_type: str = "image/png", signature: str = "") -> WireObject:
    """Return an `inlineData` part. Image models sign it."""
    blob = {"mimeType": mime_type, "data": base64.b64encode(data).decode()}
    return _with_signature({"inlineData": blob}, signature)


def _with_signature(part: WireObject, signature: str) -> WireObject:
    return {**part, "thoughtSignature": signature} if signature else part


def error_body(status: int, message: str, name: str, details: Sequence[WireObject] = ()) -> WireObject:
    """Return the JSON body of an HTTP error."""
    error: WireObject = {"code": status, "message": message, "status": name}
    if details:
        error["details"] = list(details)
    return {"error": error}


# --- bytes ------------------------------------------------------------------------------------------------------


def serialize(value: WireObject | list[WireObject]) -> bytes:
    """Return JSON on one line in UTF-8. U+2028 and similar characters are not escaped, as in the real API."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def serialize_indented(body: WireObject) -> bytes:
    """Return JSON over several lines, as the real API writes errors and unary responses."""
    return json.dumps(body, ensure_ascii=False, indent=2).encode() + b"\n"


def sse_event(response: WireObject) -> bytes:
    """Return one server-sent event: a single `data:` line that ends with CRLF CRLF."""
    return b"data: " + serialize(response) + b"\r\n\r\n"


def merge_chunk(body: WireObject, chunk: WireObject) -> None:
    """Merge a chunk into the one body of `generateContent`.

    The body has the parts of all chunks in order, and the last value of every other field.
    """
    body.update({key: value for key, value in chunk.items() if key != "candidates"})
    for addition in chunk.get("candidates", [])[:1]:
        candidate = body.setdefault("candidates", [{"index": 0}])[0]
        candidate.update({key: value for key, value in addition.items() if key != "content"})
        if "content" in addition:
            content = candidate.setdefault("content", {"role": "model"})
            parts = addition["content"].get("parts", [])
            if parts:
                content["parts"] = join_text_parts([*content.get("parts", []), *parts])


def join_text_parts(parts: Iterable[WireObject]) -> list[WireObject]:
    """Join adjacent unsigned text parts of the same kind. A signed part is never joined with another part."""
    joined: list[WireObject] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is not None and _is_unsigned_text(last) and _is_unsigned_text(part) and last.keys() == part.keys():
            joined[-1] = {**last, "text": last["text"] + part["text"]}
        elif part.get("text") != "" or part.keys() != {"text"}:
            joined.append(part)
    return joined or [{"text": ""}]


def _is_unsigned_text(part: WireObject) -> bool:
    return "text" in part and "thoughtSignature" not in part
