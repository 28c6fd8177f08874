"""Encodes JSON that a model reads as data. Pure.

Names and values come from files of strangers and from code that may be hostile. Therefore the JSON is on one line, and
each character is escaped that could end the line, look like markup, or be invisible.
"""

from __future__ import annotations

import json
import unicodedata

from chat.vocabulary.parts import JSONObject

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ESCAPED = frozenset("<>&`\u00ad")
COMPACT = (",", ":")
SPACED = (", ", ": ")


def encode_data(data: JSONObject, separators: tuple[str, str] = COMPACT) -> str:
    """Return JSON on one line that holds no invisible character, no markup and no line break."""
    text = json.dumps(data, ensure_ascii=False, separators=separators)
    # Each different character is checked once. A long text has few different ones.
    return text.translate({ord(character): _escape(character) for character in set(text) if _is_escaped(character)})


def _is_escaped(character: str) -> bool:
    if character.isascii():
        return character in _ESCAPED or not character.isprintable()
    return character in _ESCAPED or unicodedata.category(character) in _ESCAPED_CATEGORIES


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))
