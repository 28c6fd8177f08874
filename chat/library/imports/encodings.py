"""Converts documents in UTF-16, which some editors and tools write, to UTF-8. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def to_utf8(data: bytes) -> bytes:
    """Return a document in UTF-8, if it begins with the byte order mark of UTF-16; else return it as it is."""
    return data.decode("utf-16", "replace").encode() if data.startswith(_MARKS) else data


def pieces_to_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a document in UTF-8. It is `to_utf8` for a document that is read in pieces."""
    pieces = iter(pieces)
    first = next(pieces, b"")
    if not first.startswith(_MARKS):
        yield from chain([first], pieces)
        return
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for piece in chain([first], pieces):
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()
