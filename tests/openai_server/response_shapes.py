"""Streams of the Responses API that are always the same bytes. `response_shapes.yaml` says what they contain."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chat.vocabulary.stream_events import Usage
from tests.openai_server.response_events import event
from tests.openai_server.shapes import EVENT_STREAM, JSON_TYPE, Expected, ExpectedCall, RecordedBody

HEAD = {"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": []}
ENDS = ("completed", "incomplete", "failed")


@dataclass(frozen=True, slots=True)
class ResponseShape:
    """A hand-written response, what a client must read from it, and which items the client must send back unchanged."""

    response: RecordedBody
    expected: Expected
    back: tuple[Mapping[str, Any], ...]


def _events(steps: list[dict[str, Any] | str]) -> Iterator[bytes]:
    """Yield the events of a stream, with the first and the last one if they are not given."""
    kinds = [next(iter(step)) if isinstance(step, dict) else "" for step in steps]
    if "created" not in kinds:
        yield event("response.created", response=HEAD)
    for kind, step in zip(kinds, steps, strict=True):
        if isinstance(step, str):
            yield step.encode()
        elif kind in ("created", *ENDS):
            yield event(f"response.{kind}", response={**HEAD, "status": kind, **(step[kind] or {})})
        else:
            yield event(kind if kind in ("error", "keepalive") else f"response.{kind}", **(step[kind] or {}))
    if not {*ENDS, "cut", "error"} & set(kinds):
        yield event("response.completed", response={**HEAD, "status": "completed"})


def _shape(raw: Mapping[str, Any]) -> ResponseShape:
    if "json" in raw:
        body, content_type = json.dumps(raw["json"]).encode(), JSON_TYPE
    else:
        body, content_type = b"".join(_events(raw["stream"])), EVENT_STREAM
    read = {"finish": None if "error" in raw["read"] else "stop", **raw["read"]}
    read["calls"] = tuple(ExpectedCall("echo", arguments) for arguments in read.get("calls", []))
    read["usage"] = Usage(**read["usage"]) if "usage" in read else None
    response = RecordedBody(body, raw.get("status", 200), content_type)
    return ResponseShape(response, Expected(**read), tuple(raw.get("back", ())))


RESPONSE_SHAPES: Mapping[str, ResponseShape] = {
    name: _shape(raw) for name, raw in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text()).items()
}
"""Name of the model -> the response that it gives."""
