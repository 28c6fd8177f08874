"""Finds everything that is wrong with a request. Whether that matters is the profile's decision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.openai_server import model_names
from tests.openai_server.history_violations import calls_of, history_violations
from tests.openai_server.model_names import ModelName
from tests.openai_server.rules import Rule, Violation

KEY = "sk-stand-in"
"""The key that servers which need one accept."""
SAMPLING_FIELDS = ("temperature", "top_p", "stop", "presence_penalty", "frequency_penalty", "logprobs")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CHARS_PER_TOKEN = 4

MESSAGE_FIELDS: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "refusal", "audio", "function_call"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
CALL_FIELDS = frozenset({"id", "type", "function"})
FUNCTION_FIELDS = frozenset({"name", "arguments"})


def violations(body: Mapping[str, Any], model: ModelName, top_level_fields: frozenset[str]) -> Iterator[Violation]:
    """Yield every violation in a request. `top_level_fields`: those that the server knows."""
    yield from _field_violations(body, top_level_fields)
    yield from _tool_violations(body, model)
    yield from _parameter_violations(body, model)
    yield from history_violations(body.get("messages") or [])
    limit = model.context_tokens
    tokens = count_tokens(body)
    if limit is not None and tokens > limit:
        yield Violation(Rule.CONTEXT, {"limit": limit, "tokens": tokens}, ("messages",))


def count_tokens(body: Mapping[str, Any]) -> int:
    """Return the number of tokens of a request, as this server counts them."""
    return len(json.dumps(body.get("messages"))) // CHARS_PER_TOKEN


def _field_violations(body: Mapping[str, Any], top_level_fields: frozenset[str]) -> Iterator[Violation]:
    for name in sorted(body.keys() - top_level_fields):
        yield _field_violation(body, (name,))
    for position, message in enumerate(body.get("messages") or []):
        known = MESSAGE_FIELDS.get(message.get("role"), frozenset(message))
        for name in sorted(message.keys() - known):
            yield _field_violation(message, ("messages", position, name))
        for number, call in enumerate(calls_of(message)):
            path = ("messages", position, "tool_calls", number)
            for name in sorted(call.keys() - CALL_FIELDS):
                yield _field_violation(call, (*path, name))
            function = call.get("function", {})
            for name in sorted(function.keys() - FUNCTION_FIELDS):
                yield _field_violation(function, (*path, "function", name))


def _field_violation(owner: Mapping[str, Any], path: tuple[str | int, ...]) -> Violation:
    return Violation(Rule.FIELD, {}, path, owner[str(path[-1])])


def _tool_violations(body: Mapping[str, Any], model: ModelName) -> Iterator[Violation]:
    choice = body.get("tool_choice")
    if choice is not None and not body.get("tools"):
        yield Violation(Rule.CHOICE_HAS_TOOLS, {}, ("tool_choice",), choice)
    if choice not in (None, "auto", "none"):
        yield Violation(Rule.FORCED_CHOICE, {}, ("tool_choice",), choice)
    if "tools" not in body:
        return
    if not body["tools"]:
        yield Violation(Rule.TOOLS_NOT_EMPTY, {}, ("tools",), [])
    if model_names.NO_TOOLS in model.traits:
        yield Violation(Rule.TOOLS, {}, ("tools",))
    if model_names.TOOLS_NEED_NO_EFFORT in model.traits and body.get("reasoning_effort") != "none":
        yield Violation(Rule.TOOLS_WITHOUT_EFFORT, {}, ("reasoning_effort",))
    for number, tool in enumerate(body["tools"] or []):
        name = tool.get("function", {}).get("name", "")
        path = ("tools", number, "function", "name")
        if not TOOL_NAME.fullmatch(name):
            yield Violation(Rule.TOOL_NAME, {}, path, name)
        if name == "python":
            yield Violation(Rule.PYTHON_RESERVED, {}, ("tools",), name)


def _parameter_violations(body: Mapping[str, Any], model: ModelName) -> Iterator[Violation]:
    if model.is_reasoning:
        if "max_tokens" in body:
            yield Violation(Rule.MAX_TOKENS, {}, ("max_tokens",), body["max_tokens"])
        for name in SAMPLING_FIELDS:
            if name in body and body[name] != 1:
                yield Violation(Rule.SAMPLING, {"value": body[name]}, (name,), body[name])
    if model_names.NO_USAGE_OPTION in model.traits and "stream_options" in body:
        yield Violation(Rule.USAGE_OPTION, {}, ("stream_options",), body["stream_options"])
