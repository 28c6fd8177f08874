"""Splits a long JSON list into its values, of which only one is in memory at a time. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from chat.library.imports.refusal import RefusedImport

VALUE_LIMIT_BYTES = 64 * 1024 * 1024
"""Maximum size of a value of a list, which is a conversation with all versions of its answers."""
TOO_LONG = f"One conversation in this file is larger than {VALUE_LIMIT_BYTES // 1024**2} MB."
CUT_OFF = "This file ends in the middle of a conversation. Get it from its source once more."

_STRUCTURE = re.compile(rb'["\[\]{}]')
_BACKSLASH = ord("\\")


def split_list(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the objects and lists in a JSON list, each as JSON. `pieces`: the list in UTF-8.

    Only brackets and strings are read, so each value must still be parsed. Raises RefusedImport for a value above
    VALUE_LIMIT_BYTES, and if the list does not end.
    """
    splitter = _Splitter()
    for piece in pieces:
        yield from splitter.split(piece)
    if splitter.depth:
        raise RefusedImport(CUT_OFF)


@dataclass(slots=True)
class _Splitter:
    """The state of the splitter between two pieces. Depth 1 is inside the list, depth 2 inside one of its values."""

    buffer: bytearray = field(default_factory=bytearray)
    """The received bytes of the current value, and the bytes before it in the last piece."""
    position: int = 0
    """Position in the buffer where the search continues."""
    start: int | None = None
    """Position in the buffer where the current value begins."""
    depth: int = 0
    is_in_string: bool = False

    def split(self, piece: bytes) -> Iterator[bytes]:
        """Yield the values that end in this piece."""
        self.buffer += piece
        while (at := self._find()) >= 0:
            self.position = at + 1
            byte = self.buffer[at : at + 1]
            if byte == b'"':
                self.is_in_string = not self.is_in_string or self._is_escaped(at)
            elif byte in b"[{":
                self.depth += 1
                if self.depth == 2:
                    self.start = at
            else:
                self.depth -= 1
                if self.depth == 1 and self.start is not None:
                    yield bytes(self.buffer[self.start : self.position])
                    del self.buffer[: self.position]
                    self.position, self.start = 0, None
        kept_from = len(self.buffer) if self.start is None else self.start
        # The bytes of the current value are kept, also backslashes that may precede a quote in the next piece.
        del self.buffer[:kept_from]
        self.position, self.start = len(self.buffer), None if self.start is None else 0
        if len(self.buffer) > VALUE_LIMIT_BYTES:
            raise RefusedImport(TOO_LONG)

    def _find(self) -> int:
        """Return the position of the next quote or bracket. In a string, only quotes count. -1: the buffer has none."""
        if self.is_in_string:
            return self.buffer.find(b'"', self.position)
        match = _STRUCTURE.search(self.buffer, self.position)
        return match.start() if match else -1

    def _is_escaped(self, at: int) -> bool:
        """Return whether an odd number of backslashes precedes a quote inside a string."""
        first = at
        while first and self.buffer[first - 1] == _BACKSLASH:
            first -= 1
        return bool((at - first) % 2)
