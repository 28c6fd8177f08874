"""What a file is, by its content: type, size in pixels, and a name that is only a label.

Pure: nothing is decoded, so that no file, however small, can make the server unpack gigabytes.
"""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import dataclass

from django.conf import settings
from PIL import Image

PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
WEBP = "image/webp"
PDF = "application/pdf"
JSON_TYPE = "application/json"
CSV = "text/csv"
PLAIN = "text/plain"
BINARY = "application/octet-stream"

#: Images that browsers show and that cannot carry a script; served with their own type, inline.
RASTER_TYPES = frozenset({PNG, JPEG, GIF, WEBP})
PIXEL_LIMIT = 50_000_000
NAME_LIMIT_CHARACTERS = 120
ALLOWED = "PNG, JPEG, WebP and GIF images, PDF, and text such as CSV, JSON or code"

_FORMATS = {PNG: "PNG", JPEG: "JPEG", GIF: "GIF", WEBP: "WEBP"}
_TEXT_TYPES = {".csv": CSV, ".json": JSON_TYPE}
_MIME_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*")
#: Control characters that text does hold: backspace, tab, line ends, form feed, escape (colours of a terminal).
_BINARY_CHARACTERS = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))


class RefusedUpload(Exception):
    """A file that is not taken; the text is a sentence for the person who sent it."""


class TooLarge(RefusedUpload):
    """More bytes than the limit."""


class UnreadableImage(RefusedUpload):
    """Not an image that can be shown: broken, cut, of another type, or with too many pixels."""


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What an image's header says."""

    mime_type: str
    width: int
    """In pixels."""
    height: int
    """In pixels."""


@dataclass(frozen=True, slots=True)
class UploadInfo:
    """What is to be kept of an accepted upload."""

    name: str
    mime_type: str
    width: int | None
    """In pixels, of images."""
    height: int | None


def inspect_upload(name: str, data: bytes) -> UploadInfo:
    """Judge a user's file by its content; its name only tells CSV and JSON from other text.

    SVG and HTML are text here and never anything else. Raises TooLarge, UnreadableImage or RefusedUpload.
    """
    label = safe_name(name, "file")
    if not data:
        raise RefusedUpload(f"“{label}” is empty.")
    if len(data) > settings.UPLOAD_LIMIT_BYTES:
        raise TooLarge(too_large_sentence(label))
    if _raster_type(data):
        image = inspect_image(data)
        return UploadInfo(label, image.mime_type, image.width, image.height)
    if data.startswith(b"%PDF-"):
        return UploadInfo(label, PDF, None, None)
    if _is_text(data):
        suffix = label[label.rfind(".") :].lower() if "." in label else ""
        return UploadInfo(label, _TEXT_TYPES.get(suffix, PLAIN), None, None)
    raise RefusedUpload(f"“{label}” cannot be attached: allowed are {ALLOWED}.")


def too_large_sentence(label: str) -> str:
    """Names the file and the limit."""
    return f"“{label}” is too large: a file may have {settings.UPLOAD_LIMIT_BYTES / 1024**2:.3g} MB."


def inspect_image(data: bytes) -> ImageInfo:
    """Type and size of a PNG, JPEG, GIF or WebP, from its header alone.

    Raises UnreadableImage also for files that end too early and for more than `PIXEL_LIMIT` pixels.
    """
    mime_type = _raster_type(data)
    if mime_type is None:
        raise UnreadableImage("This is not a PNG, JPEG, GIF or WebP image.")
    kind = _FORMATS[mime_type]
    try:
        # Lazily: only the header is read, no pixel is decoded.
        with Image.open(io.BytesIO(data), formats=(kind,)) as image:
            width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnreadableImage(_too_many_pixels()) from error
    except (OSError, ValueError, SyntaxError, EOFError, ArithmeticError, LookupError, TypeError) as error:
        # Pillow's parsers raise any of these on broken headers.
        raise UnreadableImage(f"This {kind} image is broken.") from error
    if width * height > PIXEL_LIMIT:
        raise UnreadableImage(_too_many_pixels())
    if width < 1 or height < 1:
        raise UnreadableImage(f"This {kind} image is broken.")
    if _is_cut(mime_type, data):
        raise UnreadableImage(f"This {kind} image ends too early.")
    return ImageInfo(mime_type, width, height)


def safe_name(name: str, default: str) -> str:
    """A label of one line: no folder, no control or direction-changing character, not too long; else `default`.

    The end of a long name is kept, for its extension.
    """
    base = re.split(r"[/\\]", name)[-1]
    # C*: control, format (direction overrides, zero width), surrogate, private, unassigned; Zl, Zp: line ends.
    kept = "".join(c for c in base if unicodedata.category(c)[0] != "C" and unicodedata.category(c) not in ("Zl", "Zp"))
    label = " ".join(unicodedata.normalize("NFC", kept).split()).strip(". ") if kept.strip(". ") else ""
    if len(label) > NAME_LIMIT_CHARACTERS:
        label = f"{label[: NAME_LIMIT_CHARACTERS - 21].rstrip()}…{label[-20:].lstrip()}"
    return label or default


def safe_mime_type(mime_type: str) -> str:
    """The type alone, in lower case; what is no type, or a long one, is `application/octet-stream`."""
    essence = mime_type.split(";")[0].strip().lower()
    return essence if len(essence) <= 100 and _MIME_TYPE.fullmatch(essence) else BINARY


def _raster_type(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    return None


def _too_many_pixels() -> str:
    return f"This image has too many pixels: at most {PIXEL_LIMIT // 1_000_000} million are shown."


def _is_text(data: bytes) -> bool:
    """UTF-8, or any 8-bit text: without the control characters that every binary format soon has."""
    return not data.translate(None, bytes(set(range(256)) - set(_BINARY_CHARACTERS)))


def _is_cut(mime_type: str, data: bytes) -> bool:
    """Whether the end of the file is missing; looks at its frame only, never at pixels."""
    if mime_type == PNG:
        return _png_is_cut(data)
    if mime_type == JPEG:
        return _jpeg_is_cut(data)
    if mime_type == GIF:
        return not data.rstrip(b"\0\r\n").endswith(b";")
    return len(data) < int.from_bytes(data[4:8], "little") + 8


def _png_is_cut(data: bytes) -> bool:
    """Chunks are length, type, content, checksum; the last is IEND. Source: w3.org/TR/png-3/#5Chunk-layout."""
    offset = 8
    while offset + 12 <= len(data):
        if data[offset + 4 : offset + 8] == b"IEND":
            return False
        offset += 12 + int.from_bytes(data[offset : offset + 4], "big")
    return True


def _jpeg_is_cut(data: bytes) -> bool:
    """Walk the segments to the scan, so that an end marker of an embedded preview does not count.

    Cameras write on after the end marker, so it need not be last. Source: ITU-T T.81, annex B.
    """
    offset = 2
    while offset + 4 <= len(data) and data[offset] == 0xFF:
        marker = data[offset + 1]
        if marker == 0xDA:
            return data.find(b"\xff\xd9", offset) == -1
        if marker == 0xFF:
            offset += 1
            continue
        offset += 2 + int.from_bytes(data[offset + 2 : offset + 4], "big")
    return True
