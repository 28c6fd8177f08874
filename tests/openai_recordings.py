"""Recorded responses of servers that speak chat completions, and what their raw chunks say.

No code of the provider is used here. The reader is simple, because it reads only whole bodies. It is tested with the
hand-written shapes of the stand-in server, whose content is known.

The recordings are in the folder that the environment variable PLOTLINE_OPENAI_RECORDINGS_DIR names. `NAME.sse` is a
stream, every other file a response in one piece. `NAME.meta.json` has the HTTP status and the headers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from chat.vocabulary.stream_events import Usage
from tests.openai_server.shapes import EVENT_STREAM, JSON_TYPE, Expected, ExpectedCall, RecordedBody

FOLDER_VARIABLE = "PLOTLINE_OPENAI_RECORDINGS_DIR"

FINISHES = {
    "stop": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "content_filter": "blocked",
}
THINK = re.compile(r"\s*<think>\n*(.*?)</think>\n*(.*)", re.DOTALL)
CALL_AS_TEXT = ("<tool_call>", "[TOOL_CALLS]", "```tool_code", '{"name": "')
MALFORMED_CALL = "tool_use_failed"

Chunk: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Recording:
    """One response."""

    name: str
    response: RecordedBody
    kind: str
    """`stream`, `unary`, `error` or `models`."""
    has_functions: bool
    """Whether the request declared functions."""

    @property
    def expected(self) -> Expected:
        """What a client must read from it."""
        if self.kind == "error":
            is_malformed_call = MALFORMED_CALL.encode() in self.response.body
            return Expected(finish="malformed_call") if is_malformed_call else Expected(finish=None, error="")
        if self.kind == "unary":
            return read_chunks([json.loads(self.response.body)], is_done=True)
        return read_stream(self.response.body)

    @property
    def function_names(self) -> list[str]:
        """The functions that it calls."""
        return list(dict.fromkeys(call.name for call in self.expected.calls))


@cache
def recordings() -> tuple[Recording, ...]:
    """Return the recorded answers and errors; none if the environment names no folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    paths = sorted(Path(folder).rglob("*.meta.json")) if folder else []
    found = [recording_of(path) for path in paths]
    return tuple(one for one in found if one.kind != "models")


def recording_of(meta_path: Path) -> Recording:
    """Return the recording that a sidecar describes."""
    meta = json.loads(meta_path.read_text())
    path = meta_path.with_name(meta["file"])
    headers = meta.get("response_headers", {})
    content_type = headers.get("content-type", EVENT_STREAM if path.suffix == ".sse" else JSON_TYPE).partition(";")[0]
    kept_headers = {name: value for name, value in headers.items() if name in ("retry-after",)}
    body = path.read_bytes()
    kind = meta["kind"]
    if kind == "unary" and content_type == "text/html":
        kind = "error"
    if kind not in ("stream", "error") and b'"choices"' not in body:
        kind = "models"
    response = RecordedBody(body, meta.get("http_status") or 200, content_type, kept_headers)
    return Recording(path.stem, response, kind, bool((meta.get("request") or {}).get("tools")))


def read_stream(body: bytes) -> Expected:
    """Return what a client must read from a stream."""
    chunks: list[Chunk] = []
    is_done = False
    for name, data in events_of(body):
        if data == "[DONE]":
            is_done = True
            break
        value = json.loads(data, strict=False)
        is_error = name == "error" and "error" not in value
        chunks.append({"error": value} if is_error else value)
    return read_chunks(chunks, is_done=is_done)


def events_of(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the name and the data of each event."""
    text = body.decode("utf-8-sig").replace("\r\n", "\n")
    for block in text.split("\n\n"):
        fields = [line.partition(":")[::2] for line in block.split("\n") if not line.startswith(":")]
        values = {name: value.strip() for name, value in fields}
        if "error" in values:
            yield "error", values["error"]
        elif "data" in values:
            yield values.get("event", ""), values["data"]


def read_chunks(chunks: list[Chunk], *, is_done: bool) -> Expected:
    """Return what a client must read from the chunks."""
    errors = [chunk["error"] for chunk in chunks if chunk.get("error")]
    deltas = [delta for chunk in chunks for delta in deltas_of(chunk)]
    finishes = [choice["finish_reason"] for choice in choices_of(chunks) if choice.get("finish_reason")]
    calls = tuple(calls_of(deltas))
    text = "".join(text_of(delta) for delta in deltas)
    reasoning = "".join(reasoning_of(delta) for delta in deltas)
    if match := THINK.fullmatch(text):
        reasoning, text = match.groups()
    finish = FINISHES.get(finishes[-1], "unknown") if finishes else "stop" if is_done else None
    if finish == "stop" and not calls and any(words in text for words in CALL_AS_TEXT):
        finish = "call_as_text"
    error = "" if errors or "error" in finishes else None
    if errors and isinstance(errors[0], dict) and errors[0].get("code") == MALFORMED_CALL:
        finish, error = "malformed_call", None
    whole_calls = tuple(ExpectedCall(name, arguments_of(raw, finish)) for name, raw in calls)
    usages = [usage_of(chunk["usage"]) for chunk in chunks if chunk.get("usage")]
    usage = usages[-1] if usages else None
    return Expected(text, reasoning, whole_calls, finish if error is None else None, usage, error)


def choices_of(chunks: list[Chunk]) -> list[dict[str, Any]]:
    """Return the first choice of all chunks."""
    return [one for chunk in chunks for one in chunk.get("choices") or [] if one.get("index", 0) == 0]


def deltas_of(chunk: Chunk) -> list[dict[str, Any]]:
    """Return the deltas of the first choice. A whole response has a message instead."""
    return [choice.get("delta") or choice.get("message") or {} for choice in choices_of([chunk])]


def text_of(delta: Mapping[str, Any]) -> str:
    """Return the text of a delta, or the text of its refusal."""
    content = delta.get("content") or ""
    if isinstance(content, list):
        content = "".join(item["text"] for item in content if item["type"] == "text")
    return content + (delta.get("refusal") or "")


def reasoning_of(delta: Mapping[str, Any]) -> str:
    """Return the reasoning of a delta, which can have the same text in several fields."""
    text: str = delta.get("reasoning_content") or delta.get("reasoning") or ""
    content = delta.get("content")
    if isinstance(content, list):
        text += "".join(one["text"] for item in content if item["type"] == "thinking" for one in item["thinking"])
    if not text:
        text = "".join(one.get("text") or one.get("summary") or "" for one in delta.get("reasoning_details") or [])
    return text


def calls_of(deltas: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the name and the arguments of each call, in the order in which they began."""
    calls: list[dict[str, Any]] = []
    for delta in deltas:
        old_form = [{"index": 0, "function": delta["function_call"]}] if delta.get("function_call") else []
        for piece in delta.get("tool_calls") or old_form:
            function = piece["function"]
            call = open_call(calls, piece)
            call["id"] = call["id"] or piece.get("id")
            call["name"] = call["name"] or function.get("name")
            arguments = function.get("arguments") or ""
            call["arguments"] += json.dumps(arguments) if isinstance(arguments, dict) else arguments
    return [(call["name"], call["arguments"]) for call in calls]


def open_call(calls: list[dict[str, Any]], piece: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call that a piece continues, or a new one."""
    index, call_id, name = piece.get("index"), piece.get("id"), piece["function"].get("name")
    same_index = [call for call in calls if call["index"] == index]
    if same_index and not (call_id and same_index[-1]["id"] not in (None, "", call_id)):
        is_complete = bool(same_index[-1]["arguments"])
        if not (index is None and not call_id and name and is_complete):
            return same_index[-1]
    calls.append({"index": index, "id": call_id, "name": name, "arguments": ""})
    return calls[-1]


def arguments_of(raw: str, finish: str | None) -> dict[str, Any] | None:
    """Return the arguments; `None` if they are not a JSON object."""
    if not raw:
        return {} if finish not in ("length", None) else None
    try:
        value = json.loads(raw, strict=False)
    except ValueError:
        return None
    # Groq writes `null` for a function without parameters.
    return {} if value is None else value if isinstance(value, dict) else None


def usage_of(raw: Mapping[str, Any]) -> Usage:
    """Return the counts. `completion_tokens` include those of the thoughts, unless this contradicts the total."""
    prompt, completion, total = (raw.get(f"{name}_tokens") for name in ("prompt", "completion", "total"))
    thoughts = (raw.get("completion_tokens_details") or {}).get("reasoning_tokens", raw.get("reasoning_tokens"))
    cached = (raw.get("prompt_tokens_details") or {}).get("cached_tokens", raw.get("prompt_cache_hit_tokens"))
    if thoughts and completion is not None and total != (prompt or 0) + completion + thoughts:
        completion = max(0, completion - thoughts)
    return Usage(prompt=prompt, thoughts=thoughts, candidates=completion, cached=cached, total=total)
