"""Builds the bodies of `shapes` from deltas and chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.openai_server.expected import Expected

EVENT_STREAM = "text/event-stream"
JSON_TYPE = "application/json"
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class RecordedBody:
    """A response that is always the same bytes."""

    body: bytes
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shape:
    """A response, and what a client must read from it."""

    body: bytes
    expected: Expected
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: Mapping[str, str] = field(default_factory=dict)


def chunk(choices: list[dict[str, Any]] | None, **fields: object) -> dict[str, Any]:
    """Return a chunk with these choices and further fields."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000, "model": "m"}
    return {**head, "choices": choices, **fields}


def delta(**fields: object) -> dict[str, Any]:
    """Return a chunk with one choice, whose delta has these fields."""
    return chunk([{"index": 0, "delta": fields, "finish_reason": None}])


def ending(finish: str = "stop", **fields: object) -> dict[str, Any]:
    """Return the chunk that ends an answer. Its delta has these fields."""
    return chunk([{"index": 0, "delta": fields, "finish_reason": finish}])


def events(*values: object, is_ascii: bool = True) -> bytes:
    """Return server-sent events."""
    return b"".join(f"data: {json.dumps(value, ensure_ascii=is_ascii)}\n\n".encode() for value in values)


def stream(*values: object, is_ascii: bool = True) -> bytes:
    """Return server-sent events, and the end of the stream."""
    return events(*values, is_ascii=is_ascii) + DONE


def answer(expected: Expected, *chunks: dict[str, Any], finish: str = "stop") -> Shape:
    """Return a whole stream: the chunks, the finish reason and the end. With an empty `finish`, it is left out."""
    return Shape(stream(*chunks, *([ending(finish)] if finish else [])), expected)
