"""Translates requests and response chunks of `streamGenerateContent`. Pure.

Source: ai.google.dev/api/generate-content. A chunk that does not follow the protocol raises ValueError, TypeError,
LookupError or AttributeError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from chat.providers.google.field_names import with_api_names
from chat.providers.google.wire_parts import own_call_id, part_from_wire, part_to_wire
from chat.providers.reasons import GOOGLE_REFUSALS, clean_reason
from chat.providers.requests import BuiltInTool, Content, FunctionTool, GenerateRequest, ToolChoice
from chat.providers.untrusted_json import WireObject, as_object, as_objects
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.parts import JSON, FunctionCall, JSONObject, Role
from chat.vocabulary.stream_events import (
    CONTINUATION_TOKEN,
    Finish,
    Finished,
    MetadataReported,
    PartReceived,
    ResponseIdentified,
    Source,
    SourcesReported,
    StreamEvent,
    Usage,
    UsageReported,
)

FINISHES: Mapping[str, Finish] = {
    **GOOGLE_REFUSALS,
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    "CONTINUATION": Finish.CONTINUATION,
    "MODEL_ARMOR": Finish.POLICY,
    "ESCALATION": Finish.ESCALATION,
    "OTHER": Finish.BLOCKED,
    "IMAGE_SAFETY": Finish.IMAGE_SAFETY,
    "IMAGE_PROHIBITED_CONTENT": Finish.IMAGE_PROHIBITED_CONTENT,
    "IMAGE_RECITATION": Finish.IMAGE_RECITATION,
    "IMAGE_OTHER": Finish.IMAGE_WITHHELD,
    "NO_IMAGE": Finish.NO_IMAGE,
    "TOO_MANY_TOOL_CALLS": Finish.TOO_MANY_TOOL_CALLS,
    "MISSING_THOUGHT_SIGNATURE": Finish.MISSING_SIGNATURE,
}
"""Finish reasons of answers and block reasons of prompts. Google adds words without notice."""

REASON_LIMIT_CHARS = 200
"""Maximum length of a finish reason; a longer one is cut."""

METADATA = ("safetyRatings", "citationMetadata", "groundingMetadata", "urlContextMetadata", CONTINUATION_TOKEN)

TOKEN_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "thoughtsTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    "totalTokenCount",
)
"""Names of token counts, in the order of the fields of `Usage`."""

PLAIN_CANDIDATE_KEYS = frozenset({"content", "index"})
"""Keys of most candidates of a stream. A candidate without other keys has no metadata."""

BUILT_IN_TOOLS = {CODE_EXECUTION: "codeExecution", WEB_SEARCH: "googleSearch", URL_CONTEXT: "urlContext"}
TOOL_CHOICES = {ToolChoice.AUTO: "AUTO", ToolChoice.NONE: "NONE", ToolChoice.REQUIRED: "ANY"}
STANDARD_TIER = "standard"
"""The service tier of requests that name none."""


def request_body(
    request: GenerateRequest, *, refuses_storage: bool = False, service_tier: str = STANDARD_TIER
) -> bytes:
    """Return the JSON body. Raises ValueError for a thinking level beside a budget, which the API refuses.

    `refuses_storage`: whether the body asks Google not to keep prompt and answer. Vertex AI does not know that field.
    Fields that change from request to request come last, so that the beginning can be cached.
    """
    body: dict[str, object] = {}
    if request.system_instruction:
        body["systemInstruction"] = {"parts": [{"text": request.system_instruction}], "role": "user"}
    body |= _tools_to_wire(request)
    body["generationConfig"] = _generation_config(request)
    if refuses_storage:
        body["store"] = False
    if service_tier != STANDARD_TIER:
        body["serviceTier"] = service_tier
    body["contents"] = _with_state(list(_contents_to_wire(request.contents)), request.state)
    if request.continuation_token:
        body[CONTINUATION_TOKEN] = request.continuation_token
    return json.dumps(body).encode()


def _contents_to_wire(contents: Iterable[Content]) -> Iterator[WireObject]:
    """Yield the contents. A content without a part to send is left out."""
    call_ids: dict[str, str] = {}
    for content in contents:
        # Another answer may have used the same id. A response belongs to the last call with its id.
        call_ids |= {
            part.call_id: own_call_id(part) if content.is_own else ""
            for part in content.parts
            if isinstance(part, FunctionCall)
        }
        wire_parts = [part_to_wire(part, is_own=content.is_own, call_ids=call_ids) for part in content.parts]
        sent = [wire for wire in wire_parts if wire is not None]
        if sent:
            yield {"parts": sent, "role": content.role.value}


def _with_state(contents: list[WireObject], state: str) -> list[WireObject]:
    """Return the contents with the state of the tools at their end.

    Function responses and the state are one content, because a separate content would be a new question.
    """
    if not state:
        return contents
    part = {"text": state}
    if not contents or contents[-1]["role"] != Role.USER.value:
        return [*contents, {"parts": [part], "role": Role.USER.value}]
    return [*contents[:-1], {**contents[-1], "parts": [*contents[-1]["parts"], part]}]


def _tools_to_wire(request: GenerateRequest) -> JSONObject:
    """Return `tools` and `toolConfig`.

    Each built-in tool has its own entry, and all functions share one: the API demands this for combined tools.
    """
    built_in = [tool for tool in request.tools if isinstance(tool, BuiltInTool)]
    tools: list[JSON] = [{BUILT_IN_TOOLS[tool.name]: {}} for tool in built_in]
    if not request.functions:
        return {"tools": tools} if tools else {}
    declarations: list[JSON] = [_declaration(function) for function in request.functions]
    config: JSONObject = {}
    if not built_in or request.tool_choice is not ToolChoice.AUTO:
        # Beside built-in tools, AUTO is left out: the API does not take it, and has a default mode of its own.
        config["functionCallingConfig"] = {"mode": TOOL_CHOICES[request.tool_choice]}
    if built_in:
        # Without it the API answers 400 to functions beside its own tools.
        config["includeServerSideToolInvocations"] = True
    return {"tools": [*tools, {"functionDeclarations": declarations}], "toolConfig": config}


def _declaration(function: FunctionTool) -> JSONObject:
    declaration: JSONObject = {"name": function.name, "description": function.description}
    if function.parameters:
        declaration["parametersJsonSchema"] = dict(function.parameters)
    return declaration


def _generation_config(request: GenerateRequest) -> JSONObject:
    """Return the fields that the request sets. Newer models refuse some fields even with their default value."""
    config: JSONObject = {
        "temperature": request.temperature,
        "maxOutputTokens": request.max_output_tokens,
        "responseModalities": ["TEXT", "IMAGE"] if request.image_output else None,
        "thinkingConfig": _thinking_config(request) or None,
    }
    return {name: value for name, value in config.items() if value is not None}


def _thinking_config(request: GenerateRequest) -> JSONObject:
    """Return `thinkingConfig`.

    Thoughts are not requested from models that answer with images, nor if thinking is off: some models answer 400,
    `Thinking is not enabled for this model` or `include_thoughts is only enabled when thinking is enabled`.
    """
    thinking = request.thinking
    if thinking.level and thinking.budget_tokens is not None:
        raise ValueError("A thinking level and a thinking budget cannot be set together.")
    config: JSONObject = {}
    if thinking.include_thoughts and not request.image_output and thinking.budget_tokens != 0:
        config["includeThoughts"] = True
    if thinking.level:
        config["thinkingLevel"] = thinking.level.value.upper()
    if thinking.budget_tokens is not None:
        config["thinkingBudget"] = thinking.budget_tokens
    return config


class ChunkDecoder:
    """Turns the chunks of one response into stream events."""

    def __init__(self, api_key: str = "") -> None:
        """`api_key`: the key, which is removed from finish messages of the API."""
        self._api_key = api_key
        self._identity = ResponseIdentified("", "")

    def decode(self, chunk: WireObject) -> Iterator[StreamEvent]:
        """Yield the events of one chunk: identity, blocked prompt, parts in order, metadata, finish, usage."""
        chunk = with_api_names(chunk)
        identity = ResponseIdentified(
            str(chunk.get("responseId") or self._identity.response_id),
            str(chunk.get("modelVersion") or self._identity.model_version),
        )
        if identity != self._identity:
            # Every chunk repeats the identity, so it is yielded only if it is new.
            self._identity = identity
            yield identity
        feedback = chunk.get("promptFeedback")
        if feedback is not None:
            if feedback.get("blockReason") is not None:
                yield self._finished(feedback["blockReason"], feedback.get("blockReasonMessage"))
            yield MetadataReported("promptFeedback", feedback)
        for position, candidate in enumerate(chunk.get("candidates") or ()):
            # A request asks for one candidate. A server may send more, also in chunks of their own.
            index = candidate.get("index")
            if _whole_number(position if index is None else index) == 0:
                yield from _candidate_events(candidate)
                if candidate.get("finishReason") is not None:
                    yield self._finished(candidate["finishReason"], candidate.get("finishMessage"))
        usage = chunk.get("usageMetadata")
        if usage is not None:
            yield UsageReported(_usage(usage), usage)

    def end(self) -> Iterator[StreamEvent]:
        """Yield nothing, because every chunk is complete."""
        return iter(())

    def _finished(self, reason: object, message: object) -> Finished:
        if not isinstance(reason, str):
            raise TypeError(f"a finish reason must be a string, not {type(reason).__name__}")
        finish = FINISHES.get(reason, Finish.UNKNOWN)
        return Finished(finish, reason[:REASON_LIMIT_CHARS], clean_reason(str(message or ""), self._api_key))


def _candidate_events(candidate: WireObject) -> Iterator[StreamEvent]:
    content = candidate.get("content")
    if content is not None:
        for part in content.get("parts") or ():
            yield PartReceived(part_from_wire(part))
    if candidate.keys() <= PLAIN_CANDIDATE_KEYS:
        return
    for name in METADATA:
        value = candidate.get(name)
        if value is not None:
            yield MetadataReported(name, value)
            if name in ("groundingMetadata", "urlContextMetadata"):
                yield sources_in(name, value)


def _usage(wire: WireObject) -> Usage:
    usage = Usage(*(_whole_number(wire.get(name)) for name in TOKEN_COUNTS))
    counts = (usage.prompt, usage.tool_use, usage.thoughts, usage.candidates)
    # Some gateways leave out the total.
    return replace(usage, total=sum(count or 0 for count in counts)) if usage.total is None and any(counts) else usage


def _whole_number(value: object) -> int | None:
    """Return a number or `None`. Gateways may write a number as `10.0` or `"10"`."""
    if isinstance(value, str):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is not None and type(value) is not int:
        raise TypeError(f"there must be a whole number, not {value!r}")
    return value


def sources_in(name: str, metadata: object) -> SourcesReported:
    """Return the web pages and searches that a metadata object names. Ignores everything of another form.

    Source: groundingMetadata and urlContextMetadata of ai.google.dev/api/generate-content.
    """
    wire = as_object(metadata)
    sources = [
        Source(str(web.get("uri") or ""), str(web.get("title") or ""))
        for chunk in as_objects(wire.get("groundingChunks"))
        for web in [as_object(chunk.get("web") or chunk.get("retrievedContext") or chunk.get("maps"))]
    ]
    sources += [
        Source(str(page.get("retrievedUrl") or ""))
        for page in as_objects(wire.get("urlMetadata"))
        if str(page.get("urlRetrievalStatus", "")).endswith("_SUCCESS")
    ]
    queries = wire.get("webSearchQueries")
    searches = [query for query in queries if isinstance(query, str)] if isinstance(queries, list) else []
    return SourcesReported(name, tuple(source for source in sources if source.url), tuple(searches))
