"""JSON values as indented text. The work is limited by the length of the text, whatever the size of the value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from chat.vocabulary.parts import JSON

TEXT_LIMIT_CHARS = 50_000
VALUES_LIMIT = 5_000
"""Maximum number of values that are written. Each takes about 2 µs."""
INDENT_LIMIT = 6
"""Maximum depth that is indented. Deeper values stay on one line, because indentation would make small values long."""
STRING_LIMIT_CHARS = 10_000
"""Maximum number of characters of a string or name. Longer ones are cut."""
CUT = "…"


def format_json(value: JSON) -> str:
    """Return the value as JSON, one value a line and indented by two spaces, up to `INDENT_LIMIT`.

    `…` replaces values that are left out.
    """
    pieces: list[str] = []
    chars = 0
    for number, piece in enumerate(_write(value)):
        if number >= VALUES_LIMIT or chars + len(piece) > TEXT_LIMIT_CHARS:
            pieces.append(f"\n{CUT}")
            break
        pieces.append(piece)
        chars += len(piece)
    return "".join(pieces)


def _write(value: JSON) -> Iterator[str]:
    """Yield the pieces of the text, one for each value and one for the end of each array and object."""
    # Each entry is an open array or object: the texts before its next value, its remaining values, and its end.
    stack: list[tuple[Iterator[tuple[str, JSON]], str]] = []
    prefix = ""
    while True:
        children = _children(value)
        if children:
            depth = len(stack)
            opening, closing = ("{", "}") if isinstance(value, Mapping) else ("[", "]")
            yield prefix + opening
            line_end = f"\n{'  ' * depth}" if depth < INDENT_LIMIT else ""
            stack.append((_with_prefixes(children, depth + 1), line_end + closing))
        else:
            yield prefix + _scalar(value)
        while stack:
            following = next(stack[-1][0], None)
            if following is not None:
                prefix, value = following
                break
            yield stack.pop()[1]
        else:
            return


def _children(value: JSON) -> Iterator[tuple[str, JSON]] | None:
    """Return (name with a colon, value) of an object, ("", value) of an array; `None` if it has no children."""
    if isinstance(value, Mapping) and value:
        return ((f"{_quote(str(name))}: ", child) for name, child in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return (("", child) for child in value)
    return None


def _with_prefixes(children: Iterator[tuple[str, JSON]], depth: int) -> Iterator[tuple[str, JSON]]:
    is_indented = depth <= INDENT_LIMIT
    line_start = f"\n{'  ' * depth}" if is_indented else ""
    separator = ""
    for name, child in children:
        yield f"{separator}{line_start}{name}", child
        separator = "," if is_indented else ", "


def _scalar(value: JSON) -> str:
    """Return a value without children."""
    if isinstance(value, str):
        return _quote(value)
    return json.dumps(value)


def _quote(text: str) -> str:
    cut = CUT if len(text) > STRING_LIMIT_CHARS else ""
    return json.dumps(text[:STRING_LIMIT_CHARS] + cut, ensure_ascii=False)
