"""Converts the steps of an answer to parts, and parts back to their steps. Pure.

A part keeps its step without the fields that the part itself holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from chat.providers.google.wire_parts import decode_base64
from chat.providers.untrusted_json import WireObject, as_object, as_objects, as_text
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_FAILED,
    OUTCOME_OK,
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

TOOL_NAMES = {"google_search": "GOOGLE_SEARCH_WEB", "processing": "MEDIA_PROCESSING"}
"""The names of tools that differ from those of `generateContent` in more than their case."""
IMAGE_SEARCH = "GOOGLE_SEARCH_IMAGE"
MEDIA_KEYS = frozenset({"type", "mime_type", "data"})
CALL, RESULT = "_call", "_result"


def parts_of(step: WireObject, *, is_whole: bool) -> Iterator[Part]:
    """Yield the parts of a step that has ended, without its texts and files, which were yielded as they arrived.

    `is_whole`: whether the server has ended it. A call that was cut has no arguments, so that it cannot run.
    """
    kind, call_id = as_text(step.get("type")), as_text(step.get("id") or step.get("call_id"))
    arguments = _arguments(step)
    match kind:
        case "thought":
            # Keep no step of a thought without a signature, because the API refuses to take it back.
            if as_text(step.get("signature")):
                yield Thought("", provider_data=_data(step))
        case "model_output":
            if step.keys() - {"type"}:
                yield output_end(step)
        case "code_execution_call":
            code, language = as_text((arguments or {}).get("code")), as_text((arguments or {}).get("language"))
            data = _data(step, arguments={name: one for name, one in (arguments or {}).items() if name != "code"})
            if code or is_whole:
                yield ExecutableCode(code, language.upper(), call_id, provider_data=data)
        case "code_execution_result":
            yield from _result_parts(step, call_id)
        case "function_call":
            name, data = as_text(step.get("name")), _data(step, "arguments")
            yield FunctionCall(name, arguments if is_whole else None, call_id, provider_data=data)
        case "user_input":
            # The API repeats the user's question in its response.
            pass
        case _ if kind.endswith(CALL):
            yield ToolCall(_tool_name(step, kind, CALL), arguments, call_id, provider_data=_data(step, "arguments"))
        case _ if kind.endswith(RESULT):
            result: JSONObject | None = {"result": step["result"]} if "result" in step else None
            yield ToolResponse(_tool_name(step, kind, RESULT), result, call_id, provider_data=_data(step, "result"))
        case _:
            yield Unsupported(provider_data={"step": dict(step)})


def output_end(step: WireObject) -> Text:
    """Return a part that marks the end of a `model_output`, so that the next one is a step of its own."""
    return Text("", provider_data=_data(step))


def step_of(part: Part, step: JSONObject) -> JSONObject:
    """Return the step of a part for a request. A result has `None` in its list for each image, which is added later."""
    wire = dict(step)
    match part:
        case ExecutableCode():
            wire["arguments"] = {"code": part.code, **as_object(step.get("arguments"))}
        case FunctionCall():
            wire["arguments"] = dict(part.arguments or {})
        case ToolCall() if part.arguments is not None:
            wire["arguments"] = dict(part.arguments)
        case ToolResponse() if part.result is not None:
            wire["result"] = part.result.get("result")
        case CodeExecutionResult():
            # The API requires the field `result` even if the code printed nothing.
            wire["result"] = _result(part.output or "", step.get("result"))
    signature = part.provider_data.get("thought_signature")
    return {**wire, "signature": signature} if signature else wire


def media_part(content: WireObject, place: int | None = None) -> InlineData | FileData:
    """Return a file of an answer. `place`: its index in the result of code.

    Raises TypeError or ValueError for bytes that are no base64.
    """
    mime_type, uri = as_text(content.get("mime_type")), as_text(content.get("uri"))
    if uri and not content.get("data"):
        return FileData(uri=uri, mime_type=mime_type)
    fields: JSONObject = {name: one for name, one in content.items() if name not in MEDIA_KEYS and one is not None}
    data: JSONObject = {"content": fields} if fields else {}
    if place is not None:
        data["place"] = place
    return InlineData(mime_type, "", decode_base64(content.get("data") or ""), provider_data=data)


def _data(step: WireObject, *held: str, **changed: JSON) -> JSONObject:
    """Return the provider data of a step without the fields that its part has. `changed`: new values of fields."""
    dropped = {"signature", "content", *held}
    kept: JSONObject = {name: value for name, value in step.items() if value is not None and name not in dropped}
    signature = as_text(step.get("signature"))
    return {"step": {**kept, **changed}, **({"thought_signature": signature} if signature else {})}


def _arguments(step: WireObject) -> dict[str, JSON] | None:
    arguments = step.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, dict) else None


def _result_parts(step: WireObject, call_id: str) -> Iterator[Part]:
    """Yield the output of code, and the images in its result."""
    result, outcome = step.get("result"), OUTCOME_FAILED if step.get("is_error") else OUTCOME_OK
    if not isinstance(result, list):
        output = result if isinstance(result, str) else None
        # The API refuses a result without its call, so such a result keeps no data to send back.
        data = _data(step, "result") if call_id else {}
        yield CodeExecutionResult(output, outcome, call_id, provider_data=data)
        return
    contents = as_objects(result)
    texts = [as_text(one.get("text")) for one in contents if one.get("type") == "text"]
    output = "".join(texts) if texts else None
    # `None` is the gap of an image, which the next part fills.
    template: list[JSON] = [dict(one) if one.get("type") == "text" else None for one in contents]
    yield CodeExecutionResult(output, outcome, call_id, provider_data=_data(step, result=template))
    for place, one in enumerate(contents):
        if one.get("type") != "text":
            yield media_part(one, place)


def _result(output: str, template: JSON) -> JSON:
    """Return the result of code as it was received. If the output was shortened, it replaces the texts."""
    if not isinstance(template, list):
        return output
    texts = [as_text(one.get("text")) for one in as_objects(template)]
    if not texts or "".join(texts) == output:
        return list(template)
    first = next(place for place, one in enumerate(template) if one is not None)
    contents: list[JSON] = [None] * len(template)
    contents[first] = {"type": "text", "text": output}
    return contents


def _tool_name(step: WireObject, kind: str, ending: str) -> str:
    name = kind.removesuffix(ending)
    if name == "google_search" and step.get("search_type") == "image_search":
        return IMAGE_SEARCH
    return TOOL_NAMES.get(name, name.upper())
