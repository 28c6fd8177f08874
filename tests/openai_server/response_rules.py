"""The mistakes that a strict server of the Responses API refuses, with OpenAI's words where they are known.

Requests must also be stateless, and set `strict` for each function.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.openai_server.models import ModelName
from tests.openai_server.refusals import Refusal
from tests.openai_server.response_events import OUTPUTS, contents_of, image_urls
from tests.openai_server.violations import CHARS_PER_TOKEN, TOOL_NAME

FIELDS = {
    *("model", "input", "stream", "store", "include", "instructions", "reasoning", "temperature"),
    *("max_output_tokens", "tools", "tool_choice"),
}
WITHOUT_RESPONSES = ("mistral",)
"""Profiles that do not speak this protocol. The trait `no-responses` makes any other such a server."""
READS_OUTPUT_IMAGES = ("openai",)
WRONG_COPY = re.compile(r"(?:added|final|spoilt)\b")
"""The beginning of encrypted reasoning that the client changed, or took from another copy of the item."""
CONTENT_TYPES = {"user": {"input_text", "input_image", "input_file"}, "assistant": {"output_text"}}
BACK_WITHOUT_ID = ("message", "reasoning", "function_call", "custom_tool_call", *OUTPUTS)

Mistake = tuple[str, str, str]
"""The value of `param`, the code, and the message."""


def refuse(profile: str, body: Mapping[str, Any], model: ModelName) -> Refusal | None:
    """Return how a server refuses a request; `None` if it accepts it."""
    if profile in WITHOUT_RESPONSES or "no-responses" in model.traits:
        return Refusal(404, {"detail": "Not Found"})
    mistake = next(iter(mistakes(profile, body, model)), None)
    if mistake is None:
        return None
    parameter, code, message = mistake
    error = {"message": message, "type": "invalid_request_error", "param": parameter or None, "code": code or None}
    return Refusal(400, {"error": error})


def mistakes(profile: str, body: Mapping[str, Any], model: ModelName) -> Iterator[Mistake]:
    """Yield every mistake in a request."""
    for name in sorted(body.keys() - FIELDS):
        yield name, "unknown_parameter", f"Unknown parameter: '{name}'."
    if body.get("store") is not False:
        yield "store", "", "store must be false"
    if "include" in body and "no-reasoning" in model.traits:
        yield "include", "", "Encrypted content is not supported with this model."
    for name in body.get("reasoning") or {}:
        if "no-reasoning" in model.traits:
            message = f"Unsupported parameter: 'reasoning.{name}' is not supported with this model."
            yield f"reasoning.{name}", "unsupported_parameter", message
    if "summary" in (body.get("reasoning") or {}) and "unverified" in model.traits:
        message = "Your organization must be verified to generate reasoning summaries."
        yield "reasoning.summary", "unsupported_value", message
    if "temperature" in body and "gpt-5" in model.traits:
        message = "Unsupported parameter: 'temperature' is not supported with this model."
        yield "temperature", "unsupported_parameter", message
    limit = model.context_limit
    if limit and len(json.dumps(body["input"])) // CHARS_PER_TOKEN > limit:
        message = "Your input exceeds the context window of this model. Please adjust your input and try again."
        yield "input", "context_length_exceeded", message
    yield from _tool_mistakes(body, model)
    yield from _item_mistakes(profile, body["input"], model)
    yield from _call_mistakes(body["input"])


def _tool_mistakes(body: Mapping[str, Any], model: ModelName) -> Iterator[Mistake]:
    if body.get("tools") == []:
        yield "tools", "empty_array", "Invalid 'tools': empty array."
    for number, tool in enumerate(body.get("tools") or []):
        if not model.takes_functions:
            yield "tools", "", "tools is not supported in this model."
        if tool.keys() != {"type", "name", "description", "parameters", "strict"} or tool["strict"] is not False:
            yield f"tools[{number}]", "", "a function must say that it is not strict"
        if not TOOL_NAME.fullmatch(tool["name"]):
            yield f"tools[{number}].name", "invalid_value", "Invalid name."


def _item_mistakes(profile: str, items: list[dict[str, Any]], model: ModelName) -> Iterator[Mistake]:
    for position, item in enumerate(items):
        path, kind = f"input[{position}]", item.get("type", "message")
        if kind in BACK_WITHOUT_ID and item.keys() & {"id", "status"}:
            yield path, "", "an id names what is not stored here"
        if kind == "message" and not isinstance(item["content"], str):
            for one in item["content"]:
                if one["type"] not in CONTENT_TYPES[item["role"]]:
                    yield path, "invalid_value", f"Invalid value: '{one['type']}'."
            if not item["content"]:
                yield path, "", "the message is empty"
        if kind == "reasoning" and WRONG_COPY.match(item.get("encrypted_content", "")):
            yield path, "invalid_encrypted_content", "The encrypted content could not be verified."
        if kind == "reasoning" and not isinstance(item.get("summary"), list):
            yield f"{path}.summary", "missing_required_parameter", f"Missing required parameter: '{path}.summary'."
        if kind == "function_call" and not _is_json_object(item["arguments"]):
            yield f"{path}.arguments", "", "the arguments are not a JSON object"
        if kind in OUTPUTS and contents_of(item) and profile not in READS_OUTPUT_IMAGES:
            yield f"{path}.output", "invalid_type", f"Invalid type for '{path}.output': expected a string."
        for url in image_urls(item):
            if not model.takes_images:
                yield path, "invalid_value", "image input is not supported"
            if not re.match("data:image/.*;base64,", url):
                yield path, "invalid_image_url", "Failed to download image."


def _call_mistakes(items: list[dict[str, Any]]) -> Iterator[Mistake]:
    """Yield calls without an output, outputs without a call, and items between a call and its output."""
    open_ids: list[str] = []
    used: set[str] = set()
    for item in [*items, {"type": "message"}]:
        kind = item["type"]
        if kind in ("function_call", "custom_tool_call"):
            if item["call_id"] in used:
                yield "input", "", f"Duplicate call_id {item['call_id']}."
            used.add(item["call_id"])
            open_ids.append(item["call_id"])
        elif kind in OUTPUTS:
            if item["call_id"] not in open_ids:
                yield "input", "", f"No tool call found for function call output with call_id {item['call_id']}."
            else:
                open_ids.remove(item["call_id"])
        elif kind == "message" and open_ids:
            yield "input", "", f"No tool output found for function call {open_ids[0]}."
            open_ids.clear()


def _is_json_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False
