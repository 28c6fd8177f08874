"""The names and bytes that attached files have for code, in a Python session and beside an exported notebook. Pure."""

from __future__ import annotations

from attachments.chosen_encodings import encoding_of
from attachments.packed_text import PACKED_SUFFIXES, PackedError, unpack
from attachments.text_encoding import to_utf8
from attachments.validation import BINARY, UTF_8_SUFFIXES


def is_converted(name: str) -> bool:
    """Return whether code gets a file of this name as UTF-8, whatever its encoding."""
    return name.lower().rpartition(".")[2] in UTF_8_SUFFIXES


def name_in_code(name: str, mime_type: str) -> str:
    """Return the name under which code and models get an attached file: `sales.csv` for `sales.csv.gz`.

    An upload of packed text has the type of the text, and the name of the text with `.gz` or `.zip`.
    """
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.lower() in PACKED_SUFFIXES and mime_type != BINARY else name


def unpacked(data: bytes) -> bytes:
    """Return the text that is packed in an upload.

    Data that is not packed, or cannot be unpacked, is returned unchanged.
    """
    try:
        packed = unpack("", data)
    except PackedError:
        return data
    return packed[1] if packed else data


def as_utf8(data: bytes, encoding: str | None) -> bytes:
    """Return a text as UTF-8. `encoding`: the name for people of the one that its owner chose; `None`: detect it."""
    return encoding_of(data, encoding).to_utf8(data) if encoding else to_utf8(data)


def as_code_reads(name: str, data: bytes, encoding: str | None = None) -> bytes:
    """Return the bytes that code gets for an attached file: unpacked, and as UTF-8 if it is text.

    `name`: with or without the suffix of packed text. `encoding`: see `as_utf8`.
    """
    if name.lower().rpartition(".")[2] in PACKED_SUFFIXES:
        name, data = name.rpartition(".")[0], unpacked(data)
    return as_utf8(data, encoding) if is_converted(name) else data
