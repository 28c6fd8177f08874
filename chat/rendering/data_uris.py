"""Images that code printed as `data:` URIs, taken out of its output.

Invariant: `restore(*extract)` is the output, character for character; what would not be stays in the text. Takes time
linear in the output: each pattern is tried once at each place and never backtracks.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass

#: A page of hundreds of tiny images is no use to anybody, and each becomes a file in storage; the rest stays text.
IMAGES_LIMIT = 100

# SVG is not among them: it can hold scripts.
_HEADER = re.compile(
    r"data:image/(?:x-)?(?:png|p?jpe?g|gif|webp)(?:;[a-z0-9._-]{1,40}=[a-z0-9._-]{0,40}){0,4}+;base64,", re.IGNORECASE
)
# Whole lines as MIME (76) and PEM (64) wrap them, then a last one that is not longer; or all in one line.
_PAYLOADS = (
    (76, re.compile(r"(?:[A-Za-z0-9+/]{76}\n)++[A-Za-z0-9+/]{1,76}+={0,2}+(?![A-Za-z0-9+/=])")),
    (64, re.compile(r"(?:[A-Za-z0-9+/]{64}\n)++[A-Za-z0-9+/]{1,64}+={0,2}+(?![A-Za-z0-9+/=])")),
    (0, re.compile(r"[A-Za-z0-9+/]++={0,2}+")),
)
_SIGNATURES = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)
# What base64 makes of their first bytes: most of what is no image is refused before it is read.
_BEGINNINGS = ("iVBORw0KGg", "/9j/", "R0lGODdh", "R0lGODlh", "UklGR")


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image that stood in an output."""

    offset: int
    """Where in the cut text it stood, in characters."""
    header: str
    """As it was written, from `data:` to the comma."""
    mime_type: str
    """What its bytes say, whatever the header says."""
    data: bytes
    line_chars: int = 0
    """Length of the lines its base64 was wrapped in; 0: not wrapped."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An output without its images, and the images in their order."""

    text: str
    images: tuple[FoundImage, ...]


def extract_images(output: str) -> Extraction:
    """Cut every base64 PNG, JPEG, GIF and WebP image URI out of an output."""
    texts: list[str] = []
    images: list[FoundImage] = []
    length = end = 0
    for header in _HEADER.finditer(output):
        if header.start() < end:
            continue
        if len(images) == IMAGES_LIMIT:
            break
        offset = length + header.start() - end
        found = _decode(output, header, offset)
        if found:
            image, payload_end = found
            texts.append(output[end : header.start()])
            images.append(image)
            length, end = offset, payload_end
    texts.append(output[end:])
    return Extraction("".join(texts), tuple(images))


def restore(text: str, images: Iterable[FoundImage]) -> str:
    """Give the output back that `extract_images` cut."""
    pieces: list[str] = []
    end = 0
    for image in images:
        pieces += (text[end : image.offset], image.header, _encode(image.data, image.line_chars))
        end = image.offset
    return "".join([*pieces, text[end:]])


def _encode(data: bytes, line_chars: int) -> str:
    payload = base64.b64encode(data).decode("ascii")
    if not line_chars:
        return payload
    return "\n".join(payload[start : start + line_chars] for start in range(0, len(payload), line_chars))


def _decode(output: str, header: re.Match[str], offset: int) -> tuple[FoundImage, int] | None:
    """Give the image after a header and where its payload ends; None when it cannot be given back exactly."""
    if not output.startswith(_BEGINNINGS, header.end()):
        return None
    for line_chars, pattern in _PAYLOADS:
        payload = pattern.match(output, header.end())
        data = _bytes(payload[0]) if payload else b""
        mime_type = _mime_type(data)
        if payload and mime_type and _encode(data, line_chars) == payload[0]:
            return FoundImage(offset, header[0], mime_type, data, line_chars), payload.end()
    return None


def _bytes(payload: str) -> bytes:
    try:
        return base64.b64decode(payload.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _mime_type(data: bytes) -> str:
    return next((mime_type for mime_type, signature in _SIGNATURES if signature.match(data)), "")
