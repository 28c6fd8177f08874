"""Reads JSON that a server wrote. Pure.

Deeply nested JSON is refused, because it would exceed the recursion limit of code that walks through it later. JSON of
very many values is refused, because all other tasks wait while it is read. Values of an unexpected type are
replaced by empty ones, because servers change the types of fields without notice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from chat.vocabulary.parts import JSON

WireObject: TypeAlias = Mapping[str, Any]
"""A JSON object of a response, whose values have not been checked."""

DEPTH_LIMIT = 100
BRACKETS_LIMIT = 100_000
"""Maximum number of opening brackets of a text, also in strings. Reading this many lists takes about 0.1 s."""

VALUES_LIMIT = 100_000
"""Maximum number of strings of a text, and of commas outside its strings."""
ESCAPE = re.compile(r"\\.", re.DOTALL)
STRING = re.compile(r'"[^"]*+"?')
"""Matches a string without escapes, or the rest of the text if the string does not end: a pattern that demanded the end
would take minutes. Escapes are removed first, because a pattern that repeats a group needs memory for each of them."""

_decode = json.JSONDecoder(strict=False).decode


def read_json(text: str) -> JSON:
    """Return the value of a JSON text.

    Raise ValueError if it is not JSON, is nested deeper than DEPTH_LIMIT, or has more than BRACKETS_LIMIT brackets or
    VALUES_LIMIT values.
    """
    brackets = text.count("{") + text.count("[")
    if brackets > BRACKETS_LIMIT:
        raise ValueError("the JSON holds too many lists and objects")
    if len(text) > 2 * VALUES_LIMIT and _has_too_many_values(text):
        raise ValueError("the JSON holds too many values")
    try:
        value: JSON = _decode(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    # Check only texts with enough brackets to be nested so deeply.
    if brackets > DEPTH_LIMIT and _is_deeper(value, DEPTH_LIMIT):
        raise ValueError("the JSON is nested too deeply")
    return value


def _has_too_many_values(text: str) -> bool:
    """Return whether a text has more than VALUES_LIMIT values. Commas in strings are no values."""
    if text.count('"') - text.count('\\"') > 2 * VALUES_LIMIT:
        return True
    return text.count(",") > VALUES_LIMIT and STRING.sub("", ESCAPE.sub("", text)).count(",") > VALUES_LIMIT


def as_object(value: object) -> WireObject:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> list[WireObject]:
    """Return the objects in a list. Return an empty list if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return the value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def _is_deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [
            item
            for container in level
            if isinstance(container, dict | list)
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return False
    return True
