"""Recorded responses of the Gemini API, and what their raw JSON says. No code of the provider is used here.

The recordings are the project's own bodies. If the environment variable PLOTLINE_RECORDINGS_DIR names a folder, the
bodies in it and in its subfolders are recordings too: `NAME.sse` is a stream, `NAME.json` a unary response or an HTTP
error; `NAME.meta.json` is ignored.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from chat.vocabulary.parts import (
    CodeExecutionResult,
    ExecutableCode,
    FileData,
    FunctionCall,
    InlineData,
    JSONObject,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from chat.vocabulary.stream_events import Usage
from tests.gemini_responses import error_bodies, stream_bodies

FOLDER_VARIABLE = "PLOTLINE_RECORDINGS_DIR"

CONTENT_KEYS = frozenset(
    {
        "text",
        "executableCode",
        "codeExecutionResult",
        "inlineData",
        "fileData",
        "functionCall",
        "toolCall",
        "toolResponse",
    }
)
"""A part of a kind that Plotline knows has one of these keys."""


@dataclass(frozen=True)
class Recording:
    """One response body. The model `replay-NAME` of the emulator for tests answers with it."""

    name: str
    body: bytes
    """Server-sent events, or the JSON of an HTTP error."""
    events: tuple[dict[str, Any], ...]
    error: dict[str, Any] | None
    """The `error` object that is the body, or that ends the stream."""
    http_status: int

    @property
    def parts(self) -> list[Part]:
        """All parts in wire order, read from the raw JSON."""
        return [part_from(wire) for event in self.events for wire in raw_parts(event)]

    @property
    def finish_reasons(self) -> list[str]:
        """All finish reasons, and the block reason of a blocked prompt, in wire order."""
        reasons = []
        for event in self.events:
            reasons.append(event.get("promptFeedback", {}).get("blockReason"))
            reasons += [candidate.get("finishReason") for candidate in event.get("candidates", [])]
        return [reason for reason in reasons if reason is not None]

    @property
    def usage(self) -> Usage | None:
        """The counts of the last event that has any; `None` if no event has."""
        reports = [event["usageMetadata"] for event in self.events if "usageMetadata" in event]
        if not reports:
            return None
        names = ("prompt", "toolUsePrompt", "thoughts", "candidates", "cachedContent", "total")
        return Usage(*(reports[-1].get(f"{name}TokenCount") for name in names))


@cache
def recordings() -> tuple[Recording, ...]:
    """Return all recordings, HTTP errors included."""
    return own_recordings() + recordings_of_folder()


@cache
def own_recordings() -> tuple[Recording, ...]:
    """Return the recordings that the project wrote itself."""
    streams = [stream_recording(name, body) for name, body in stream_bodies().items()]
    errors = [json_recording(name, body) for name, body in error_bodies().items()]
    return (*streams, *errors)


@cache
def recordings_of_folder() -> tuple[Recording, ...]:
    """Return the recordings of the folder that the environment names; none if it names no folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return ()
    paths = sorted(path for path in Path(folder).rglob("*") if path.suffix in (".sse", ".json"))
    return tuple(
        (stream_recording if path.suffix == ".sse" else json_recording)(path.stem, path.read_bytes())
        for path in paths
        if not path.name.endswith(".meta.json")
    )


def recording(name: str) -> Recording:
    """Return the recording of this name. Raises StopIteration if there is none."""
    return next(one for one in recordings() if one.name == name)


def write_recordings(folder: Path) -> None:
    """Write all recordings into a folder for the emulator for tests."""
    for one in recordings():
        suffix = ".sse" if one.http_status == 200 else ".json"
        (folder / f"{one.name}{suffix}").write_bytes(one.body)


def stream_recording(name: str, body: bytes) -> Recording:
    """Return the recording of a stream."""
    values = [json.loads(block.removeprefix(b"data:")) for block in events_in(body) if block.strip()]
    error = next((value["error"] for value in values if "error" in value), None)
    return Recording(name, body, tuple(value for value in values if "error" not in value), error, 200)


def json_recording(name: str, body: bytes) -> Recording:
    """Return the recording of an HTTP error, or of a unary response as a stream of one event."""
    value = json.loads(body)
    if "error" in value:
        return Recording(name, body, (), value["error"], value["error"]["code"])
    event = b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\r\n\r\n"
    return Recording(name, event, (value,), None, 200)


def events_in(body: bytes) -> list[bytes]:
    """Return the events of a stream, each with the blank line that ends it, and last the rest after them."""
    blank_line = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    *events, rest = body.split(blank_line)
    return [event + blank_line for event in events] + [rest]


def raw_parts(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of one event as JSON: those of the first candidate."""
    candidates = enumerate(event.get("candidates", []))
    first = [candidate for position, candidate in candidates if candidate.get("index", position) == 0]
    return [part for candidate in first for part in candidate.get("content", {}).get("parts", [])]


def bytes_from(text: str) -> bytes:
    """Decode base64 of either alphabet, padded or not."""
    standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def part_from(wire: Mapping[str, Any]) -> Part:
    """Return the part for a part of the raw JSON. `provider_data` has everything that must be sent back."""
    provider_data: JSONObject = {}
    if "thoughtSignature" in wire:
        provider_data["thought_signature"] = wire["thoughtSignature"]
    contents = [key for key in wire if key in CONTENT_KEYS]
    fields = {key: value for key, value in wire.items() if key != "thoughtSignature" and contents != [key]}
    part: Part = Unsupported() if fields else Text("")
    content: dict[str, Any] = {}
    match contents:
        case [] if fields.keys() == {"thought"}:
            part, fields = Thought(""), {}
        case ["text"]:
            part = Thought(wire["text"]) if fields.pop("thought", False) else Text(wire["text"])
        case [key]:
            part, content = _part_with_content(key, dict(wire[key]))
    if fields:
        provider_data["fields"] = fields
    if content:
        provider_data["content"] = content
    return replace(part, provider_data=provider_data)


def _part_with_content(key: str, content: dict[str, Any]) -> tuple[Part, dict[str, Any]]:
    """Return the part, and the keys of its content for which the part has no field."""
    take = content.pop
    match key:
        case "executableCode":
            return ExecutableCode(take("code"), take("language"), take("id", "")), content
        case "codeExecutionResult":
            return CodeExecutionResult(take("output", None), take("outcome"), take("id", "")), content
        case "inlineData":
            return InlineData(take("mimeType"), take("displayName", ""), bytes_from(take("data"))), content
        case "toolCall":
            return ToolCall(take("toolType", ""), take("args", None), take("id", "")), content
        case "toolResponse":
            return ToolResponse(take("toolType", ""), take("response", None), take("id", "")), content
        case "fileData":
            return FileData(take("fileUri"), take("mimeType")), content
        case _:
            # The answer may give a call another id, so keep the provider's id too. `None`: there were no arguments.
            call = FunctionCall(take("name", ""), content.get("args", {}), content.get("id", ""))
            return call, {**content, "args": None} if "args" not in content else _without(content, "args")


def _without(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != key}
