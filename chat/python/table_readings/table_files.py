"""Decides which files can hold a table, by their names and first lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attachments.code_files import name_in_code
from attachments.packed_text import PACKED_SUFFIXES
from attachments.validation import PDF, PREVIEW_SUFFIXES, RASTER_TYPES

if TYPE_CHECKING:
    from attachments.models import Attachment

HEAD_BYTES = 64 * 1024
LINES_EXAMINED = 20
PROSE_SUFFIXES = ("txt",)
"""Extensions of files that count as prose, unless their lines look like those of a table (`has_table_lines`)."""
SHARE_ALIKE = 2 / 3
"""Minimum share of the first lines with the same number of separators. Others may be a title, or below the header."""
LINES_OF_WEAK_MARKS = 3
LINES_OF_REPEATED = 10
CELL_LIMIT_CHARS = 40
_NUMBERS = re.compile(r"(?:(?:[-+−]?[.,]?\d[\d.,']*(?:[eE][-+]?\d+)?|\*+|[nN]a?[nN]|NA)(?:\s+|$))+")
_RULE = re.compile(r"[-+|=: ]{3,}")
_MARKS = ("\t", ";", "|")
_GAP = re.compile(" {2,}")


def can_hold_table(attachment: Attachment) -> bool:
    """Return whether a file may hold a table, by its name and type. Text files (`.txt`) may still be prose."""
    name = name_in_code(attachment.name, attachment.mime_type)
    suffixes = PREVIEW_SUFFIXES - set(PACKED_SUFFIXES)
    return suffix_of(name) in suffixes and attachment.mime_type not in {PDF, *RASTER_TYPES}


def suffix_of(name: str) -> str:
    """Return the extension of a file's name in lower case, without its dot."""
    return name.lower().rpartition(".")[2]


def has_table_lines(data: bytes) -> bool:
    """Return whether a UTF-8 text looks like a table, and not like prose.

    Most of its first lines must have the same number of cells, or all of them tabs, or they are one column of numbers
    or repeated texts.
    """
    lines = [line.strip() for line in data[:HEAD_BYTES].decode(errors="replace").split("\n")[:LINES_EXAMINED]]
    has_rule = any(len(line) > 2 and set(line) == {"-", " "} for line in lines[1:3])
    lines = [line for line in lines if line and line[0] != "#" and not _RULE.fullmatch(line)]
    if len(lines) < 2:
        return False
    if _is_column(lines):
        return True
    if any(_most_alike(lines, mark) >= SHARE_ALIKE * len(lines) for mark in _MARKS) or all(
        "\t" in one for one in lines
    ):
        return True
    # Prose has commas and wide gaps, too, but not the same number of them in each of several lines.
    cells = {len(_GAP.split(line)) for line in lines[: -1 if has_rule else None]}
    is_aligned = len(cells) == 1 and cells != {1}
    return len(lines) >= LINES_OF_WEAK_MARKS and (is_aligned or _most_alike(lines, ",") == len(lines))


def _is_column(lines: Sequence[str]) -> bool:
    """Return whether the lines are one column: below the first line, only numbers, or a few short repeated texts."""
    head, values = lines[0], lines[1:]
    if len(values) < LINES_OF_WEAK_MARKS or (head in values and not _NUMBERS.fullmatch(head)):
        return False
    is_repeated = len(values) >= LINES_OF_REPEATED and len(set(values)) * 2 <= len(values)
    is_repeated = is_repeated and max(map(len, lines)) <= CELL_LIMIT_CHARS
    return is_repeated or all(map(_NUMBERS.fullmatch, values))


def _most_alike(lines: Sequence[str], mark: str) -> int:
    """Return how many lines have the most frequent number of marks. Lines without a mark do not count."""
    # Marks at the end of a line do not count, because prose and code have them there. A bar counts: it ends a cell.
    counts = Counter((line if mark == "|" else line.rstrip(f"{mark} ")).count(mark) for line in lines)
    return max((number for count, number in counts.items() if count), default=0)
