"""Finds every mistake in a request. `refusals.toml` says which servers refuse which of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.openai_server.models import ModelName

Fields: TypeAlias = Mapping[str, Any]
Path: TypeAlias = tuple[str | int, ...]
Rules: TypeAlias = Mapping[str, tuple[str, object]]
"""Name of a mistake -> its field (empty for the whole element), and whether it was made."""

CHARS_PER_TOKEN = 4
ROLES = ("system", "user", "assistant", "tool")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MISTRAL_CALL_ID = re.compile(r"[a-zA-Z0-9]{9}")
REASONING_MODEL = re.compile(r"gpt-5|o\d")
"""Matches the traits of OpenAI's reasoning models."""
COMMON_FIELDS = {"model", "messages", "stream", "tools", "tool_choice", "temperature", "reasoning_effort"}
KNOWN_FIELDS = {
    "mistral": COMMON_FIELDS | {"max_tokens"},
    "openai": COMMON_FIELDS | {"max_tokens", "max_completion_tokens", "stream_options"},
}
"""Fields of requests that servers with a check of fields accept. They know more, which this client does not send."""
MESSAGE_FIELDS = {"assistant": {"tool_calls"}, "tool": {"tool_call_id"}}
"""Role -> fields that a message may have beside `role` and `content`."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A mistake in a request."""

    rule: str
    """Its name in `refusals.toml`."""
    path: Path = ()
    """Its position in the request."""
    value: object = None
    """The value at this position."""
    words: Fields = field(default_factory=dict)
    """Further values for the placeholders of the server's message."""


def violations(server: str, body: Fields, model: ModelName) -> Iterator[Violation]:
    """Yield every mistake in a request. `server` decides only which fields are unknown."""
    if server in KNOWN_FIELDS:
        yield from _unknown_fields(body, KNOWN_FIELDS[server])
    yield from _request_violations(body, model)
    for number, tool in enumerate(body.get("tools") or []):
        name = tool["function"]["name"]
        rules = {
            "tool-name": ("name", not TOOL_NAME.fullmatch(name)),
            "tool-named-python": ("name", name == "python"),
        }
        yield from _made(rules, tool["function"], ("tools", number, "function"))
    yield from _message_violations(body["messages"], model)
    yield from _call_violations(body["messages"])


def count_tokens(body: Fields) -> int:
    """Return the number of tokens of a request, as this server counts them."""
    return len(json.dumps(body.get("messages"))) // CHARS_PER_TOKEN


def image_urls(message: Fields) -> list[str]:
    """Return the URLs of the images in a message."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def _made(rules: Rules, element: Fields, path: Path, **words: object) -> Iterator[Violation]:
    """Yield the mistakes that were made in an element of the request."""
    for rule, (name, is_made) in rules.items():
        if is_made:
            yield Violation(rule, (*path, name) if name else path, element.get(name), words)


def _unknown_fields(body: Fields, known: set[str]) -> Iterator[Violation]:
    owners: list[tuple[Path, Fields, set[str]]] = [((), body, known)]
    for position, message in enumerate(body["messages"]):
        fields = {"role", "content"} | MESSAGE_FIELDS.get(message["role"], set())
        owners.append((("messages", position), message, fields))
    for path, call in _calls(body["messages"]):
        owners.append((path, call, {"id", "type", "function"}))
        owners.append(((*path, "function"), call["function"], {"name", "arguments"}))
    for path, owner, fields in owners:
        for name in sorted(owner.keys() - fields):
            yield Violation("unknown-field", (*path, name), owner[name])


def _request_violations(body: Fields, model: ModelName) -> Iterator[Violation]:
    is_reasoning_model = any(REASONING_MODEL.match(trait) for trait in model.traits)
    effort, tokens, limit = body.get("reasoning_effort"), count_tokens(body), model.context_limit
    rules: Rules = {
        "empty-messages": ("messages", not body["messages"]),
        "long-context": ("messages", limit and tokens > limit),
        "tools": ("tools", "tools" in body and not model.takes_functions),
        "empty-tools": ("tools", body.get("tools") == []),
        "choice-without-tools": ("tool_choice", "tool_choice" in body and not body.get("tools")),
        "forced-choice": ("tool_choice", body.get("tool_choice", "auto") not in ("auto", "none")),
        "tools-with-effort": ("reasoning_effort", "gpt-5.6" in model.traits and body.get("tools") and effort != "none"),
        "max-tokens": ("max_tokens", is_reasoning_model and "max_tokens" in body),
        "sampling": ("temperature", is_reasoning_model and body.get("temperature", 1) != 1),
        "store": ("store", "no-store" in model.traits and "store" in body),
        "usage-option": ("stream_options", "no-usage-option" in model.traits and "stream_options" in body),
    }
    return _made(rules, body, (), tokens=tokens, limit=limit)


def _message_violations(messages: list[Fields], model: ModelName) -> Iterator[Violation]:
    last_role = ""
    open_ids: list[str] = []
    # The empty message marks the end.
    for position, message in enumerate([*messages, {}]):
        role, content, calls = message.get("role", ""), message.get("content"), message.get("tool_calls")
        call_id = message.get("tool_call_id")
        rules: Rules = {
            "role": ("role", role not in ("", *ROLES)),
            "system-role": ("role", role == "system" and "o1-mini" in model.traits),
            "late-system": ("role", role == "system" and position > 0),
            "no-reasoning": ("", role == "assistant" and "reasoning_content" not in message),
            "content": ("content", role and not isinstance(content, str | list) and not (content is None and calls)),
            "empty-calls": ("tool_calls", calls == []),
            "call-unanswered": ("role", role != "tool" and open_ids),
            "result-without-call": ("role", role == "tool" and call_id not in open_ids),
            "user-after-tool": ("role", (last_role, role) == ("tool", "user")),
            "assistant-last": ("role", (last_role, role) == ("assistant", "") and not open_ids),
        }
        path = ("messages", position)
        yield from _made(rules, message, path, last=last_role, ids=", ".join(open_ids))
        for number, url in enumerate(image_urls(message)):
            image_rules: Rules = {
                "image": ("", True),
                "image-for-text-model": ("", not model.takes_images),
                "image-role": ("", role != "user"),
                "image-address": ("", not re.match("data:image/.*;base64,", url)),
            }
            yield from _made(image_rules, message, (*path, "content", number), role=role)
        if role != "tool":
            open_ids = [call["id"] for call in calls or []]
        elif call_id in open_ids:
            open_ids.remove(call_id)
        last_role = role


def _calls(messages: list[Fields]) -> Iterator[tuple[Path, Fields]]:
    """Yield the function calls of all messages, each with its position."""
    for position, message in enumerate(messages):
        for number, call in enumerate(message.get("tool_calls") or []):
            yield ("messages", position, "tool_calls", number), call


def _call_violations(messages: list[Fields]) -> Iterator[Violation]:
    used_ids = {""}
    for path, call in _calls(messages):
        rules = {
            "call-id-repeated": ("id", call["id"] in used_ids),
            "call-id-form": ("id", not MISTRAL_CALL_ID.fullmatch(call["id"])),
            "arguments": ("function", not _is_json_object(call["function"]["arguments"])),
        }
        yield from _made(rules, call, path)
        used_ids.add(call["id"])


def _is_json_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False
