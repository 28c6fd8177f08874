"""Finds what is wrong with the messages of a request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tests.openai_server.rules import Rule, Violation

Message: TypeAlias = Mapping[str, Any]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
DATA_URL = "data:image/"


def history_violations(messages: Sequence[Message]) -> Iterator[Violation]:
    """Yield every violation in the messages, in their order."""
    if not messages:
        yield Violation(Rule.MESSAGES_NOT_EMPTY)
        return
    for position, message in enumerate(messages):
        yield from _role_violations(position, message)
        yield from _content_violations(position, message)
        yield from _image_violations(position, message)
    yield from _call_violations(messages)
    yield from _order_violations(messages)


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Return the function calls of a message."""
    return message.get("tool_calls") or []


def content_parts(message: Message) -> list[dict[str, Any]]:
    """Return the parts of a content that is a list; none for a string."""
    content = message.get("content")
    return content if isinstance(content, list) else []


def image_urls(message: Message) -> list[str]:
    """Return the URLs of the images in a message."""
    return [part["image_url"]["url"] for part in content_parts(message) if part.get("type") == "image_url"]


def text_of(message: Message) -> str:
    """Return the text of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content_parts(message))


def _role_violations(position: int, message: Message) -> Iterator[Violation]:
    role = message.get("role")
    path = ("messages", position, "role")
    if role not in ROLES:
        yield Violation(Rule.ROLE, {"role": role}, path, role)
    if role in ("system", "developer"):
        yield Violation(Rule.SYSTEM_ROLE, {"role": role}, path, role)
        if position:
            yield Violation(Rule.SYSTEM_FIRST, {}, path, role)
    if role == "assistant" and "reasoning_content" not in message:
        yield Violation(Rule.REASONING_RETURNED, {}, ("messages", position))


def _content_violations(position: int, message: Message) -> Iterator[Violation]:
    path = ("messages", position)
    content = message.get("content")
    if content is None and not calls_of(message):
        yield Violation(Rule.CONTENT, {"found": "null"}, (*path, "content"))
    elif content is not None and not isinstance(content, str | list):
        yield Violation(Rule.CONTENT, {"found": type(content).__name__}, (*path, "content"))
    if "tool_calls" in message and not message["tool_calls"]:
        yield Violation(Rule.CALLS_NOT_EMPTY, {}, (*path, "tool_calls"))


def _image_violations(position: int, message: Message) -> Iterator[Violation]:
    for number, url in enumerate(image_urls(message)):
        path = ("messages", position, "content", number)
        yield Violation(Rule.IMAGES, {}, path)
        if message.get("role") != "user":
            yield Violation(Rule.IMAGE_ROLE, {"role": message.get("role")}, path)
        if not url.startswith(DATA_URL) or ";base64," not in url:
            yield Violation(Rule.IMAGE_DATA, {}, path)


def _call_violations(messages: Sequence[Message]) -> Iterator[Violation]:
    first_positions: dict[str, int] = {}
    for position, message in enumerate(messages):
        for number, call in enumerate(calls_of(message)):
            path = ("messages", position, "tool_calls", number)
            call_id = call.get("id")
            if not isinstance(call_id, str) or not call_id or call_id in first_positions:
                words = {"id": call_id, "first": first_positions.get(str(call_id), position)}
                yield Violation(Rule.CALL_ID_UNIQUE, words, (*path, "id"), call_id)
            first_positions.setdefault(str(call_id), position)
            yield Violation(Rule.CALL_ID_FORM, {"id": call_id}, (*path, "id"), call_id)
            yield from _argument_violations(call, path)


def _argument_violations(call: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Violation]:
    arguments = call.get("function", {}).get("arguments")
    path = (*path, "function", "arguments")
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except (TypeError, ValueError) as error:
        yield Violation(Rule.ARGUMENTS, {"reason": error}, path, arguments)
        return
    if not is_object:
        yield Violation(Rule.ARGUMENTS, {"reason": "not an object"}, path, arguments)


def _order_violations(messages: Sequence[Message]) -> Iterator[Violation]:
    """Yield a violation for each call without its result, and for each result without its call."""
    open_ids: list[str] = []
    last_role = ""
    for position, message in enumerate(messages):
        role = str(message.get("role"))
        path = ("messages", position, "role")
        if role == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_ids:
                yield Violation(Rule.RESULT_HAS_CALL, {"role": role, "last": last_role}, path, call_id)
            else:
                open_ids.remove(call_id)
        else:
            if open_ids:
                yield Violation(Rule.CALL_ANSWERED, {"ids": ", ".join(open_ids)}, path)
            open_ids = [str(call.get("id")) for call in calls_of(message)]
            if role == "user" and last_role == "tool":
                yield Violation(Rule.USER_NOT_AFTER_TOOL, {"role": role, "last": last_role}, path)
        last_role = role
    if open_ids:
        yield Violation(Rule.CALL_ANSWERED, {"ids": ", ".join(open_ids)}, ("messages", len(messages), "role"))
    elif last_role == "assistant":
        yield Violation(Rule.ASSISTANT_LAST, {"role": last_role}, ("messages", len(messages) - 1, "role"))
