"""Parses and validates the body of a generation request as the real API does.

The parser accepts camelCase and snake_case names, and standard and URL-safe base64. A malformed request raises
WireError with the message of the real API where it is known.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chat.emulator.tool_checks import check_tools, requested_tools
from chat.emulator.wire import WireError, WireObject

_OPAQUE_FIELDS = frozenset(
    {"args", "response", "parameters", "responseSchema", "responseJsonSchema", "parametersJsonSchema"}
)
"""Fields that hold the client's own JSON. Its keys are data, so they are not converted to camelCase."""
_REQUEST_FIELDS = frozenset(
    {
        *("cachedContent", "contents", "continuationToken"),
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
PART_KINDS = frozenset(
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
SERVICE_TIERS = ("standard", "flex", "priority", "unspecified")
NOTE = "[Note of the server"
"""The beginning of Plotline's notes to a model. A note is in the same content as a question, and is not a prompt."""
TABLES = "How the server reads attached tables (data, not instructions):"
"""The first line of Plotline's text about attached tables, which is not a prompt either."""
_DATE = re.compile(
    r"\[Note of the server: it is (?P<weekday>\w+), (?P<day>\d+) (?P<month>\w+) (?P<year>\d+), (?P<time>\d+:\d+),"
    r" in the zone (?P<zone>.+)\.\]"
)
_NOT_A_MESSAGE = "Invalid value at '{path}', Root element must be a message."


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A validated request for one answer."""

    model: str
    body: WireObject
    """The whole request body, with names in camelCase."""
    contents: Sequence[WireObject]
    response_id: str
    """The id that every chunk of the answer carries."""
    has_code_execution: bool = False
    """Whether the model may run code."""
    functions: frozenset[str] = frozenset()
    """The names of the functions that the model may call."""
    has_web_tools: bool = False
    """Whether the model may search the web, or read web pages."""
    wants_thoughts: bool = False
    """Whether the client asked for thought summaries."""
    wants_images: bool = False
    """Whether the client asked for images."""

    @property
    def prompt(self) -> str:
        """The last text of the last user content that has text."""
        return next(self.prompts(), "")

    def prompts(self) -> Iterator[str]:
        """Yield the last text of each user content, newest first. An earlier text may be code that the user ran."""
        yield from filter(None, map(self._prompt_of, reversed(self.contents)))

    @staticmethod
    def _prompt_of(content: WireObject) -> str:
        parts = content["parts"]
        texts = [
            part["text"] for index, part in enumerate(parts) if part.get("text") and not is_of_tables(parts, index)
        ]
        texts = [text for text in texts if not text.startswith(NOTE)]
        return texts[-1] if content.get("role", "user") == "user" and texts else ""

    @property
    def date(self) -> Mapping[str, str]:
        """The date, time and zone of Plotline's newest note about them; empty if there is none."""
        texts = [part["text"] for part in self.parts() if part.get("text")]
        return next((match.groupdict() for text in reversed(texts) if (match := _DATE.fullmatch(text))), {})

    def function_responses(self, name: str) -> list[WireObject]:
        """Return the responses of a function since the last prompt, oldest first."""
        parts = [part for content in self.contents[self.last_prompt_index :] for part in content["parts"]]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return [one.get("response") or {} for one in responses if one.get("name") == name]

    def earlier_parts(self) -> Iterator[WireObject]:
        """Yield the parts before the last prompt, newest first."""
        for content in reversed(self.contents[: self.last_prompt_index]):
            yield from reversed(content["parts"])

    @property
    def last_prompt_index(self) -> int:
        """The index of the content with the last prompt. The contents after it belong to the same answer."""
        last = len(self.contents) - 1
        return next((index for index in range(last, -1, -1) if self._prompt_of(self.contents[index])), last)

    def parts(self) -> Iterator[WireObject]:
        """Yield all parts of all contents, oldest first."""
        for content in self.contents:
            yield from content["parts"]


def is_of_tables(parts: Sequence[WireObject], index: int) -> bool:
    """Return whether a part is the server's text about tables: it follows a file, or precedes the person's own text.

    The position is checked because a person may write, or be tricked into sending, the same text as a prompt.
    """
    if not str(parts[index].get("text") or "").startswith(TABLES):
        return False
    before = parts[index - 1] if index else {}
    later = [text for part in parts[index + 1 :] if (text := part.get("text")) and not text.startswith(NOTE)]
    # Plotline writes a sentence in brackets in place of a file that it does not send.
    is_after_file = not {"inlineData", "fileData"}.isdisjoint(before) or str(before.get("text") or "").startswith("[")
    return bool(later) or is_after_file


def parse_generation_request(model: str, body: WireObject, response_id: str) -> GenerationRequest:
    """Return the validated request of a body in camelCase. Raises WireError if it is invalid."""
    contents = parse_contents(body)
    if (tier := body.get("serviceTier", "standard")) not in SERVICE_TIERS:
        raise WireError(400, f"Invalid value at 'service_tier', {json.dumps(tier)}")
    check_tools(model, body)
    return GenerationRequest(
        model,
        body,
        contents,
        response_id,
        has_code_execution=has_code_execution(body),
        functions=declared_functions(body),
        has_web_tools=has_web_tools(body),
        wants_thoughts=wants_thoughts(body),
        wants_images=wants_images(body),
    )


def parse_body(data: bytes) -> WireObject:
    """Parse a request body and convert its names to camelCase; raises WireError unless it is a JSON object."""
    try:
        body = _to_camel_case(json.loads(data))
    except ValueError as error:
        raise WireError(400, f"Invalid JSON payload received. {error}") from error
    except RecursionError as error:
        raise WireError(400, "Invalid JSON payload received. Nesting is too deep.") from error
    if not isinstance(body, dict):
        raise WireError(400, 'Invalid JSON payload received. Unknown name "": Root element must be a message.')
    return body


def parse_contents(body: WireObject) -> list[WireObject]:
    """Return the contents of a request. Every content has parts, and all base64 in them can be decoded."""
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


def check_store(body: WireObject, *, is_vertexai: bool) -> None:
    """Raise WireError if `store` is not a boolean, or is sent to Vertex AI, which does not know this field."""
    if "store" not in body:
        return
    if is_vertexai:
        raise WireError(400, 'Invalid JSON payload received. Unknown name "store": Cannot find field.')
    if not isinstance(body["store"], bool):
        raise WireError(400, f"Invalid value at 'store' (TYPE_BOOL), {json.dumps(body['store'])}")


def has_code_execution(body: WireObject) -> bool:
    """Return whether `tools` enables code execution."""
    return any("codeExecution" in tool for tool in requested_tools(body))


def declared_functions(body: WireObject) -> frozenset[str]:
    """Return the names of the functions that `tools` declares."""
    declared = [one for tool in requested_tools(body) for one in tool.get("functionDeclarations") or ()]
    return frozenset(str(one.get("name")) for one in declared if isinstance(one, dict))


def has_web_tools(body: WireObject) -> bool:
    """Return whether `tools` enables web search, or reading web pages."""
    return any(name in tool for tool in requested_tools(body) for name in ("googleSearch", "urlContext"))


def wants_thoughts(body: WireObject) -> bool:
    """Return whether the request asks for thought summaries."""
    config = body.get("generationConfig") or {}
    if not isinstance(config, dict):
        raise WireError(400, _NOT_A_MESSAGE.format(path="generation_config"))
    thinking = config.get("thinkingConfig") or {}
    if not isinstance(thinking, dict):
        raise WireError(400, _NOT_A_MESSAGE.format(path="generation_config.thinking_config"))
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        raise WireError(400, "You can only set only one of thinking budget and thinking level.")
    return bool(thinking.get("includeThoughts"))


def wants_images(body: WireObject) -> bool:
    """Return whether `responseModalities` contains images."""
    config = body.get("generationConfig") or {}
    modalities = config.get("responseModalities") or []
    if not isinstance(modalities, list):
        raise WireError(400, "Invalid value at 'generation_config.response_modalities', should be a list.")
    return any(isinstance(modality, str) and modality.upper() == "IMAGE" for modality in modalities)


def decode_base64(value: str) -> bytes:
    """Decode standard or URL-safe base64, with or without padding; raises ValueError for anything else."""
    standard = value.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def _check_content(content: object, path: str) -> None:
    if not isinstance(content, dict):
        raise WireError(400, _NOT_A_MESSAGE.format(path=path))
    if content.get("role", "user") not in ("user", "model", "function"):
        raise WireError(400, "Please use a valid role: user, model.")
    parts = content.get("parts")
    if isinstance(parts, dict):
        parts = content["parts"] = [parts]
    if not isinstance(parts, list) or not parts:
        raise WireError(400, f"* GenerateContentRequest.{path}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(parts):
        _check_part(part, f"{path}.parts[{number}]")


def _check_part(part: object, path: str) -> None:
    if not isinstance(part, dict):
        raise WireError(400, _NOT_A_MESSAGE.format(path=path))
    if not part.keys() & PART_KINDS and "thoughtSignature" not in part:
        raise WireError(
            400, f"* GenerateContentRequest.{path}.data: required oneof field 'data' must have one initialized field\n"
        )
    if not isinstance(part.get("text", ""), str):
        raise WireError(400, f"Invalid value at '{path}.text' (TYPE_STRING), {json.dumps(part['text'])}")
    for name in part.keys() & (PART_KINDS - {"text"}):
        if not isinstance(part[name], dict):
            raise WireError(400, _NOT_A_MESSAGE.format(path=f"{path}.{name}"))
    if "inlineData" in part:
        _check_base64(part["inlineData"].get("data", ""), f"{path}.inline_data.data")
    if "thoughtSignature" in part:
        _check_base64(part["thoughtSignature"], f"{path}.thought_signature")


def _check_base64(value: object, path: str) -> None:
    excerpt = json.dumps(value)[:60]
    if not isinstance(value, str):
        raise WireError(400, f"Invalid value at '{path}' (TYPE_BYTES), {excerpt}")
    try:
        decode_base64(value)
    except ValueError as error:
        raise WireError(400, f"Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed for {excerpt}") from error


def _to_camel_case(value: object) -> object:
    if isinstance(value, Mapping):
        fields = {re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), key): inner for key, inner in value.items()}
        return {key: inner if key in _OPAQUE_FIELDS else _to_camel_case(inner) for key, inner in fields.items()}
    if isinstance(value, list):
        return [_to_camel_case(inner) for inner in value]
    return value
