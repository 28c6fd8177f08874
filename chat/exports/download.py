"""What every format makes: a file's name, its type, and its bytes as they come."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes

#: Divisible by three, so that slices of base64 join to the base64 of the whole.
SLICE_BYTES = 48 * 1024
BLOCK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Download:
    """A file to be sent; its bytes can be taken once."""

    name: str
    content_type: str
    chunks: Iterator[bytes]
    """Made while they are taken, with queries in between: close it when it is not taken to its end."""


def base64_slices(data: bytes) -> Iterator[bytes]:
    """The base64 of some bytes, never all of it at once."""
    view = memoryview(data)
    for start in range(0, len(data), SLICE_BYTES):
        yield base64.b64encode(view[start : start + SLICE_BYTES])


def slices(data: bytes) -> Iterator[bytes]:
    """Some bytes in pieces."""
    view = memoryview(data)
    for start in range(0, len(data), SLICE_BYTES):
        yield bytes(view[start : start + SLICE_BYTES])


def kept_bytes(attachment: Attachment) -> bytes | None:
    """Its bytes; None where storage cannot give them: an export says so and goes on."""
    try:
        return read_bytes(attachment)
    except BytesUnavailable:
        return None


def in_blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer, larger pieces: each costs its reader a change of threads."""
    waiting: list[bytes] = []
    size_bytes = 0
    for chunk in chunks:
        waiting.append(chunk)
        size_bytes += len(chunk)
        if size_bytes >= BLOCK_BYTES:
            yield b"".join(waiting)
            waiting.clear()
            size_bytes = 0
    if waiting:
        yield b"".join(waiting)


def json_bytes(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON can say
    """JSON in one line that stays data wherever it is pasted: no end of a script, no line separator of JavaScript."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    text = text.replace("</", "<\\/").replace("<!--", "<\\u0021--")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode()
