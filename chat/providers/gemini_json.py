"""From the JSON of a streamed response to our own values, past the SDK's models; pure.

Equal to `gemini_wire.events_of` for all that the SDK knows, at a fifth of its cost; what the SDK drops (a finish
message, a part of a kind newer than it) is kept here. Anything that is not of the protocol raises ValueError,
TypeError, LookupError or AttributeError, as it would inside the SDK.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from chat.parts import (
    FinishReported,
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
from chat.providers.gemini_wire import HOLDERS, OWN_FIELDS, sound, sound_json

WireObject: TypeAlias = Mapping[str, Any]

KINDS: Mapping[str, PartKind] = {wire: kind for kind, (_, wire) in HOLDERS.items()}
#: Content of a part, of whatever kind; a part has one of them.
CONTENT_KEYS = frozenset({"text", "toolCall", "toolResponse", *KINDS})
#: Nearly every part of a stream has these alone.
TEXT_KEYS = frozenset({"text", "thought", "thoughtSignature"})
#: Nearly every candidate has these alone.
PLAIN_CANDIDATE_KEYS = frozenset({"content", "index"})
METADATA = ("safetyRatings", "citationMetadata", "groundingMetadata", "urlContextMetadata")


def events_of_json(chunk: WireObject) -> list[StreamEvent]:
    """What one chunk says, in the order of `gemini_wire.events_of`."""
    said: list[StreamEvent] = []
    response_id, model_version = chunk.get("responseId"), chunk.get("modelVersion")
    if response_id or model_version:
        said.append(ResponseDescribed(_text(response_id), _text(model_version)))
    feedback = chunk.get("promptFeedback")
    if feedback is not None:
        if feedback.get("blockReason") is not None:
            said.append(PromptBlocked(_text(feedback["blockReason"]), _text(feedback.get("blockReasonMessage"))))
        said.append(MetadataReported("promptFeedback", sound_json(feedback)))
    candidates = chunk.get("candidates")
    if candidates:
        # More than one is never asked for.
        candidate = candidates[0]
        content = candidate.get("content")
        if content is not None:
            said += [PartReceived(part_of_json(part)) for part in content.get("parts") or ()]
        if not candidate.keys() <= PLAIN_CANDIDATE_KEYS:
            said += _about_candidate(candidate)
    usage = chunk.get("usageMetadata")
    if usage is not None:
        said.append(UsageReported(_usage(usage)))
    return said


def _about_candidate(candidate: WireObject) -> Iterator[StreamEvent]:
    for name in METADATA:
        value = candidate.get(name)
        if value is not None:
            yield MetadataReported(name, sound_json(_as_named(name, value)))
    if candidate.get("finishReason") is not None:
        yield FinishReported(_text(candidate["finishReason"]), _text(candidate.get("finishMessage")))


def _as_named(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Metadata under the names of the newer API: the Developer API still says `citationSources`."""
    if name == "citationMetadata" and "citationSources" in value:
        return {"citations" if key == "citationSources" else key: item for key, item in value.items()}
    return value


def part_of_json(wire: WireObject) -> Part:
    """A part; what has no field in `Part` is in its `fields`, as it came."""
    if wire.keys() <= TEXT_KEYS and isinstance(wire.get("text"), str):
        kind = PartKind.THOUGHT if wire.get("thought") else PartKind.TEXT
        return Part(kind, text=sound(wire["text"]), thought_signature=_signature(wire))
    held = {key: value for key, value in wire.items() if value is not None and key != "thoughtSignature"}
    contents = [key for key in held if key in CONTENT_KEYS]
    if contents == ["text"]:
        kind = PartKind.THOUGHT if wire.get("thought") else PartKind.TEXT
        fields = {key: sound_json(value) for key, value in held.items() if key not in TEXT_KEYS}
        return Part(kind, text=_text(held["text"]), fields=fields, thought_signature=_signature(wire))
    if len(contents) != 1 or contents[0] not in KINDS:
        fields = {key: sound_json(value) for key, value in held.items()}
        return Part(PartKind.UNSUPPORTED, fields=fields, thought_signature=_signature(wire))
    return _held_part(held, contents[0], _signature(wire))


def _held_part(held: WireObject, key: str, signature: bytes | None) -> Part:
    kind = KINDS[key]
    content = {name: value for name, value in held[key].items() if value is not None}
    own: dict[str, Any] = {}
    for name, field in OWN_FIELDS[kind].items():
        if name in content:
            value = content.pop(name)
            own[field] = bytes_of(value) if field == "data" else _text(value)
    siblings = {name: value for name, value in held.items() if name != key}
    fields = {name: sound_json(value) for name, value in {**siblings, **content}.items()}
    return Part(kind, fields=fields, thought_signature=signature, **own)


def bytes_of(value: object) -> bytes:
    """Bytes of base64 in either alphabet, padded or not."""
    if not isinstance(value, str):
        raise TypeError(f"bytes come as base64, not as {type(value).__name__}")
    plain = value.translate(_STANDARD).rstrip("=")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


_STANDARD = str.maketrans("-_", "+/")


def _signature(wire: WireObject) -> bytes | None:
    value = wire.get("thoughtSignature")
    return None if value is None else bytes_of(value)


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"text comes as a string, not as {type(value).__name__}")
    return sound(value)


def _usage(wire: WireObject) -> Usage:
    # Spelled out: it comes with each chunk, and a loop would take twice as long.
    count = wire.get
    prompt, tool_use = count("promptTokenCount"), count("toolUsePromptTokenCount")
    thoughts, candidates = count("thoughtsTokenCount"), count("candidatesTokenCount")
    cached, total = count("cachedContentTokenCount"), count("totalTokenCount")
    for value in (prompt, tool_use, thoughts, candidates, cached, total):
        if value is not None and type(value) is not int:
            raise TypeError(f"a number of tokens comes as a whole number, not as {type(value).__name__}")
    return Usage(prompt, tool_use, thoughts, candidates, cached, total)
