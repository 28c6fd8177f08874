"""Determines the type and the pixel size of an uploaded file from its content, and makes its name safe.

No pixel is decoded here, so a small file cannot make the server unpack gigabytes. `attachments.image_reencoding`
re-encodes the images that pass these checks.
"""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import dataclass

from django.conf import settings
from PIL import Image

from attachments.image_structure import TooManySegments, is_gif_truncated, is_jpeg_truncated, is_png_truncated
from attachments.packed_text import GZIP_MARK, PackedError, unpack
from attachments.table_types import TABLE_SUFFIXES, TABLE_TYPES, TEXT_TABLE_SUFFIXES, explain_refusal, find_table_kind
from attachments.text_encoding import NotText, detect_encoding

PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
WEBP = "image/webp"
PDF = "application/pdf"
JSON_TYPE = "application/json"
CSV = "text/csv"
EXCEL = TABLE_TYPES["xlsx"]
PARQUET = TABLE_TYPES["parquet"]
PLAIN = "text/plain"
BINARY = "application/octet-stream"

#: Image types that browsers show and that cannot carry a script. They are served inline with their own Content-Type. If
#: code gives an image in several types, the first one of these is shown.
RASTER_TYPES = (PNG, JPEG, GIF, WEBP)
PIXEL_LIMIT = 50_000_000
#: Longest side of an uploaded image, in pixels. This is the maximum of the JPEG format.
SIDE_LIMIT = 65_535
NAME_LIMIT_CHARACTERS = 120
#: Maximum length of a file name, in bytes of UTF-8. File systems allow 255.
NAME_LIMIT_BYTES = 240
ALLOWED_TYPES_TEXT = (
    "PNG, JPEG, WebP, GIF, AVIF, BMP and TIFF images, PDF, spreadsheets (.xlsx, .xls, .ods), Parquet, Arrow and Stata"
    " (.dta) files, and text such as CSV, JSON or code, also packed (.gz, .zip)"
)
#: Extensions of files for which the server tries to make a preview. Excel's “Unicode text” is a `.txt` with tabs.
PREVIEW_SUFFIXES = TABLE_SUFFIXES | {"txt"}
#: Extensions of plain text and of tables in text.
UTF_8_SUFFIXES = TEXT_TABLE_SUFFIXES | {"txt"}
_TEXT_SUFFIXES = UTF_8_SUFFIXES | {"log", "md"}

REFUSAL = "“{}” cannot be attached:"
#: Minimum density of images with two pixels per CSS pixel. Such graphs have 200 dots per inch; others 72 to 150.
DENSE_DPI = 180

_PIXEL_LIMIT_TEXT = f"an image may have {PIXEL_LIMIT // 1_000_000} million"
_FORMATS = {PNG: "PNG", JPEG: "JPEG", GIF: "GIF", WEBP: "WEBP"}
_TYPES_BY_SUFFIX = {"csv": CSV, "json": JSON_TYPE}
#: Windows opens a device instead of a file with one of these names, whatever the extension.
_WINDOWS_DEVICE_NAME = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MIME_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*")


class RefusedUpload(Exception):
    """The file cannot be uploaded. The text of the error is a message for the user."""

    status = 400
    """The HTTP status with which the upload view responds."""
    retry_after_s: int | None = None
    """Seconds after which the same upload is possible; `None` if waiting does not help."""


class UploadTooLarge(RefusedUpload):
    """The file has more bytes than `UPLOAD_LIMIT_BYTES`."""

    status = 413


class UnreadableImage(RefusedUpload):
    """The file is not an image that can be shown: it is broken, truncated, of another type, or has too many pixels."""


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """The type and size that an image's header gives."""

    mime_type: str
    width: int
    """Width in pixels."""
    height: int
    """Height in pixels."""
    scale: int = 1
    """Pixels for one CSS pixel, in each direction: 2 if the header gives at least `DENSE_DPI`."""


@dataclass(frozen=True, slots=True)
class UploadInfo:
    """The name, type and size of an accepted upload."""

    name: str
    mime_type: str
    width: int | None
    """Width in pixels. None for files that are not images."""
    height: int | None
    """Height in pixels. None for files that are not images."""
    is_packed: bool = False
    """Whether the file is a packed text. The type is that of the text, and the name ends in `.gz` or `.zip`."""


def inspect_upload(name: str, data: bytes) -> UploadInfo:
    """Return the safe name, type and size of a user's file, determined from its content.

    The suffix of the name decides only where the content does not, as between CSV, JSON and other text. SVG and HTML
    count as plain text. A text that is packed has the name of the text, with `.gz` or `.zip`. Raise UploadTooLarge,
    UnreadableImage or RefusedUpload if the file cannot be attached.
    """
    label = safe_name(name, "file")
    if not data:
        raise RefusedUpload(f"“{label}” is empty (0 bytes). Choose another file.")
    if len(data) > settings.UPLOAD_LIMIT_BYTES:
        raise UploadTooLarge(build_too_large_message(label))
    if _detect_raster_type(data):
        image = inspect_image(data, subject=f"“{label}”")
        if max(image.width, image.height) > SIDE_LIMIT:
            raise UnreadableImage(
                f"“{label}” has {image.width} × {image.height} pixels: each side may have {SIDE_LIMIT}."
            )
        return UploadInfo(label, image.mime_type, image.width, image.height)
    if data.startswith(b"%PDF-"):
        return UploadInfo(label, PDF, None, None)
    suffix = label.lower().rpartition(".")[2]
    if kind := find_table_kind(data, suffix):
        return UploadInfo(label, TABLE_TYPES[kind], None, None)
    if explanation := explain_refusal(data, suffix):
        raise RefusedUpload(f"{REFUSAL.format(label)} {explanation}")
    try:
        packed = unpack(label, data)
    except PackedError as error:
        raise RefusedUpload(f"{REFUSAL.format(label)} {error}") from error
    if packed is None:
        return UploadInfo(label, _inspect_text(label, suffix, data), None, None)
    inner = safe_name(packed[0], "table.txt")
    name = f"{inner}.{'gz' if data.startswith(GZIP_MARK) else 'zip'}"
    return UploadInfo(safe_name(name, "file"), _inspect_packed(label, inner, packed[1]), None, None, is_packed=True)


def _inspect_packed(label: str, inner: str, data: bytes) -> str:
    """Return the type of the text in a packed upload. Raise RefusedUpload for other data. `inner`: its file name."""
    suffix = inner.lower().rpartition(".")[2]
    explanation = explain_refusal(data, suffix) if data else "the file in it is empty."
    if not explanation and (_detect_raster_type(data) or data.startswith(b"%PDF-") or find_table_kind(data, suffix)):
        explanation = "only text may be packed. Unpack it, and attach the file in it."
    if explanation:
        raise RefusedUpload(f"{REFUSAL.format(label)} {explanation}")
    return _inspect_text(label, suffix, data)


def _inspect_text(label: str, suffix: str, data: bytes) -> str:
    """Return the type of a text whose name has this suffix. Raise RefusedUpload for data that is not text."""
    refusal = REFUSAL.format(label)
    try:
        text = detect_encoding(data)
    except NotText as error:
        if suffix in _TEXT_SUFFIXES:
            raise RefusedUpload(
                f"{refusal} byte {error.byte} at {error.offset:,}: this is not text. "
                "Save it as text in UTF-8, and attach it again."
            ) from error
        raise RefusedUpload(f"{refusal} allowed are {ALLOWED_TYPES_TEXT}.") from error
    if suffix not in _TEXT_SUFFIXES and (text.nul_count or text.control_count or text.has_end_mark):
        # A few control characters are accepted only in a file whose extension is one of text.
        raise RefusedUpload(f"{refusal} allowed are {ALLOWED_TYPES_TEXT}.")
    return _TYPES_BY_SUFFIX.get(suffix, PLAIN)


def inspect_file_of_code(name: str, data: bytes) -> UploadInfo:
    """Return the safe name, type and size of a file that executed code wrote, determined from its content.

    Files of every type are accepted. Those that a user could not upload are `application/octet-stream`. Raise
    UploadTooLarge if the file is too large, and RefusedUpload if it is empty.
    """
    label = safe_name(name, "file")
    if not data:
        raise RefusedUpload(f"“{label}” is empty (0 bytes).")
    try:
        info = inspect_upload(label, data)
    except UploadTooLarge:
        raise
    except RefusedUpload:
        return UploadInfo(label, BINARY, None, None)
    # A packed file of code stays packed: later code reads the same `a.csv.gz` that earlier code wrote.
    return UploadInfo(label, BINARY, None, None) if info.is_packed else info


def build_too_large_message(label: str = "") -> str:
    """Return the error message for a file above `UPLOAD_LIMIT_BYTES`, with the limit, and its name if that is known."""
    subject = f"“{label}”" if label else "The file"
    return f"{subject} is too large: a file may have {settings.UPLOAD_LIMIT_BYTES / 1024**2:.3g} MB."


def inspect_image(data: bytes, *, subject: str = "This image") -> ImageInfo:
    """Return the type and size of a PNG, JPEG, GIF or WebP from its header; error messages begin with `subject`.

    Raise UnreadableImage for other types, for broken or truncated files, and for more than `PIXEL_LIMIT` pixels.
    """
    mime_type = _detect_raster_type(data)
    if mime_type is None:
        raise UnreadableImage(f"{subject} is not a PNG, JPEG, GIF or WebP image.")
    kind = _FORMATS[mime_type]
    try:
        is_truncated = _is_truncated(mime_type, data)
    except TooManySegments as error:
        raise UnreadableImage(f"{subject} is a {kind} image in too many pieces.") from error
    try:
        # Image.open reads the header only and decodes no pixel.
        with Image.open(io.BytesIO(data), formats=(kind,)) as image:
            width, height = image.size
            scale = 2 if _read_dpi(image) >= DENSE_DPI else 1
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnreadableImage(f"{subject} has too many pixels: {_PIXEL_LIMIT_TEXT}.") from error
    except (OSError, ValueError, SyntaxError, EOFError, ArithmeticError, LookupError, TypeError) as error:
        # Pillow's parsers raise any of these errors for a broken header.
        raise UnreadableImage(f"{subject} is a broken {kind} image.") from error
    if width * height > PIXEL_LIMIT:
        raise UnreadableImage(f"{subject} has too many pixels, {width} × {height}: {_PIXEL_LIMIT_TEXT}.")
    if width < 1 or height < 1:
        raise UnreadableImage(f"{subject} is a broken {kind} image.")
    if is_truncated:
        raise UnreadableImage(f"{subject} is a {kind} image that ends too early.")
    return ImageInfo(mime_type, width, height, scale)


def _read_dpi(image: Image.Image) -> float:
    """Return the smaller density in the header, in dots per inch, or 0 if it gives none."""
    try:
        return min(float(value) for value in image.info.get("dpi", (0,)))
    except (TypeError, ValueError):
        return 0.0


def safe_name(name: str, default: str) -> str:
    """Return a file name that is safe to show and to store, as a label of one line.

    Folders, control characters and characters that change the text direction are removed. Names of Windows devices get
    a leading underscore. A long name is shortened in the middle, so that its extension remains. If no character
    remains, the label is `default`.
    """
    base = re.split(r"[/\\]", name)[-1]
    # Category C* holds control, format (direction overrides, zero width), surrogate, private and unassigned characters;
    # Zl and Zp are line and paragraph separators.
    printable = "".join(
        c for c in base if unicodedata.category(c)[0] != "C" and unicodedata.category(c) not in ("Zl", "Zp")
    )
    label = " ".join(unicodedata.normalize("NFC", printable).split()).strip(". ")
    if _WINDOWS_DEVICE_NAME.fullmatch(label):
        label = f"_{label}"
    if len(label) > NAME_LIMIT_CHARACTERS or len(label.encode()) > NAME_LIMIT_BYTES:
        label = _shorten(label)
    return label or default


def _shorten(label: str) -> str:
    """Return the label within both limits of length: its beginning, an ellipsis, and its last 20 characters."""
    end = label[-20:].lstrip()
    beginning = label[: NAME_LIMIT_CHARACTERS - 21]
    while len(f"{beginning}…{end}".encode()) > NAME_LIMIT_BYTES:
        beginning = beginning[:-1]
    return f"{beginning.rstrip()}…{end}"


def safe_mime_type(mime_type: str) -> str:
    """Return the MIME type in lower case and without parameters.

    The result is `application/octet-stream` if the text is not a MIME type or has more than 100 characters.
    """
    essence = mime_type.split(";")[0].strip().lower()
    return essence if len(essence) <= 100 and _MIME_TYPE.fullmatch(essence) else BINARY


def _detect_raster_type(data: bytes) -> str | None:
    """Return the MIME type of a raster image from its first bytes, or None for any other file."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    return None


def _is_truncated(mime_type: str, data: bytes) -> bool:
    """Return whether the end of an image file is missing. Raise TooManySegments for a file above the limits.

    A WebP is a RIFF file, which gives its length in the header.
    """
    check = {PNG: is_png_truncated, JPEG: is_jpeg_truncated, GIF: is_gif_truncated}.get(mime_type)
    return check(data) if check else len(data) < int.from_bytes(data[4:8], "little") + 8
