"""Parses untrusted JSON within limits of depth and size. Pure."""

from __future__ import annotations

import json
import re

from chat.library.imports.json_paths import JSONValue
from chat.library.imports.refusal import RefusedImport
from chat.vocabulary.sanitize import sanitize_json

DEPTH_LIMIT = 128
"""Maximum depth of a document. Values of providers and kernels in it have at most 100 levels."""
VALUES_LIMIT = 2_000_000

_BRACKET = re.compile(r"[\[\]{}]")
_TEXT_OR_STRING = re.compile(r'([^"]+)|"[^"]*(?:"|\Z)')
"""JSON outside of strings (group 1), or a string."""


def parse_json(data: bytes) -> JSONValue:
    """Parse a document in UTF-8. Raises RefusedImport if it is no JSON, or exceeds a limit.

    Characters that no database can store are replaced. `NaN`, `Infinity` and too large numbers, which Python writes
    although JSON has no such values, become null.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedImport(f"This is not a text in UTF-8: byte {error.start} is invalid.") from None
    _check_size(text)
    try:
        return JSONValue(sanitize_json(json.loads(text)))
    except json.JSONDecodeError as error:
        raise RefusedImport(f"Line {error.lineno}, column {error.colno}: this is no JSON ({error.msg}).") from None
    except (ValueError, RecursionError) as error:
        raise RefusedImport(f"This JSON cannot be read: {str(error)[:100]}.") from None


def _check_size(text: str) -> None:
    """Raise RefusedImport for JSON that is too deep or has too many values.

    This runs before parsing, because a list of empty lists takes 28 times as much memory as its text.
    """
    depth = deepest = values = strings = 0
    # Escaped quotes, which do not end a string, are removed. The text is read piece by piece, because a list of all
    # pieces would take many times as much memory as the text.
    for match in _TEXT_OR_STRING.finditer(text.replace("\\\\", "").replace('\\"', "")):
        piece = match[1]
        if piece is None:
            strings += 1
            if strings > 2 * VALUES_LIMIT:
                break
            continue
        values += piece.count(",") + piece.count("[") + piece.count("{")
        for bracket in _BRACKET.findall(piece):
            depth += 1 if bracket in "[{" else -1
            deepest = max(deepest, depth)
    if deepest > DEPTH_LIMIT:
        raise RefusedImport(f"This JSON is {deepest} levels deep; at most {DEPTH_LIMIT} are allowed.")
    # For each value there are at most two strings: its name in an object, and the value itself.
    values = max(values, (strings + 1) // 2)
    if values > VALUES_LIMIT:
        raise RefusedImport(f"This JSON has {values} values; at most {VALUES_LIMIT} are allowed.")
