"""Responses that are always the same bytes. `shapes.yaml` has the hand-written ones, and says what they contain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from chat.vocabulary.stream_events import Usage

EVENT_STREAM = "text/event-stream"
JSON_TYPE = "application/json"
DONE = b"data: [DONE]\n\n"
CHUNK_HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000, "model": "m"}
FINISH_REASONS = {"texts": "stop", "calls": "tool_calls"}
"""Group of shapes -> finish reason of its shapes that give none."""


@dataclass(frozen=True, slots=True)
class RecordedBody:
    """A response. Recordings and shapes are such responses."""

    body: bytes
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A function call. `arguments` is `None` if they are not a JSON object."""

    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Expected:
    """What a client must read from a response, written independently of the product's code."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ExpectedCall, ...] = ()
    finish: str | None = "stop"
    """A value of `Finish`; `None` if the answer was cut, or ended with an error."""
    usage: Usage | None = None
    """`None`: the response has no usage."""
    error: str | None = None
    """The code of the error that ends the response. Empty: there is an error, and its code does not matter."""
    pictures: int = 0
    """Number of pictures."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A hand-written response, and what a client must read from it."""

    response: RecordedBody
    expected: Expected


def event(value: object) -> bytes:
    """Return a server-sent event."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def chunk(delta: object, finish_reason: str | None = None, **fields: object) -> bytes:
    """Return a chunk with one choice and further fields."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event({**CHUNK_HEAD, "choices": [choice], **fields})


def _step(step: str | dict[str, Any]) -> bytes:
    match step:
        case str():
            return step.encode()
        case {"choices": _} | {"finish_reason": _}:
            return chunk({}, **step)
        case {"error": _}:
            return event(step)
        case _:
            return chunk(step)


def _shape(group: str, raw: Mapping[str, Any]) -> Shape:
    body = raw.get("body", "").encode()
    content_type = raw.get("type", EVENT_STREAM)
    if "json" in raw:
        body, content_type = json.dumps(raw["json"]).encode(), JSON_TYPE
    elif "stream" in raw:
        body = b"".join(map(_step, raw["stream"]))
        finish_reason = raw.get("finish_reason", FINISH_REASONS.get(group))
        if finish_reason is not None and not any("finish_reason" in step for step in raw["stream"]):
            body += chunk({}, finish_reason)
        if raw.get("done", True):
            body += DONE
    read = {"finish": None if "error" in raw["read"] else "stop", **raw["read"]}
    read["calls"] = tuple(ExpectedCall("echo", arguments) for arguments in read.get("calls", []))
    read["usage"] = Usage(**read["usage"]) if "usage" in read else None
    return Shape(RecordedBody(body, raw.get("status", 200), content_type, raw.get("headers", {})), Expected(**read))


_GROUPS: Mapping[str, Mapping[str, Shape]] = {
    group: {name: _shape(group, raw) for name, raw in shapes.items()}
    for group, shapes in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text()).items()
}
CALL_SHAPES = _GROUPS["calls"]
SHAPES = {name: shape for shapes in _GROUPS.values() for name, shape in shapes.items()}
"""Name of the model -> shape with which it answers."""
