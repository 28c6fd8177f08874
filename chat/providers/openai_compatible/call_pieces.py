"""One function call that arrives in pieces. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chat.providers.openai_compatible.chunks import CallDelta
from chat.providers.untrusted_json import read_json
from chat.vocabulary.parts import JSON, JSONObject

MARKS = re.compile(r'\\.?|["{}]', re.DOTALL)
"""Matches an escaped character, a quotation mark or a brace, or a backslash at the end of a piece."""
END_MARKS = re.compile(r"(?:<\|(?:call|end|return)\|>\s*)+\Z")


class ObjectEnd:
    """Finds the end of a JSON object that arrives in pieces, and looks at each character once."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_in_string = False
        self._rest = ""
        """A backslash at the end of the last piece."""
        self.is_reached = False
        """Whether every brace was closed once, so that the text may be a whole object. It stays true."""

    def feed(self, piece: str) -> None:
        """Read the next piece."""
        mark = ""
        for mark in MARKS.findall(self._rest + piece):
            if mark == '"':
                self._is_in_string = not self._is_in_string
            elif mark == "{" and not self._is_in_string:
                self._depth += 1
            elif mark == "}" and not self._is_in_string:
                self._depth -= 1
                self.is_reached = self.is_reached or self._depth <= 0
        self._rest = mark if mark == "\\" else ""


@dataclass(slots=True)
class CallInPieces:
    """A function call that is being received."""

    id: str = ""
    name: str = ""
    fields: JSONObject = field(default_factory=dict)
    _arguments: list[str] = field(default_factory=list)
    _end: ObjectEnd = field(default_factory=ObjectEnd)
    _searched: int = 0
    """Number of pieces of the arguments in which the end was searched."""
    _is_whole: bool | None = None
    """Whether the arguments were a JSON object at their end; `None` before the end."""

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self._arguments)

    def append(self, delta: CallDelta) -> int:
        """Append a piece; return the number of its characters that are kept."""
        kept = len(delta.arguments) + (len(str(delta.fields)) if delta.fields else 0)
        if delta.arguments:
            self._arguments.append(delta.arguments)
        if not self.id:
            self.id = delta.id
            kept += len(delta.id)
        self.name = self.name or delta.name
        self.fields |= delta.fields or {}
        return kept

    def is_followed_by(self, delta: CallDelta) -> bool:
        """Return whether a piece that could continue this call begins another call."""
        if delta.id and self.id:
            return delta.id != self.id
        if (delta.index is not None and delta.id) or not (delta.name and self.name):
            return False
        return delta.name != self.name or (bool(delta.arguments) and self._has_whole_arguments())

    def _has_whole_arguments(self) -> bool:
        """Return whether the arguments are complete. They are parsed once, when their last brace is closed."""
        if self._is_whole is None:
            unsearched = self._arguments[self._searched :]
            self._searched = len(self._arguments)
            for piece in unsearched:
                self._end.feed(piece)
            if self._end.is_reached:
                self._is_whole = parse_arguments(self.text) is not None
            elif _is_null(self._arguments):
                return True
        return bool(self._is_whole)


def parse_arguments(text: str) -> dict[str, JSON] | None:
    """Return arguments; `None` if they are not a JSON object. Marks of a template may follow the object."""
    try:
        value = read_json(END_MARKS.sub("", text))
    except ValueError:
        return None
    # Groq writes `null` for a function without parameters.
    return {} if value is None else value if isinstance(value, dict) else None


def _is_null(pieces: list[str]) -> bool:
    return len(pieces) <= len("null") and "".join(pieces).strip() == "null"
