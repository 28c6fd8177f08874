"""Which files can hold a table, by their names and beginnings. Pure."""

from __future__ import annotations

from attachments.models import Attachment
from attachments.validation import PDF, PREVIEW_SUFFIXES, RASTER_TYPES


def can_hold_table(attachment: Attachment) -> bool:
    """Return whether a table is looked for in a file. Text files (`.txt`) may still turn out to be prose."""
    return suffix_of(attachment.name) in PREVIEW_SUFFIXES and attachment.mime_type not in {PDF, *RASTER_TYPES}


def suffix_of(name: str) -> str:
    """Return the extension of a file's name in lower case, without its dot."""
    return name.lower().rpartition(".")[2]


def has_table_lines(data: bytes) -> bool:
    """Return whether the first two lines are divided by tabs. Other text is prose."""
    lines = data.split(b"\n", 2)[:2]
    return len(lines) == 2 and all(b"\t" in line.strip() for line in lines)
