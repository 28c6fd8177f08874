"""What code finds in an attached file, in a session and beside an exported notebook. Pure."""

from __future__ import annotations

from attachments.text_encoding import to_utf8
from attachments.validation import PREVIEW_SUFFIXES

UTF_8_SUFFIXES = PREVIEW_SUFFIXES - {"xlsx", "parquet"}
"""Extensions of plain text and of tables in text. Other text, such as XML or code, may name its encoding itself."""


def is_converted(name: str) -> bool:
    """Return whether code gets a file of this name as UTF-8, whatever its encoding."""
    return name.lower().rpartition(".")[2] in UTF_8_SUFFIXES


def as_code_reads(name: str, data: bytes) -> bytes:
    """Return the bytes that code finds in a file of this name with these bytes."""
    return to_utf8(data) if is_converted(name) else data
