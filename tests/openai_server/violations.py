"""Finds every mistake in a request. `refusals.toml` says which servers refuse which of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.openai_server.model_names import NO_TOOLS, TEXT_ONLY, ModelName

CHARS_PER_TOKEN = 4
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
SAMPLING_FIELDS = ("temperature", "top_p", "stop", "presence_penalty", "frequency_penalty", "logprobs")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MISTRAL_CALL_ID = re.compile(r"[a-zA-Z0-9]{9}")
REASONING_MODEL = re.compile(r"gpt-5|o\d")
"""Traits of OpenAI's reasoning models begin like this."""
COMMON_FIELDS = frozenset({"role", "content", "name"})
MESSAGE_FIELDS: Mapping[str, frozenset[str]] = {
    "system": COMMON_FIELDS,
    "developer": COMMON_FIELDS,
    "user": COMMON_FIELDS,
    "assistant": COMMON_FIELDS | {"tool_calls", "refusal", "audio", "function_call"},
    "tool": frozenset({"role", "content", "tool_call_id"}),
}

Message: TypeAlias = Mapping[str, Any]
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """A mistake in a request."""

    rule: str
    """The name of the mistake in `refusals.toml`."""
    path: Path = ()
    """Where in the request it is."""
    value: object = None
    """What is there."""
    words: Mapping[str, object] = field(default_factory=dict)
    """Further values for the placeholders of the server's message."""


def violations(body: Mapping[str, Any], model: ModelName, fields: frozenset[str]) -> Iterator[Violation]:
    """Yield every mistake in a request. `fields`: those that the server knows, at the top level."""
    messages = body.get("messages") or []
    yield from _unknown_fields(body, messages, fields)
    yield from _tool_violations(body, model)
    yield from _parameter_violations(body, model)
    if not messages:
        yield Violation("empty-messages", ("messages",))
    for position, message in enumerate(messages):
        yield from _message_violations(position, message, model, body.get("thinking") != {"type": "disabled"})
        yield from _image_violations(position, message, model)
    yield from _call_violations(messages)
    yield from _order_violations(messages)
    limit, tokens = model.context_tokens, count_tokens(body)
    if limit is not None and tokens > limit:
        yield Violation("long-context", ("messages",), None, {"limit": limit, "tokens": tokens})


def count_tokens(body: Mapping[str, Any]) -> int:
    """Return the number of tokens of a request, as this server counts them."""
    return len(json.dumps(body.get("messages"))) // CHARS_PER_TOKEN


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Return the function calls of a message."""
    return message.get("tool_calls") or []


def image_urls(message: Message) -> list[str]:
    """Return the URLs of the images in a message."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]


def _calls(messages: Sequence[Message]) -> Iterator[tuple[int, Path, dict[str, Any]]]:
    for position, message in enumerate(messages):
        for number, call in enumerate(calls_of(message)):
            yield position, ("messages", position, "tool_calls", number), call


def _unknown_fields(
    body: Mapping[str, Any], messages: Sequence[Message], fields: frozenset[str]
) -> Iterator[Violation]:
    owners: list[tuple[Path, Mapping[str, Any], frozenset[str]]] = [((), body, fields)]
    for position, message in enumerate(messages):
        owners.append((("messages", position), message, MESSAGE_FIELDS.get(message["role"], frozenset(message))))
    for _, path, call in _calls(messages):
        owners.append((path, call, frozenset({"id", "type", "function"})))
        owners.append(((*path, "function"), call["function"], frozenset({"name", "arguments"})))
    for path, owner, known in owners:
        for name in sorted(owner.keys() - known):
            yield Violation("unknown-field", (*path, name), owner[name])


def _tool_violations(body: Mapping[str, Any], model: ModelName) -> Iterator[Violation]:
    choice, tools = body.get("tool_choice"), body.get("tools") or []
    if choice is not None and not tools:
        yield Violation("choice-without-tools", ("tool_choice",))
    if choice not in (None, "auto", "none"):
        yield Violation("forced-choice", ("tool_choice",))
    if "tools" in body and not tools:
        yield Violation("empty-tools", ("tools",), [])
    if "tools" in body and NO_TOOLS in model.traits:
        yield Violation("tools", ("tools",))
    if tools and "gpt-5.6" in model.traits and body.get("reasoning_effort") != "none":
        yield Violation("tools-with-effort", ("reasoning_effort",))
    for number, tool in enumerate(tools):
        name = tool["function"]["name"]
        if not TOOL_NAME.fullmatch(name):
            yield Violation("tool-name", ("tools", number, "function", "name"), name)
        if name == "python":
            yield Violation("tool-named-python", ("tools",), name)


def _parameter_violations(body: Mapping[str, Any], model: ModelName) -> Iterator[Violation]:
    if any(REASONING_MODEL.match(trait) for trait in model.traits):
        if "max_tokens" in body:
            yield Violation("max-tokens", ("max_tokens",), body["max_tokens"])
        for name in SAMPLING_FIELDS:
            if body.get(name, 1) != 1:
                yield Violation("sampling", (name,), body[name])
    if "no-usage-option" in model.traits and "stream_options" in body:
        yield Violation("usage-option", ("stream_options",), body["stream_options"])


def _message_violations(position: int, message: Message, model: ModelName, is_thinking: bool) -> Iterator[Violation]:
    role, content, path = message.get("role"), message.get("content"), ("messages", position)
    if role not in ROLES:
        yield Violation("role", (*path, "role"), role)
    if role in ("system", "developer"):
        if "o1-mini" in model.traits:
            yield Violation("system-role", (*path, "role"), role)
        if position:
            yield Violation("late-system", (*path, "role"), role)
    if role == "assistant" and is_thinking and "reasoning_content" not in message:
        yield Violation("no-reasoning", path)
    if not isinstance(content, str | list) and not (content is None and calls_of(message)):
        name = "null" if content is None else type(content).__name__
        yield Violation("content", (*path, "content"), content, {"found": name})
    if "tool_calls" in message and not message["tool_calls"]:
        yield Violation("empty-calls", (*path, "tool_calls"))


def _image_violations(position: int, message: Message, model: ModelName) -> Iterator[Violation]:
    for number, url in enumerate(image_urls(message)):
        path = ("messages", position, "content", number)
        yield Violation("image", path)
        if TEXT_ONLY in model.traits:
            yield Violation("image-for-text-model", path)
        if message["role"] != "user":
            yield Violation("image-role", path, message["role"])
        if not url.startswith("data:image/") or ";base64," not in url:
            yield Violation("image-address", path)


def _call_violations(messages: Sequence[Message]) -> Iterator[Violation]:
    first_positions: dict[str, int] = {}
    for position, path, call in _calls(messages):
        call_id, arguments = str(call.get("id") or ""), call["function"].get("arguments")
        if not call_id or call_id in first_positions:
            words = {"first": first_positions.get(call_id, position)}
            yield Violation("call-id-repeated", (*path, "id"), call_id, words)
        first_positions.setdefault(call_id, position)
        if not MISTRAL_CALL_ID.fullmatch(call_id):
            yield Violation("call-id-form", (*path, "id"), call_id)
        try:
            reason = "" if isinstance(json.loads(arguments), dict) else "not an object"
        except (TypeError, ValueError) as error:
            reason = str(error)
        if reason:
            yield Violation("arguments", (*path, "function", "arguments"), arguments, {"reason": reason})


def _order_violations(messages: Sequence[Message]) -> Iterator[Violation]:
    """Yield a violation for each call without its result, and for each result without its call."""
    open_ids: list[str] = []
    last_role = ""
    # The empty message stands for the end.
    for position, message in enumerate([*messages, {}]):
        role, path, call_id = message.get("role", ""), ("messages", position, "role"), message.get("tool_call_id")
        if role == "tool" and call_id in open_ids:
            open_ids.remove(call_id)
        elif role == "tool":
            yield Violation("result-without-call", path, role, {"last": last_role})
        else:
            if open_ids:
                yield Violation("call-unanswered", path, role, {"ids": ", ".join(open_ids)})
            elif (last_role, role) == ("assistant", ""):
                yield Violation("assistant-last", path)
            if (last_role, role) == ("tool", "user"):
                yield Violation("user-after-tool", path, role, {"last": last_role})
            open_ids = [str(call.get("id")) for call in calls_of(message)]
        last_role = role
