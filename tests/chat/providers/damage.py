"""Damages the body of a recorded stream in one place."""

from __future__ import annotations

import json
from random import Random

from chat.vocabulary.parts import JSON
from tests.recordings import events_in

PLACEHOLDER = "@"
"""Stands for the value of another type in JSON that is not serialized yet."""
JSON_VALUES = (b"null", b"1", b"-1e999", b"[]", b"{}", b'"x"', b"true", b"[[]]", b'{"a":{}}', b"[null]", b"[1]")


def damage_body(body: bytes, chance: Random) -> bytes:
    """Return the body with one change: another byte, a missing or repeated piece, or a JSON value of another type."""
    start = chance.randrange(len(body))
    end = start + chance.randrange(1, 30)
    match chance.randrange(5):
        case 0:
            return body[:start] + bytes([chance.randrange(256)]) + body[start + 1 :]
        case 1:
            return body[:start] + body[end:]
        case 2:
            return body[:start] + body[start:end] * 2 + body[end:]
        case _:
            return _with_another_value(body, chance)


def _with_another_value(body: bytes, chance: Random) -> bytes:
    blocks = [block for block in events_in(body) if block.startswith(b"data:")]
    index = chance.randrange(len(blocks))
    value = _with_placeholder(json.loads(blocks[index].removeprefix(b"data:")), chance)
    text = json.dumps(value).encode().replace(json.dumps(PLACEHOLDER).encode(), chance.choice(JSON_VALUES))
    blocks[index] = b"data: " + text + b"\r\n\r\n"
    return b"".join(blocks)


def _with_placeholder(value: JSON, chance: Random) -> JSON:
    """Return the JSON with one of its values, at any depth, replaced by PLACEHOLDER."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.2:
        return PLACEHOLDER
    if isinstance(value, list):
        index = chance.randrange(len(value))
        return [*value[:index], _with_placeholder(value[index], chance), *value[index + 1 :]]
    key = chance.choice(list(value))
    return {**value, key: _with_placeholder(value[key], chance)}
