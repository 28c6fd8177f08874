"""Extracts images that code printed as `data:` URIs, and removes such URIs from texts.

Invariant: the original output can be restored from an `Extraction`, character for character. An image for which this
would not hold stays in the text.

Extraction takes time linear in the length of the output: each pattern is tried once at each position and never
backtracks.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

#: Maximum number of images that are extracted from one output; further images stay in the text. Each extracted image
#: becomes a file in storage, so an output with hundreds of tiny images must not fill it.
IMAGES_LIMIT = 100

# SVG is excluded because it can contain scripts.
_HEADER = re.compile(
    r"data:image/(?:x-)?(?:png|p?jpe?g|gif|webp)(?>(?:;[a-z0-9._-]{1,40}=[a-z0-9._-]{0,40}){0,4});base64,",
    re.IGNORECASE,
)
# (characters per line, pattern): full lines as MIME (76) or PEM (64) wraps them, followed by a last line that is not
# longer; or the whole payload in one line (0).
_PAYLOADS = (
    (76, re.compile(r"(?>(?:[A-Za-z0-9+/]{76}\n)+)[A-Za-z0-9+/]{1,76}+={0,2}+(?![A-Za-z0-9+/=])")),
    (64, re.compile(r"(?>(?:[A-Za-z0-9+/]{64}\n)+)[A-Za-z0-9+/]{1,64}+={0,2}+(?![A-Za-z0-9+/=])")),
    (0, re.compile(r"[A-Za-z0-9+/]++={0,2}+")),
)
_SIGNATURES = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)
# The signatures' first bytes in base64. Payloads with another prefix are rejected without decoding them.
_PAYLOAD_PREFIXES = ("iVBORw0KGg", "/9j/", "R0lGODdh", "R0lGODlh", "UklGR")

# The end of an output, if more output may complete an image: the beginning of a header, or of a payload after a header.
_OPEN_HEADER = re.compile(
    r"d(?:a(?:t(?:a(?::(?:i(?:m(?:a(?:g(?:e(?:/[a-z0-9.+;=_-]{0,400}+)?)?)?)?)?)?)?)?)?)?\Z", re.IGNORECASE
)
_OPEN_PAYLOAD = re.compile(
    r"(?:(?>(?:[A-Za-z0-9+/]{76}\n)+)[A-Za-z0-9+/]{0,76}+|(?>(?:[A-Za-z0-9+/]{64}\n)+)[A-Za-z0-9+/]{0,64}+|[A-Za-z0-9+/]*+)"
    r"={0,2}+\Z"
)
_SCHEME = re.compile("data:", re.IGNORECASE)
_SCHEME_CHARS = 5
_PREFIX_LIMIT_CHARS = max(map(len, _PAYLOAD_PREFIXES))

#: Shorter data URIs stay in the text: they are hardly longer than the words that would replace them, and a question may
#: be about them.
SHORT_URI_CHARS = 256
# A data URI of any type. The payload may be wrapped, also with the `\n` of a string literal; a short last line is not
# matched.
_ANY_URI = re.compile(
    r"data:([a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80})?(?>(?:;[a-z0-9._-]{1,40}=[^;,\s]{1,80}){0,4});base64,"
    r"([A-Za-z0-9+/_-]{40,}+={0,2}+(?>(?:(?:\r?\n|\\n|%0A)[A-Za-z0-9+/_-]{40,}+={0,2}+)*))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ExtractedImage:
    """An image that was extracted from an output."""

    offset: int
    """Position of the image in the remaining text, in characters."""
    header: str
    """The URI's header as it was written, from `data:` to the comma."""
    mime_type: str
    """MIME type detected from the image's bytes; it may differ from the type in the header."""
    data: bytes
    line_chars: int = 0
    """Length of the lines that the base64 text was wrapped in; 0 if it was not wrapped."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An output without its images, and the images in order of appearance."""

    text: str
    images: tuple[ExtractedImage, ...]


def extract_images(output: str, limit: int = IMAGES_LIMIT) -> Extraction:
    """Extract every base64-encoded PNG, JPEG, GIF and WebP data URI from an output, up to `limit` images."""
    texts: list[str] = []
    images: list[ExtractedImage] = []
    length = end = 0
    for header in _HEADER.finditer(output):
        if header.start() < end:
            continue
        if len(images) >= limit:
            break
        offset = length + header.start() - end
        decoded = _decode_image(output, header, offset)
        if decoded:
            image, payload_end = decoded
            texts.append(output[end : header.start()])
            images.append(image)
            length, end = offset, payload_end
    texts.append(output[end:])
    return Extraction("".join(texts), tuple(images))


def split_open_uri(output: str) -> tuple[str, str]:
    """Split output that may grow into text that will not change, and an image at its end that may be incomplete.

    The second string may be as short as one letter, because each `d` may be the first letter of `data:`.
    """
    start = _open_uri_start(output)
    return output[:start], output[start:]


def _open_uri_start(output: str) -> int:
    schemes = [match.start() for match in _SCHEME.finditer(output)]
    # Neither a header nor a payload contains a colon after its scheme, so only the last one can be open.
    if schemes:
        header = _HEADER.match(output, schemes[-1])
        if header:
            payload = output[header.end() : header.end() + _PREFIX_LIMIT_CHARS]
            is_image = any(payload.startswith(one) or one.startswith(payload) for one in _PAYLOAD_PREFIXES)
            if is_image and _OPEN_PAYLOAD.match(output, header.end()):
                return schemes[-1]
        elif _OPEN_HEADER.match(output, schemes[-1]):
            return schemes[-1]
    for start in range(max(0, len(output) - _SCHEME_CHARS + 1), len(output)):
        if _OPEN_HEADER.match(output, start):
            return start
    return len(output)


def without_data_uris(text: str) -> str:
    """Return the text with words in place of each base64-encoded data URI of at least `SHORT_URI_CHARS`."""
    return _ANY_URI.sub(_words_for_uri, text) if "base64," in text else text


def _words_for_uri(uri: re.Match[str]) -> str:
    if len(uri[0]) < SHORT_URI_CHARS:
        return uri[0]
    return words_for(uri[1] or "", len(uri[2]))


def words_for(mime_type: str, chars: int) -> str:
    """Return the words that replace base64 of this MIME type with so many characters."""
    return f"[{mime_type or 'data'}, {chars:,} characters of base64]"


def _encode_base64(data: bytes, line_chars: int) -> str:
    payload = base64.b64encode(data).decode("ascii")
    if not line_chars:
        return payload
    return "\n".join(payload[start : start + line_chars] for start in range(0, len(payload), line_chars))


def _decode_image(output: str, header: re.Match[str], offset: int) -> tuple[ExtractedImage, int] | None:
    """Return the image after a header and the end of its payload, or `None` if it could not be restored exactly."""
    if not output.startswith(_PAYLOAD_PREFIXES, header.end()):
        return None
    for line_chars, pattern in _PAYLOADS:
        payload = pattern.match(output, header.end())
        data = _decode_base64(payload[0]) if payload else b""
        mime_type = detect_image_type(data)
        if payload and mime_type and _encode_base64(data, line_chars) == payload[0]:
            return ExtractedImage(offset, header[0], mime_type, data, line_chars), payload.end()
    return None


def _decode_base64(payload: str) -> bytes:
    """Decode base64 text; return empty bytes if it is invalid."""
    try:
        return base64.b64decode(payload.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return b""


def detect_image_type(data: bytes) -> str:
    """Return the image type by the data's first bytes; an empty string if they match no known signature."""
    return next((mime_type for mime_type, signature in _SIGNATURES if signature.match(data)), "")
