"""Between google-genai's types and our own values, both ways; pure.

Exact both ways: what a part held goes back as it came, but for what the SDK does not know: read by it (`events_of`),
a part of a kind newer than the SDK arrives empty, and it cannot send one at all. Only halves of surrogate pairs are
changed, as no text can hold them.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator, Mapping
from typing import Any

from google.genai import types
from pydantic import BaseModel, ValidationError

from chat.parts import (
    JSON,
    Content,
    FinishReported,
    GenerateRequest,
    MetadataReported,
    Part,
    PartKind,
    PartReceived,
    PromptBlocked,
    ResponseDescribed,
    StreamEvent,
    Usage,
    UsageReported,
)

#: Where the SDK keeps a part's content, and what it is called on the wire.
HOLDERS: Mapping[PartKind, tuple[str, str]] = {
    PartKind.EXECUTABLE_CODE: ("executable_code", "executableCode"),
    PartKind.CODE_EXECUTION_RESULT: ("code_execution_result", "codeExecutionResult"),
    PartKind.INLINE_DATA: ("inline_data", "inlineData"),
    PartKind.FILE_DATA: ("file_data", "fileData"),
    PartKind.FUNCTION_CALL: ("function_call", "functionCall"),
    PartKind.FUNCTION_RESPONSE: ("function_response", "functionResponse"),
}
KINDS: Mapping[str, PartKind] = {attribute: kind for kind, (attribute, _) in HOLDERS.items()}

#: Content of a part, of whatever kind; a part has one of them.
CONTENT_ATTRIBUTES = frozenset({"text", "tool_call", "tool_response", *KINDS})

#: Wire names of what may stand beside a part's content: `thought`, `partMetadata`, `videoMetadata`, ...
SIBLINGS = frozenset(
    str(field.alias) for name, field in types.Part.model_fields.items() if name not in CONTENT_ATTRIBUTES
)

#: Nearly every part of a stream has these alone.
TEXT_ATTRIBUTES = {"text", "thought", "thought_signature"}

#: Values of `Part` that have a field of their own there: wire name of the content's key, attribute of `Part`.
OWN_FIELDS: Mapping[PartKind, Mapping[str, str]] = {
    PartKind.EXECUTABLE_CODE: {"code": "text", "language": "language", "id": "call_id"},
    PartKind.CODE_EXECUTION_RESULT: {"outcome": "outcome", "output": "text", "id": "call_id"},
    PartKind.INLINE_DATA: {"data": "data", "mimeType": "mime_type"},
    PartKind.FILE_DATA: {"mimeType": "mime_type"},
    PartKind.FUNCTION_CALL: {"id": "call_id"},
    PartKind.FUNCTION_RESPONSE: {"id": "call_id"},
}

#: Stands in for the thought signature of a part that the model did not make. On the wire, in base64, it reads exactly
#: as documented: `skip_thought_signature_validator`. Source: ai.google.dev/gemini-api/docs/thought-signatures#faqs.
STAND_IN_SIGNATURE = base64.urlsafe_b64decode("skip_thought_signature_validator")

METADATA = ("safety_ratings", "citation_metadata", "grounding_metadata", "url_context_metadata")


def events_of(chunk: types.GenerateContentResponse) -> Iterator[StreamEvent]:
    """What one chunk says: who answers, a blocked prompt, the parts in their order, metadata, finish, usage."""
    if chunk.response_id or chunk.model_version:
        yield ResponseDescribed(sound(chunk.response_id or ""), sound(chunk.model_version or ""))
    if chunk.prompt_feedback is not None:
        if chunk.prompt_feedback.block_reason is not None:
            message = chunk.prompt_feedback.block_reason_message or ""
            yield PromptBlocked(sound(chunk.prompt_feedback.block_reason.value), sound(message))
        yield MetadataReported("promptFeedback", _wire(chunk.prompt_feedback))
    if chunk.candidates:
        # More than one is never asked for.
        yield from _candidate_events(chunk.candidates[0])
    if chunk.usage_metadata is not None:
        yield UsageReported(_usage_of(chunk.usage_metadata))


def _candidate_events(candidate: types.Candidate) -> Iterator[StreamEvent]:
    if candidate.content is not None:
        for part in candidate.content.parts or ():
            yield PartReceived(part_of(part))
    for attribute in METADATA:
        value = getattr(candidate, attribute)
        if value is not None:
            name = str(types.Candidate.model_fields[attribute].alias)
            yield MetadataReported(name, [_wire(item) for item in value] if isinstance(value, list) else _wire(value))
    if candidate.finish_reason is not None:
        yield FinishReported(sound(candidate.finish_reason.value), sound(candidate.finish_message or ""))


def _usage_of(usage: types.GenerateContentResponseUsageMetadata) -> Usage:
    return Usage(
        prompt=usage.prompt_token_count,
        tool_use=usage.tool_use_prompt_token_count,
        thoughts=usage.thoughts_token_count,
        candidates=usage.candidates_token_count,
        cached=usage.cached_content_token_count,
        total=usage.total_token_count,
    )


def part_of(sdk: types.Part) -> Part:
    """A part as the SDK parsed it; what has no field in `Part` is in its `fields`, in wire form."""
    present = sdk.model_fields_set
    if sdk.text is not None and present <= TEXT_ATTRIBUTES:
        kind = PartKind.THOUGHT if sdk.thought else PartKind.TEXT
        return Part(kind, text=sound(sdk.text), thought_signature=sdk.thought_signature)
    contents = [name for name in CONTENT_ATTRIBUTES & present if getattr(sdk, name) is not None]
    if sdk.text is not None and len(contents) == 1:
        kind = PartKind.THOUGHT if sdk.thought else PartKind.TEXT
        fields = _wire(sdk, exclude=TEXT_ATTRIBUTES)
        return Part(kind, text=sound(sdk.text), fields=fields, thought_signature=sdk.thought_signature)
    if len(contents) != 1 or contents[0] not in KINDS:
        fields = _wire(sdk, exclude={"thought_signature"})
        return Part(PartKind.UNSUPPORTED, fields=fields, thought_signature=sdk.thought_signature)
    return _held_part(sdk, contents[0])


def _held_part(sdk: types.Part, attribute: str) -> Part:
    kind = KINDS[attribute]
    holder = getattr(sdk, attribute)
    # Bytes go past the dump: they would be encoded only to be decoded again.
    data = holder.data if kind is PartKind.INLINE_DATA else None
    content = _wire(holder, exclude={"data"} if kind is PartKind.INLINE_DATA else None)
    own: dict[str, Any] = {
        name: content.pop(key) for key, name in OWN_FIELDS[kind].items() if key != "data" and key in content
    }
    fields = {**_wire(sdk, exclude={attribute, "thought_signature"}), **content}
    return Part(kind, data=data, fields=fields, thought_signature=sdk.thought_signature, **own)


def _wire(model: BaseModel, exclude: set[str] | None = None) -> dict[str, JSON]:
    """An SDK value in wire form: camelCase, absent keys left out."""
    dumped = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=exclude)
    return {key: sound_json(value) for key, value in dumped.items()}


def sound(text: str) -> str:
    """The text with each half of a surrogate pair replaced: JSON can spell one, UTF-8 cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def sound_json(value: JSON) -> JSON:
    """The same of all strings in JSON."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [sound_json(item) for item in value]
    if isinstance(value, dict):
        # Keys are sound: pydantic sees to them.
        return {key: sound_json(item) for key, item in value.items()}
    return value


def contents_of(request: GenerateRequest) -> list[types.ContentUnion]:
    """The conversation for the SDK; thoughts are not sent back, and a content of nothing else is left out."""
    return [
        types.Content(role=content.role.value, parts=parts)
        for content in request.contents
        if (parts := _sdk_parts(content))
    ]


def _sdk_parts(content: Content) -> list[types.Part]:
    return [sdk for part in content.parts if (sdk := sdk_part_of(part)) is not None]


def sdk_part_of(part: Part) -> types.Part | None:
    """The inverse of `part_of`; None for what is not sent back: thoughts, and parts that arrived empty.

    What the SDK does not know cannot be sent by it, and is left out; a signature then stands on an empty text.
    """
    wire = _without_unknown(_wire_part(part))
    if not wire:
        if part.thought_signature is None or part.kind is not PartKind.UNSUPPORTED:
            return None
        # A part without content is refused; an empty text is where Gemini itself puts a lone signature.
        wire = {"text": ""}
    if part.thought_signature is not None:
        wire["thoughtSignature"] = part.thought_signature
    return types.Part.model_validate(wire)


def _without_unknown(wire: dict[str, Any]) -> dict[str, Any]:
    """The part without keys that the SDK's models forbid, at whatever depth."""
    try:
        types.Part.model_validate(wire)
    except ValidationError as error:
        wire = copy.deepcopy(wire)
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if fault["type"] == "extra_forbidden":
                *above, key = fault["loc"]
                holder: Any = wire
                for step in above:
                    holder = holder[step]
                del holder[key]
    return wire


def _wire_part(part: Part) -> dict[str, Any]:
    if part.kind is PartKind.THOUGHT or part.fields.get("thought"):
        return {}
    if part.kind is PartKind.TEXT:
        return {"text": part.text or "", **part.fields}
    if part.kind is PartKind.UNSUPPORTED:
        return dict(part.fields)
    content: dict[str, Any] = {key: value for key, value in part.fields.items() if key not in SIBLINGS}
    for key, name in OWN_FIELDS[part.kind].items():
        value = getattr(part, name)
        if value is not None and (value != "" or name == "text"):
            content[key] = value
    siblings = {key: value for key, value in part.fields.items() if key in SIBLINGS}
    return {HOLDERS[part.kind][1]: content, **siblings}


def config_of(request: GenerateRequest) -> types.GenerateContentConfig:
    """What goes beside the contents; what the request leaves open is not sent, newer models refuse to be told.

    Raises ValueError for a thinking level beside a budget, which the API refuses.
    """
    return types.GenerateContentConfig(
        system_instruction=request.system_instruction or None,
        tools=[types.Tool.model_validate({name: {}}) for name in tools_of(request)] or None,
        thinking_config=types.ThinkingConfig.model_validate(thinking) if (thinking := thinking_of(request)) else None,
        response_modalities=["TEXT", "IMAGE"] if request.image_output else None,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        # It would hide finish reasons, send requests of its own, and add up usage over them.
        automatic_continuation=False,
    )


def tools_of(request: GenerateRequest) -> list[str]:
    """Names of the tools on the wire: one entry for each, as the API wants tools that are combined."""
    wanted = {
        "codeExecution": request.code_execution,
        "googleSearch": request.google_search,
        "urlContext": request.url_context,
    }
    return [name for name, is_wanted in wanted.items() if is_wanted]


def thinking_of(request: GenerateRequest) -> dict[str, Any]:
    """How to think, and whether to tell the thoughts, in the API's words; empty where nothing of it is said.

    Thoughts are not asked of models that answer with images, nor where thinking is off: some of them answer
    400 `Thinking is not enabled for this model` or `include_thoughts is only enabled when thinking is enabled`.
    """
    if request.thinking_level and request.thinking_budget is not None:
        raise ValueError("A thinking level and a thinking budget cannot be set together.")
    thinking: dict[str, Any] = {}
    if request.include_thoughts and not request.image_output and request.thinking_budget != 0:
        thinking["includeThoughts"] = True
    if request.thinking_level:
        thinking["thinkingLevel"] = request.thinking_level
    if request.thinking_budget is not None:
        thinking["thinkingBudget"] = request.thinking_budget
    return thinking
