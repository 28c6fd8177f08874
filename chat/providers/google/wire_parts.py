"""Translates parts from and to Gemini's wire format. Pure.

Source: ai.google.dev/api/caching#Part. A part that is sent back to its own model equals the part that was
received: what `chat.vocabulary.parts` has no field for is kept in `provider_data`, under these keys:

    thought_signature   `thoughtSignature`, base64 as received
    fields              other keys of the part, such as `videoMetadata`; for an unknown kind the whole part
    content             other keys of the part's content, such as `displayName` of `fileData`
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never

from google.genai import types
from pydantic import ValidationError

from chat.providers.untrusted_json import WireObject
from chat.vocabulary.parts import (
    JSON,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)

CONTENT_KEYS = frozenset(
    {
        *("text", "executableCode", "codeExecutionResult", "inlineData", "fileData"),
        *("functionCall", "functionResponse", "toolCall", "toolResponse"),
    }
)
"""A part has one of these keys, whose value is its content."""

FOREIGN_CALL_SIGNATURE = "skip_thought_signature_validator"
"""Replaces the signature of a function call that another model made.

Source: ai.google.dev/gemini-api/docs/thought-signatures#faqs.
"""


def part_from_wire(wire: WireObject) -> Part:
    """Return the part. Raises TypeError, ValueError or AttributeError for JSON that is not a part."""
    provider_data: JSONObject = {}
    if (signature := wire.get("thoughtSignature")) is not None:
        provider_data["thought_signature"] = _text(signature)
    present = {key: value for key, value in wire.items() if value is not None and key != "thoughtSignature"}
    contents = [key for key in present if key in CONTENT_KEYS]
    text_type = Thought if present.get("thought") else Text
    if present.keys() <= {"thought"}:
        # This is only a signature: Gemini attaches a thought signature to an empty text part.
        return text_type("", provider_data=provider_data)
    if len(contents) != 1:
        return Unsupported(provider_data={**provider_data, "fields": present})
    [key] = contents
    known = {"text", "thought"} if key == "text" else {key}
    if fields := {name: value for name, value in present.items() if name not in known}:
        provider_data["fields"] = fields
    if key == "text":
        return text_type(_text(present["text"]), provider_data=provider_data)
    content = {name: value for name, value in present[key].items() if value is not None}
    return _content_part(key, content, provider_data)


def _content_part(key: str, content: dict[str, Any], provider_data: JSONObject) -> Part:
    """Return the part. Moves the keys that it knows out of `content`, and keeps the rest in `provider_data`."""
    part: Part
    match key:
        case "executableCode":
            part = ExecutableCode(_pop(content, "code"), _pop(content, "language"), _pop(content, "id"))
        case "codeExecutionResult":
            output = _text(content.pop("output")) if "output" in content else None
            part = CodeExecutionResult(output, _pop(content, "outcome"), _pop(content, "id"))
        case "inlineData":
            data = decode_base64(content.pop("data")) if "data" in content else None
            part = InlineData(_pop(content, "mimeType"), _pop(content, "displayName"), data)
        case "fileData":
            part = FileData(_pop(content, "fileUri"), _pop(content, "mimeType"))
        case "functionCall":
            arguments: JSONObject | None = None
            if "args" not in content:
                # `None` says that the key was absent, so that it is not sent back.
                arguments, content["args"] = {}, None
            elif isinstance(content["args"], dict):
                arguments = content.pop("args")
            # Keep the id in `content` too: Plotline may give the call another id, to make it unique in the answer.
            part = FunctionCall(_pop(content, "name"), arguments, _text(content.get("id")))
        case "functionResponse":
            result = content.pop("response") if isinstance(content.get("response"), dict) else {}
            part = FunctionResponse(_pop(content, "name"), result, _pop(content, "id"))
        case "toolCall":
            args = content.pop("args") if isinstance(content.get("args"), dict) else None
            part = ToolCall(_pop(content, "toolType"), args, _pop(content, "id"))
        case "toolResponse":
            response = content.pop("response") if isinstance(content.get("response"), dict) else None
            part = ToolResponse(_pop(content, "toolType"), response, _pop(content, "id"))
        case _:
            raise ValueError(f"{key} is no kind of content")
    if content:
        provider_data["content"] = content
    return replace(part, provider_data=provider_data) if provider_data else part


def part_to_wire(part: Part, *, is_own: bool, call_ids: Mapping[str, str]) -> JSONObject | None:
    """Return the part for a request; `None` for thoughts, and for parts that this model cannot read.

    `is_own`: whether this model made the part; if not, ids, signatures and unknown fields are left out.
    `call_ids`: the provider's id of each function call, by its `call_id`.
    """
    provider_data = part.provider_data if is_own else {}
    content = _content(part, is_own=is_own, call_ids=call_ids)
    fields = _object(provider_data, "fields")
    if content is None or fields.get("thought"):
        return None
    extra = _object(provider_data, "content")
    wire = {key: {**value, **extra} if isinstance(value, dict) else value for key, value in content.items()}
    wire |= fields
    if fields or extra:
        wire = _without_unknown_keys(wire)
    signature = provider_data.get("thought_signature", "")
    if not wire:
        # The API refuses a part without content, so the signature is sent with an empty text, as Gemini sends it.
        if not signature:
            return None
        wire = {"text": ""}
    if isinstance(part, FunctionCall) and not is_own:
        signature = FOREIGN_CALL_SIGNATURE
    return {**wire, "thoughtSignature": signature} if signature else wire


def _content(part: Part, *, is_own: bool, call_ids: Mapping[str, str]) -> JSONObject | None:
    """Return the part's content under its key; `None` for a part that is never sent."""
    match part:
        case Text():
            return {"text": part.text}
        case ExecutableCode():
            return {
                "executableCode": _present(code=part.code, language=part.language, id=part.call_id if is_own else "")
            }
        case CodeExecutionResult():
            result = _present(outcome=part.outcome, id=part.call_id if is_own else "")
            return {"codeExecutionResult": result if part.output is None else {**result, "output": part.output}}
        case InlineData():
            data = "" if part.data is None else base64.b64encode(part.data).decode("ascii")
            return {"inlineData": _present(mimeType=part.mime_type, displayName=part.name, data=data)}
        case FileData():
            return {"fileData": _present(fileUri=part.uri, mimeType=part.mime_type)}
        case FunctionCall():
            arguments = {} if part.arguments is None else {"args": dict(part.arguments)}
            return {"functionCall": {**_present(name=part.name), **arguments}}
        case FunctionResponse():
            call_id = call_ids.get(part.call_id, "")
            return {"functionResponse": {**_present(name=part.name, id=call_id), "response": dict(part.result)}}
        case ToolCall() | ToolResponse():
            return _tool_content(part) if is_own else None
        case Unsupported():
            return {} if is_own else None
        case Thought() | Display():
            return None
        case _:
            assert_never(part)


def _tool_content(part: ToolCall | ToolResponse) -> JSONObject:
    """Return a call or a response of the provider's own tools. Another model cannot read them."""
    fields = _present(toolType=part.name, id=part.call_id)
    if isinstance(part, ToolCall):
        return {"toolCall": fields if part.arguments is None else {**fields, "args": dict(part.arguments)}}
    return {"toolResponse": fields if part.result is None else {**fields, "response": dict(part.result)}}


def own_call_id(part: Part) -> str:
    """Return the id that the provider itself gave to a function call; empty if it gave none."""
    return str(_object(part.provider_data, "content").get("id") or "")


def decode_base64(value: object) -> bytes:
    """Return the bytes of base64 in the standard or the URL-safe alphabet, padded or not.

    Raises TypeError or ValueError for anything else.
    """
    if not isinstance(value, str):
        raise TypeError(f"bytes must be base64, not {type(value).__name__}")
    standard = value.translate(_STANDARD_ALPHABET).rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


_STANDARD_ALPHABET = str.maketrans("-_", "+/")


def _without_unknown_keys(wire: JSONObject) -> JSONObject:
    """Return the part without keys that the API may refuse in requests: those that the SDK's models do not have."""
    wire = {key: value for key, value in copy.deepcopy(wire).items() if value is not None}
    for content in wire.values():
        if isinstance(content, dict):
            for name in [name for name, value in content.items() if value is None]:
                del content[name]
    try:
        types.Part.model_validate(wire)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if fault["type"] == "extra_forbidden":
                *path, key = fault["loc"]
                holder: Any = wire
                for step in path:
                    holder = holder[step]
                del holder[key]
    return wire


def _object(provider_data: Mapping[str, JSON], key: str) -> JSONObject:
    value = provider_data.get(key)
    return value if isinstance(value, dict) else {}


def _pop(content: JSONObject, key: str) -> str:
    return _text(content.pop(key, None))


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"a text must be a string, not {type(value).__name__}")
    return value


def _present(**values: str) -> JSONObject:
    return {name: value for name, value in values.items() if value}
