"""What is asked: the body of a generation request, read as the real API reads it.

Takes camelCase and snake_case, standard and URL-safe base64. Anything malformed raises WireError with the
wording of the real API where it is known.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chat.emulator.wire import WireError, WireObject

_OPAQUE = frozenset({"args", "response", "parameters", "responseSchema", "responseJsonSchema", "parametersJsonSchema"})
"""Fields whose content is the user's own: their keys are no field names."""
_REQUEST_FIELDS = frozenset(
    {
        "cachedContent",
        "contents",
        "continuationToken",
        "generationConfig",
        "labels",
        "model",
        "modelArmorConfig",
        "safetySettings",
        "serviceTier",
        "store",
        "systemInstruction",
        "toolConfig",
        "tools",
    }
)
PART_DATA = frozenset(
    {
        "text",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "functionCall",
        "functionResponse",
        "toolCall",
        "toolResponse",
    }
)


@dataclass(frozen=True, slots=True)
class Call:
    """One generation that was asked for."""

    model: str
    contents: Sequence[WireObject]
    code_execution: bool
    include_thoughts: bool
    number: int
    """How many equal calls (model and contents) came before; 0 for the first."""
    response_id: str
    image_output: bool = False
    """Whether images may be answered."""
    is_continuation: bool = False
    """Whether it goes on with an answer that ended with CONTINUATION."""

    @property
    def prompt(self) -> str:
        """The text of the last user content that has any."""
        return next(iter(self.prompts()), "")

    def prompts(self) -> Iterator[str]:
        """The texts of user contents, newest first."""
        for content in reversed(self.contents):
            said = "\n".join(part["text"] for part in content["parts"] if part.get("text"))
            if content.get("role", "user") == "user" and said:
                yield said

    def parts(self) -> Iterator[WireObject]:
        """All parts, oldest first."""
        for content in self.contents:
            yield from content["parts"]


def read_body(data: bytes) -> WireObject:
    """Parse a request body into camelCase; raises WireError unless it is a JSON object."""
    try:
        body = _camel(json.loads(data))
    except ValueError as fault:
        raise WireError(400, f"Invalid JSON payload received. {fault}") from fault
    except RecursionError as fault:
        raise WireError(400, "Invalid JSON payload received. Nesting is too deep.") from fault
    if not isinstance(body, dict):
        raise WireError(400, 'Invalid JSON payload received. Unknown name "": Root element must be a message.')
    return body


def contents_of(body: WireObject) -> list[WireObject]:
    """The checked contents of a request, each with its parts and every base64 decodable."""
    for name in body:
        if name not in _REQUEST_FIELDS:
            raise WireError(400, f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    contents = body.get("contents")
    if isinstance(contents, dict):
        contents = [contents]
    if not isinstance(contents, list) or not contents:
        raise WireError(400, "* GenerateContentRequest.contents: contents is not specified\n")
    for number, content in enumerate(contents):
        _check_content(content, f"contents[{number}]")
    if contents[-1].get("role") == "model":
        raise WireError(400, "Requests ending with a model turn are not supported.")
    return contents


def has_code_execution(body: WireObject) -> bool:
    """Whether `tools` turns code execution on."""
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise WireError(400, "Invalid value at 'tools' (type.googleapis.com/google.ai.generativelanguage.v1beta.Tool)")
    return any("codeExecution" in tool for tool in tools)


def wants_thoughts(body: WireObject) -> bool:
    """Whether thought summaries were asked for."""
    config = body.get("generationConfig") or {}
    if not isinstance(config, dict):
        raise WireError(400, "Invalid value at 'generation_config', Root element must be a message.")
    thinking = config.get("thinkingConfig") or {}
    if not isinstance(thinking, dict):
        raise WireError(400, "Invalid value at 'generation_config.thinking_config', Root element must be a message.")
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        raise WireError(400, "You can only set only one of thinking budget and thinking level.")
    return bool(thinking.get("includeThoughts"))


def wants_images(body: WireObject) -> bool:
    """Whether `responseModalities` holds images."""
    config = body.get("generationConfig") or {}
    modalities = config.get("responseModalities") or []
    if not isinstance(modalities, list):
        raise WireError(400, "Invalid value at 'generation_config.response_modalities', should be a list.")
    return any(isinstance(modality, str) and modality.upper() == "IMAGE" for modality in modalities)


def instruction_of(body: WireObject) -> str:
    """The text of the system instruction; empty without one."""
    instruction = body.get("systemInstruction") or {}
    parts = instruction.get("parts") or [] if isinstance(instruction, dict) else [{"text": instruction}]
    said = [part.get("text") for part in (parts if isinstance(parts, list) else [parts]) if isinstance(part, dict)]
    return "\n".join(text for text in said if isinstance(text, str))


def decode_base64(value: str) -> bytes:
    """Bytes of standard or URL-safe base64, padded or not; raises ValueError on anything else."""
    plain = value.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as fault:
        raise ValueError(str(fault)) from fault


def _check_content(content: object, place: str) -> None:
    if not isinstance(content, dict):
        raise WireError(400, f"Invalid value at '{place}', Root element must be a message.")
    if content.get("role", "user") not in ("user", "model", "function"):
        raise WireError(400, "Please use a valid role: user, model.")
    parts = content.get("parts")
    if isinstance(parts, dict):
        parts = content["parts"] = [parts]
    if not isinstance(parts, list) or not parts:
        raise WireError(400, f"* GenerateContentRequest.{place}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(parts):
        _check_part(part, f"{place}.parts[{number}]")


def _check_part(part: object, place: str) -> None:
    if not isinstance(part, dict):
        raise WireError(400, f"Invalid value at '{place}', Root element must be a message.")
    if not part.keys() & PART_DATA and "thoughtSignature" not in part:
        raise WireError(
            400, f"* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field\n"
        )
    if not isinstance(part.get("text", ""), str):
        raise WireError(400, f"Invalid value at '{place}.text' (TYPE_STRING), {json.dumps(part['text'])}")
    for name in part.keys() & (PART_DATA - {"text"}):
        if not isinstance(part[name], dict):
            raise WireError(400, f"Invalid value at '{place}.{name}', Root element must be a message.")
    if "inlineData" in part:
        _check_base64(part["inlineData"].get("data", ""), f"{place}.inline_data.data")
    if "thoughtSignature" in part:
        _check_base64(part["thoughtSignature"], f"{place}.thought_signature")


def _check_base64(value: object, place: str) -> None:
    shown = json.dumps(value)[:60]
    if not isinstance(value, str):
        raise WireError(400, f"Invalid value at '{place}' (TYPE_BYTES), {shown}")
    try:
        decode_base64(value)
    except ValueError as fault:
        raise WireError(400, f"Invalid value at '{place}' (TYPE_BYTES), Base64 decoding failed for {shown}") from fault


def _camel(value: object) -> object:
    if isinstance(value, Mapping):
        named = {re.sub(r"_([a-z0-9])", lambda hit: hit[1].upper(), key): inner for key, inner in value.items()}
        return {key: inner if key in _OPAQUE else _camel(inner) for key, inner in named.items()}
    if isinstance(value, list):
        return [_camel(inner) for inner in value]
    return value
