"""The JSON body of a request, past the SDK's models; pure.

Equal to what the SDK makes of `contents_of` and `config_of`, at a tenth of its 3 ms: it goes through every field of its
models, and through all fields of a model for each.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from chat.parts import Content, GenerateRequest, Part, PartKind
from chat.providers.gemini_wire import HOLDERS, OWN_FIELDS, sdk_part_of, thinking_of, tools_of

#: Kinds without fields of their own hold nothing that the SDK might not know.
PLAIN_KINDS = frozenset({PartKind.TEXT, PartKind.EXECUTABLE_CODE, PartKind.CODE_EXECUTION_RESULT, PartKind.INLINE_DATA})


def body_of(request: GenerateRequest) -> bytes:
    """The body, encoded. Raises as `config_of` does."""
    body: dict[str, Any] = {"contents": [told for content in request.contents if (told := _content(content))]}
    if request.system_instruction:
        body["systemInstruction"] = {"parts": [{"text": request.system_instruction}], "role": "user"}
    if tools := tools_of(request):
        body["tools"] = [{name: {}} for name in tools]
    body["generationConfig"] = _generation(request)
    return json.dumps(body).encode()


def _content(content: Content) -> dict[str, Any]:
    """Empty where nothing of it is sent."""
    parts = [told for part in content.parts if (told := _part(part)) is not None]
    return {"parts": parts, "role": content.role.value} if parts else {}


def _part(part: Part) -> dict[str, Any] | None:
    if part.fields or part.kind not in PLAIN_KINDS:
        # The SDK knows what of it can be sent.
        sdk = sdk_part_of(part)
        return None if sdk is None else sdk.model_dump(mode="json", by_alias=True, exclude_none=True)
    told: dict[str, Any]
    if part.kind is PartKind.TEXT:
        told = {"text": part.text or ""}
    else:
        held = {key: getattr(part, name) for key, name in OWN_FIELDS[part.kind].items()}
        content = {
            key: _base64(value) if isinstance(value, bytes) else value
            for key, value in held.items()
            if value is not None and (value != "" or OWN_FIELDS[part.kind][key] == "text")
        }
        told = {HOLDERS[part.kind][1]: content}
    if part.thought_signature is not None:
        told["thoughtSignature"] = _base64(part.thought_signature)
    return told


def _generation(request: GenerateRequest) -> dict[str, Any]:
    thinking = thinking_of(request)
    told = {
        "temperature": request.temperature,
        "maxOutputTokens": request.max_output_tokens,
        "responseModalities": ["TEXT", "IMAGE"] if request.image_output else None,
        "thinkingConfig": thinking or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _base64(data: bytes) -> str:
    """As the SDK writes bytes."""
    return base64.urlsafe_b64encode(data).decode("ascii")
