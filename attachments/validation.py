"""What a file is, by its content: type, size in pixels, and a name that is only a label.

Pure: nothing is decoded, so that no file, however small, can make the server unpack gigabytes. What passes here is
drawn anew by `attachments.pictures`.
"""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import dataclass

from django.conf import settings
from PIL import Image

from attachments.image_structure import TooIntricate, gif_is_cut, jpeg_is_cut, png_is_cut

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
#: Of each side of an uploaded image, in pixels; JPEG cannot have more.
SIDE_LIMIT = 65_535
NAME_LIMIT_CHARACTERS = 120
#: In UTF-8: file systems take 255.
NAME_LIMIT_BYTES = 240
ALLOWED = "PNG, JPEG, WebP and GIF images, PDF, and text such as CSV, JSON or code"

_MOST_PIXELS = f"an image may have {PIXEL_LIMIT // 1_000_000} million"
_FORMATS = {PNG: "PNG", JPEG: "JPEG", GIF: "GIF", WEBP: "WEBP"}
_TEXT_TYPES = {".csv": CSV, ".json": JSON_TYPE}
#: Windows opens a device instead of a file of these names, whatever the extension.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
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
        image = inspect_image(data, subject=f"“{label}”")
        if max(image.width, image.height) > SIDE_LIMIT:
            raise UnreadableImage(
                f"“{label}” has {image.width} × {image.height} pixels: each side may have {SIDE_LIMIT}."
            )
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


def inspect_image(data: bytes, *, subject: str = "This image") -> ImageInfo:
    """Type and size of a PNG, JPEG, GIF or WebP, from its header alone; `subject` begins what is said of it.

    Raises UnreadableImage also for files that end too early and for more than `PIXEL_LIMIT` pixels.
    """
    mime_type = _raster_type(data)
    if mime_type is None:
        raise UnreadableImage(f"{subject} is not a PNG, JPEG, GIF or WebP image.")
    kind = _FORMATS[mime_type]
    try:
        is_cut = _is_cut(mime_type, data)
    except TooIntricate as error:
        raise UnreadableImage(f"{subject} is a {kind} image in too many pieces.") from error
    try:
        # Lazily: only the header is read, no pixel is decoded.
        with Image.open(io.BytesIO(data), formats=(kind,)) as image:
            width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnreadableImage(f"{subject} has too many pixels: {_MOST_PIXELS}.") from error
    except (OSError, ValueError, SyntaxError, EOFError, ArithmeticError, LookupError, TypeError) as error:
        # Pillow's parsers raise any of these on broken headers.
        raise UnreadableImage(f"{subject} is a broken {kind} image.") from error
    if width * height > PIXEL_LIMIT:
        raise UnreadableImage(f"{subject} has too many pixels, {width} × {height}: {_MOST_PIXELS}.")
    if width < 1 or height < 1:
        raise UnreadableImage(f"{subject} is a broken {kind} image.")
    if is_cut:
        raise UnreadableImage(f"{subject} is a {kind} image that ends too early.")
    return ImageInfo(mime_type, width, height)


def safe_name(name: str, default: str) -> str:
    """A label of one line: no folder, no control or direction-changing character, no device, not too long.

    The end of a long name is kept, for its extension; `default` stands in for a name of nothing else.
    """
    base = re.split(r"[/\\]", name)[-1]
    # C*: control, format (direction overrides, zero width), surrogate, private, unassigned; Zl, Zp: line ends.
    kept = "".join(c for c in base if unicodedata.category(c)[0] != "C" and unicodedata.category(c) not in ("Zl", "Zp"))
    label = " ".join(unicodedata.normalize("NFC", kept).split()).strip(". ") if kept.strip(". ") else ""
    if _DEVICE.fullmatch(label):
        label = f"_{label}"
    if len(label) > NAME_LIMIT_CHARACTERS or len(label.encode()) > NAME_LIMIT_BYTES:
        label = _shortened(label)
    return label or default


def _shortened(label: str) -> str:
    """Its beginning and its end, of both as much as fits."""
    end = label[-20:].lstrip()
    beginning = label[: NAME_LIMIT_CHARACTERS - 21]
    while len(f"{beginning}…{end}".encode()) > NAME_LIMIT_BYTES:
        beginning = beginning[:-1]
    return f"{beginning.rstrip()}…{end}"


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


def _is_text(data: bytes) -> bool:
    """UTF-8, or any 8-bit text: without the control characters that every binary format soon has."""
    return not data.translate(None, bytes(set(range(256)) - set(_BINARY_CHARACTERS)))


def _is_cut(mime_type: str, data: bytes) -> bool:
    """Whether the end of the file is missing; looks at its frame only, never at pixels. Raises TooIntricate."""
    walk = {PNG: png_is_cut, JPEG: jpeg_is_cut, GIF: gif_is_cut}.get(mime_type)
    return walk(data) if walk else len(data) < int.from_bytes(data[4:8], "little") + 8
