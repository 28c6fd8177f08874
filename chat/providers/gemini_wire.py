"""Between google-genai's types and our own values, both ways; pure.

Exact both ways: what a part held goes back as it came. The SDK itself drops what it does not know, so a part of
a kind newer than the SDK arrives here empty. Only halves of surrogate pairs are changed, as no text can hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.genai import types
from pydantic import BaseModel

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
    PartKind.CODE_EXECUTION_RESULT: {"output": "text", "outcome": "outcome", "id": "call_id"},
    PartKind.INLINE_DATA: {"data": "data", "mimeType": "mime_type"},
    PartKind.FILE_DATA: {"mimeType": "mime_type"},
    PartKind.FUNCTION_CALL: {"id": "call_id"},
    PartKind.FUNCTION_RESPONSE: {"id": "call_id"},
}

METADATA = ("safety_ratings", "citation_metadata", "grounding_metadata", "url_context_metadata")


def events_of(chunk: types.GenerateContentResponse) -> Iterator[StreamEvent]:
    """What one chunk says: who answers, a blocked prompt, the parts in their order, metadata, finish, usage."""
    if chunk.response_id or chunk.model_version:
        yield ResponseDescribed(_sound(chunk.response_id or ""), _sound(chunk.model_version or ""))
    if chunk.prompt_feedback is not None:
        if chunk.prompt_feedback.block_reason is not None:
            message = chunk.prompt_feedback.block_reason_message or ""
            yield PromptBlocked(_sound(chunk.prompt_feedback.block_reason.value), _sound(message))
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
        yield FinishReported(_sound(candidate.finish_reason.value), _sound(candidate.finish_message or ""))


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
        return Part(kind, text=_sound(sdk.text), thought_signature=sdk.thought_signature)
    contents = [name for name in CONTENT_ATTRIBUTES & present if getattr(sdk, name) is not None]
    if sdk.text is not None and len(contents) == 1:
        kind = PartKind.THOUGHT if sdk.thought else PartKind.TEXT
        fields = _wire(sdk, exclude=TEXT_ATTRIBUTES)
        return Part(kind, text=_sound(sdk.text), fields=fields, thought_signature=sdk.thought_signature)
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
    return {key: _sound_json(value) for key, value in dumped.items()}


def _sound(text: str) -> str:
    """The text with each half of a surrogate pair replaced: JSON can spell one, UTF-8 cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _sound_json(value: JSON) -> JSON:
    if isinstance(value, str):
        return _sound(value)
    if isinstance(value, list):
        return [_sound_json(item) for item in value]
    if isinstance(value, dict):
        # Keys are sound: pydantic sees to them.
        return {key: _sound_json(item) for key, item in value.items()}
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

    Raises pydantic.ValidationError when `fields` holds what the SDK does not know.
    """
    wire = _wire_part(part)
    if not wire:
        return None
    if part.thought_signature is not None:
        wire["thoughtSignature"] = part.thought_signature
    return types.Part.model_validate(wire)


def _wire_part(part: Part) -> dict[str, Any]:
    if part.kind is PartKind.THOUGHT or part.fields.get("thought"):
        return {}
    if part.kind is PartKind.TEXT:
        return {"text": part.text or "", **part.fields}
    if part.kind is PartKind.UNSUPPORTED:
        if not part.fields and part.thought_signature is not None:
            # A part without content is refused; an empty text is where Gemini itself puts a lone signature.
            return {"text": ""}
        return dict(part.fields)
    content: dict[str, Any] = {key: value for key, value in part.fields.items() if key not in SIBLINGS}
    for key, name in OWN_FIELDS[part.kind].items():
        value = getattr(part, name)
        if value is not None and (value != "" or name == "text"):
            content[key] = value
    siblings = {key: value for key, value in part.fields.items() if key in SIBLINGS}
    return {HOLDERS[part.kind][1]: content, **siblings}


def config_of(request: GenerateRequest) -> types.GenerateContentConfig:
    """What goes beside the contents; sampling is left to the model, newer ones refuse to be told."""
    return types.GenerateContentConfig(
        system_instruction=request.system_instruction or None,
        tools=[types.Tool(code_execution=types.ToolCodeExecution())] if request.code_execution else None,
        thinking_config=types.ThinkingConfig(include_thoughts=True) if request.include_thoughts else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        # It would hide finish reasons, send requests of its own, and add up usage over them.
        automatic_continuation=False,
    )
