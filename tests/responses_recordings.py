"""Recorded responses of servers that speak the Responses API, and what their raw events say.

No code of the provider is used here. The recordings are in the folder that the environment variable
PLOTLINE_RESPONSES_RECORDINGS_DIR names, in the form of `openai_recordings`.
"""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from chat.vocabulary.stream_events import Usage
from tests.openai_recordings import THINK, events_of
from tests.openai_server.shapes import EVENT_STREAM, JSON_TYPE, Expected, ExpectedCall, RecordedBody

FOLDER_VARIABLE = "PLOTLINE_RESPONSES_RECORDINGS_DIR"
ENDS = ("response.completed", "response.incomplete", "response.failed")
CALLS = ("function_call", "custom_tool_call")
FINISHES = {"max_output_tokens": "length", "content_filter": "blocked"}

Item = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """One response."""

    name: str
    response: RecordedBody

    @property
    def events(self) -> list[Item]:
        """The events of a stream. Another body counts as the last event of a stream."""
        if self.response.content_type != EVENT_STREAM:
            value = json.loads(self.response.body)
            return [{"type": f"response.{value['status']}", "response": value}] if "output" in value else []
        return [json.loads(data) for _, data in events_of(self.response.body) if data != "[DONE]"]

    @property
    def items(self) -> list[Item]:
        """The items of the response: those of `output_item.done` events, or else those of the last event."""
        done = [one for one in self.events if one["type"] == "response.output_item.done"]
        if not done:
            ends = [one["response"] for one in self.events if "response" in one]
            return list(ends[-1]["output"]) if ends else []
        return [one["item"] for one in sorted(done, key=lambda one: one.get("output_index", 0))]

    @property
    def expected(self) -> Expected:
        """What a client must read from it."""
        events, items = self.events, self.items
        end = next((one for one in events if "response" in one and one["type"] in ENDS), None)
        if not events or any(one["type"] == "error" for one in events) or (end and end["response"].get("error")):
            text = "".join(one["delta"] for one in events if one["type"] == "response.output_text.delta")
            return Expected(text=text, finish=None, error="")
        messages = ["".join(map(content_text, item["content"])) for item in items if item["type"] == "message"]
        if not items:
            messages = ["".join(one["delta"] for one in events if one["type"] == "response.output_text.delta")]
        text = "\n\n".join(one for one in messages if one)
        reasoning = "".join(map(reasoning_text, items))
        if match := THINK.fullmatch(text):
            reasoning, text = match.groups()
        elif text.startswith("<think>"):
            reasoning, text = text.removeprefix("<think>").lstrip("\n"), ""
        calls = tuple(ExpectedCall(item["name"], arguments_of(item)) for item in items if item["type"] in CALLS)
        response: Item = end["response"] if end else {}
        drawn = [item["result"] for item in items if item["type"] == "image_generation_call"]
        unreadable = [picture for picture in drawn if not is_picture(picture)]
        text += "".join(f"(An image that cannot be shown: image/webp, {len(one) * 3 // 4} bytes)" for one in unreadable)
        pictures = len(drawn) - len(unreadable)
        pictures += sum(
            output["type"] == "image"
            for item in items
            if item["type"] == "code_interpreter_call"
            for output in item.get("outputs") or []
        )
        finish = finish_of(response) if end else None
        return Expected(text, reasoning, calls, finish, usage_of(response.get("usage")), None, pictures)

    @property
    def back(self) -> list[Item]:
        """The items that must be sent back, without ids and statuses. Messages have only their text."""
        kept = [item for item in self.items if item["type"] in (*CALLS, "message", "reasoning")]
        if self.response.status != 200 or any(one["type"] == "error" for one in self.events):
            return []
        return [back for item in kept if (back := sent_back(item))]

    @property
    def function_names(self) -> list[str]:
        """The functions that it calls."""
        return list(dict.fromkeys(item["name"] for item in self.items if item["type"] in CALLS))


def is_picture(data: str) -> bool:
    """Return whether base64 holds a picture. A recording may hold a part of one."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(data))) as image:
            image.load()
    except (OSError, ValueError):
        return False
    return True


def content_text(content: Mapping[str, Any]) -> str:
    """Return the text or the refusal of a content."""
    return content.get("text") or content.get("refusal") or ""


def reasoning_text(item: Mapping[str, Any]) -> str:
    """Return the reasoning of an item: its summary, or else its raw text."""
    if item["type"] != "reasoning":
        return ""
    return "\n\n".join(one["text"] for one in item.get("summary") or item.get("content") or [])


def arguments_of(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call; `None` if it was cut."""
    if item["type"] == "custom_tool_call":
        return {"input": item["input"]}
    try:
        value = json.loads(item["arguments"])
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def finish_of(response: Mapping[str, Any]) -> str:
    """Return why an answer ended."""
    details = response.get("incomplete_details") or {}
    limit, usage = response.get("max_output_tokens"), response.get("usage") or {}
    if response["status"] == "completed" and limit and usage["output_tokens"] >= limit:
        return "length"
    return FINISHES[details["reason"]] if response["status"] == "incomplete" else "stop"


def usage_of(raw: Mapping[str, Any] | None) -> Usage | None:
    """Return the counts. Those of the output contain those of the reasoning."""
    if not raw:
        return None
    thoughts = (raw.get("output_tokens_details") or {}).get("reasoning_tokens")
    cached = (raw.get("input_tokens_details") or {}).get("cached_tokens")
    candidates = raw["output_tokens"] - (thoughts or 0)
    return Usage(
        prompt=raw["input_tokens"], thoughts=thoughts, candidates=candidates, cached=cached, total=raw["total_tokens"]
    )


def sent_back(item: Item) -> Item | None:
    """Return an item in the form that is sent back; `None` for an empty item, and for a call that was cut."""
    kept = {name: value for name, value in item.items() if name not in ("id", "status") and value is not None}
    if item["type"] == "message":
        text = "".join(map(content_text, item["content"]))
        content = [{"type": "output_text", "text": text}]
        phase = {"phase": item["phase"]} if item.get("phase") else {}
        # Text in tags is reasoning, which is not sent back as text.
        is_empty = not text or text.startswith("<think>")
        return None if is_empty else {"type": "message", "role": "assistant", "content": content, **phase}
    if item["type"] == "reasoning":
        kept = {name: value for name, value in kept.items() if value or name == "summary"}
        return kept if kept.keys() & {"encrypted_content", "content"} else None
    return kept if arguments_of(item) is not None else None


@cache
def response_recordings() -> tuple[Recording, ...]:
    """Return the recorded answers and errors; none if the environment names no folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return tuple(recording_of(path) for path in sorted(Path(folder).rglob("*.meta.json"))) if folder else ()


def recording_of(meta_path: Path) -> Recording:
    """Return the recording that a sidecar describes."""
    meta = json.loads(meta_path.read_text())
    path = meta_path.with_name(meta["file"])
    content_type = EVENT_STREAM if path.suffix == ".sse" else JSON_TYPE
    return Recording(path.stem, RecordedBody(path.read_bytes(), meta.get("http_status") or 200, content_type))
