"""Builds requests for tests of the stand-in."""

from __future__ import annotations

from typing import Any

QUESTION = {"role": "user", "content": "What is it?"}
ECHO_SCHEMA = {"type": "object", "properties": {"value": {"type": "integer"}}}


def message(role: str, content: object, **fields: object) -> dict[str, Any]:
    """Return a message."""
    return {"role": role, "content": content, **fields}


def call(call_id: str = "abcdefghi", arguments: object = '{"value": 1}', **fields: object) -> dict[str, Any]:
    """Return a function call of an assistant's message."""
    return {"id": call_id, "type": "function", "function": {"name": "echo", "arguments": arguments}, **fields}


def calling(*calls: dict[str, Any], **fields: object) -> dict[str, Any]:
    """Return an assistant's message with these calls."""
    return message("assistant", None, tool_calls=list(calls), **fields)


def result(call_id: str = "abcdefghi", content: object = "1") -> dict[str, Any]:
    """Return the result of a call."""
    return message("tool", content, tool_call_id=call_id)


def tool(name: str = "echo") -> dict[str, Any]:
    """Return the declaration of a function."""
    return {"type": "function", "function": {"name": name, "description": "Echo.", "parameters": ECHO_SCHEMA}}


def request(*messages: dict[str, Any], model: str = "text", **fields: object) -> dict[str, Any]:
    """Return a request. Without messages, it asks one question."""
    return {"model": model, "messages": list(messages or (QUESTION,)), "stream": True, **fields}
