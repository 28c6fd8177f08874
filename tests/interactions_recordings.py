"""Streams of the Interactions API, and what a client must read from them. No code of the provider is used here.

They are the hand-written ones, and the recordings of the folder that PLOTLINE_INTERACTIONS_RECORDINGS_DIR names, if it
names one: `NAME.sse` is a stream, `NAME.json` an answer in one piece or an HTTP error, `NAME.meta.json` its sidecar.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chat.vocabulary.stream_events import Usage
from tests.interaction_streams import STREAMS, Event, body_of

FOLDER_VARIABLE = "PLOTLINE_INTERACTIONS_RECORDINGS_DIR"
FINISHES = {
    "completed": "stop",
    "idle": "stop",
    "requires_action": "stop",
    "incomplete": "length",
    "requires_continuation": "continuation",
    "budget_exceeded": "unknown",
}
ERRORS = {"not_found": "model_not_found", "rate_limit_exceeded": "rate_limited", "invalid_request": "invalid_request"}
STEPS_OF_DELTAS = {"text": "model_output", "thought_signature": "thought", "arguments_delta": "function_call"}
MEDIA = ("image", "audio", "video", "document")
Step = dict[str, Any]


@dataclass(frozen=True)
class Content:
    """What a client must read from an answer."""

    text: str
    thoughts: str
    code: Sequence[str]
    outputs: Sequence[tuple[str | None, bool]]
    """Output of each code, and whether the code failed."""
    calls: Sequence[tuple[str, Any]]
    """Names and arguments of functions; `None` for arguments that are no object, or were cut."""
    files: Sequence[str]
    """Files in base64, and addresses of files."""
    sources: Sequence[str]
    queries: Sequence[str]
    finish: str | None
    """A value of `Finish`; `None` if the answer was cut, or ended with an error."""
    usage: Usage | None
    error: str | None
    """The code of the error that ends the answer."""


@dataclass(frozen=True)
class Recording:
    """One response."""

    name: str
    events: Sequence[Event]
    body: bytes
    status: int = 200

    @property
    def end(self) -> Step:
        """The interaction of the last event; empty if there is none."""
        ends = [one.get("interaction", one) for one in self.events if is_end(one)]
        return dict(ends[-1]) if ends else {}

    @property
    def steps(self) -> list[Step]:
        """The steps, made of the events."""
        if "steps" in self.end:
            return [without_empty(one) for one in self.end["steps"]]
        steps: dict[int, Step] = {}
        for event in self.events:
            index, name = event.get("index", 0), event.get("event_type")
            if name == "step.start":
                steps[index] = without_empty(event["step"])
            elif name == "step.delta":
                kind = event["delta"]["type"]
                add_delta(steps.setdefault(index, {"type": STEPS_OF_DELTAS.get(kind, kind)}), event["delta"])
            elif name == "step.stop" and isinstance(steps[index].get("arguments"), str):
                steps[index]["arguments"] = json.loads(steps[index]["arguments"])
        return list(steps.values())

    @property
    def error(self) -> str | None:
        """The code of the error that ends the answer, as Plotline names it."""
        words = [one["error"]["code"] for one in self.events if "error" in one]
        if self.end.get("status") == "failed" and self.finish is None:
            words.append(next((one["code"] for one in self.end.get("errors", [])), ""))
        return ERRORS.get(words[0].rpartition("/")[2], "overloaded") if words else None

    @property
    def finish(self) -> str | None:
        """Why the answer ended."""
        if any(one["code"] == "safety" for one in self.end.get("errors", [])):
            return "safety"
        return FINISHES.get(self.end.get("status", ""))

    @property
    def content(self) -> Content:
        """What a client must read from it."""
        steps = self.steps
        outputs = [one for one in steps if one["type"] == "model_output"]
        contents = [one for step in steps for one in contents_of(step)]
        annotations = [one for step in outputs for text in contents_of(step) for one in text.get("annotations", [])]
        pages = [one for step in steps if step["type"] == "url_context_result" for one in step["result"]]
        searches = [step for step in steps if step["type"] == "google_search_call"]
        return Content(
            text=texts_of(contents_of(step) for step in outputs),
            thoughts=texts_of(step.get("summary", []) for step in steps),
            code=[one["arguments"]["code"] for one in steps if one["type"] == "code_execution_call"],
            outputs=[result_of(one) for one in steps if one["type"] == "code_execution_result"],
            calls=[(one["name"], arguments_of(one)) for one in steps if one["type"] == "function_call"],
            files=[one.get("data") or one["uri"] for one in contents if one["type"] in MEDIA],
            sources=list(dict.fromkeys(one["url"] for one in [*annotations, *pages] if "url" in one)),
            queries=[query for one in searches for query in one["arguments"]["queries"]],
            finish=self.finish,
            usage=self.usage,
            error=self.error,
        )

    @property
    def usage(self) -> Usage | None:
        """The token counts of the last event, or else of the events before it."""
        reports = [one["metadata"]["total_usage"] for one in self.events if "metadata" in one]
        raw = self.end.get("usage") or (reports[-1] if reports else None)
        names = ("input_", "tool_use_", "thought_", "output_", "cached_", "")
        return Usage(*(raw.get(f"total_{name}tokens") for name in names)) if raw else None

    @property
    def back(self) -> list[Step]:
        """The steps that must be sent back unchanged."""
        calls = {str(one.get("id")) for one in self.steps}
        results = {str(one.get("call_id")) for one in self.steps}
        return [back for one in self.steps if (back := sent_back(one, calls & results)) is not None]

    @property
    def function_names(self) -> list[str]:
        """The functions that it calls."""
        return list(dict.fromkeys(name for name, _ in self.content.calls))


def is_end(event: Event) -> bool:
    """Return whether an event ends an answer, or is a whole answer."""
    return event.get("event_type", "") in ("", "interaction.completed") and "error" not in event


def without_empty(step: Mapping[str, Any]) -> Step:
    """Return a copy of a step without empty fields and errors."""
    copied: Step = json.loads(json.dumps(step))
    return {name: value for name, value in copied.items() if value not in ("", None) and name != "error"}


def add_delta(step: Step, delta: Mapping[str, Any]) -> None:
    """Add a delta to its step."""
    kind = delta["type"]
    fields = {name: value for name, value in delta.items() if name != "type" and value not in ("", None)}
    contents = step.setdefault("content", []) if kind in ("text", "text_annotation_delta", *MEDIA) else []
    last = contents[-1] if contents else {}
    if kind == "text" and last.get("type") == "text":
        last["text"] += delta["text"]
    elif kind in ("text", *MEDIA):
        contents.append(dict(delta))
    elif kind == "text_annotation_delta":
        last["annotations"] = [*last.get("annotations", []), *delta["annotations"]]
    elif kind == "thought_summary":
        step.setdefault("summary", []).append(delta["content"])
    elif kind == "arguments_delta":
        step["arguments"] = (step["arguments"] or "") + delta["arguments"]
    elif isinstance(step.get("result"), str):
        step.update({**fields, "result": step["result"] + delta["result"]})
    else:
        step.update(fields)


def contents_of(step: Step) -> list[Step]:
    """Return the contents of an output, or of the result of code."""
    found = step.get("result") if step["type"] == "code_execution_result" else step.get("content")
    return found if isinstance(found, list) and step["type"] != "user_input" else []


def texts_of(contents: Iterable[Sequence[Step]]) -> str:
    """Return all texts in contents, joined."""
    return "".join(one.get("text", "") for group in contents for one in group)


def result_of(step: Step) -> tuple[str | None, bool]:
    """Return what code printed, and whether it failed."""
    result = step.get("result")
    if isinstance(result, list):
        texts = [one["text"] for one in result if one["type"] == "text"]
        result = "".join(texts) if texts else None
    return result, bool(step.get("is_error"))


def arguments_of(step: Step) -> Any:  # noqa: ANN401 - JSON
    """Return the arguments of a function; `None` if they are no object."""
    return step["arguments"] if isinstance(step["arguments"], dict) else None


def sent_back(step: Step, pairs: set[str]) -> Step | None:
    """Return the step to send back; `None` if it cannot be. `pairs`: ids with both a call and a result."""
    match step["type"]:
        case "user_input":
            return None
        case "thought":
            return step if step.get("signature") else None
        case "model_output":
            # A video of an answer is not sent again.
            contents = [one for one in step.get("content", []) if one["type"] != "video"]
            return {**step, "content": contents} if contents else None
        case "code_execution_result":
            # The types of google-genai require a result.
            return {"result": "", **step} if step.get("call_id") else None
        case "function_call":
            return {**step, "arguments": arguments_of(step) or {}}
        case kind if kind.endswith(("_call", "_result")) and not kind.startswith("code_"):
            return step if step.get("id", step.get("call_id")) in pairs else None
        case _:
            return step


@cache
def interaction_recordings() -> tuple[Recording, ...]:
    """Return the hand-written streams and the recordings of the folder."""
    own = tuple(Recording(name, events, body_of(events)) for name, events in STREAMS.items())
    return own + recordings_of_folder()


@cache
def recordings_of_folder() -> tuple[Recording, ...]:
    """Return the recordings of the folder; none if the environment names no folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return tuple(recording_of(path) for path in sorted(Path(folder).glob("*.meta.json"))) if folder else ()


def recording_of(meta_path: Path) -> Recording:
    """Return the recording that a sidecar describes. An answer in one piece becomes a stream with one event."""
    meta = json.loads(meta_path.read_text())
    path = meta_path.with_name(meta["file"])
    body, status = path.read_bytes(), meta.get("http_status") or 200
    if path.suffix == ".json":
        value = json.loads(body)
        return Recording(path.stem, [value], body if status != 200 else body_of([value]), status)
    lines = [line.removeprefix(b"data:").strip() for line in body.split(b"\n") if line.startswith(b"data:")]
    return Recording(path.stem, [json.loads(line) for line in lines if line != b"[DONE]"], body, status)


def files_of(data: Iterable[bytes]) -> list[str]:
    """Return files in base64."""
    return [base64.b64encode(one).decode() for one in data]
