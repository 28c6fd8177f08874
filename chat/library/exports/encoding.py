"""Encodes pieces of exported documents as bytes: base64 in slices, and JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator, Iterator

from chat.vocabulary.parts import JSON

SLICE_BYTES = 48 * 1024
"""Size of a slice. It is divisible by three, so that the base64 of all slices joined is the base64 of the whole."""


def split_bytes(data: bytes) -> Generator[bytes]:
    """Yield the data in slices."""
    view = memoryview(data)
    for start in range(0, len(data), SLICE_BYTES):
        yield bytes(view[start : start + SLICE_BYTES])


def encode_base64(data: bytes) -> Iterator[bytes]:
    """Yield the base64 of the data in slices, so that memory never holds all of it."""
    return (base64.b64encode(part) for part in split_bytes(data))


def encode_json(value: JSON) -> bytes:
    """Return the value as one line of JSON that may be pasted into a script of a web page.

    The line has no `</`, no `<!--` and no line separator of JavaScript.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    text = text.replace("</", "<\\/").replace("<!--", "<\\u0021--")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode()
