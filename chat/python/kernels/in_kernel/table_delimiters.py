"""Runs inside a kernel: finds the delimiter between the cells of a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_grid import kind_of
from chat.python.kernels.in_kernel.table_records import Dialect, Records, decode
from chat.python.kernels.in_kernel.table_words import REMARK, is_rule

SAMPLE_BYTES = 64_000
SAMPLE_ROWS = 200
CELLS_WEIGHED = 2_000
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
UNLIKELY = ("\t", "\x1f")
"""Delimiters for a text with a single column. They hardly ever occur in texts, so nothing is split."""

_SEP_LINE = re.compile(rb'"?sep=([^\n"])"?;*,*\n', re.IGNORECASE)
"""A first line such as `sep=;`, with which Excel is told the delimiter."""


class Fit(NamedTuple):
    """How well a delimiter fits a text."""

    score: float
    """From 0 to 1: the share of rows with the usual number of cells. It is lower if cells hold other delimiters, or if
    the first row has a single cell."""
    width: int
    dialect: Dialect
    has_narrow_start: bool
    """Whether the first row has a single cell."""


def find_named(data: bytes) -> str:
    """Return the delimiter that a first line such as `sep=;` names; empty if there is no such line."""
    match = _SEP_LINE.match(data)
    return decode(match[1]) if match and len(decode(match[1])) == 1 else ""


def find_dialect(data: bytes, chosen: str, *, prefers_tabs: bool) -> tuple[Dialect, int, list[str]]:
    """Return the dialect, the usual number of cells in a row, and other delimiters that fit nearly as well.

    `chosen`: the delimiter that a person or the file names; empty if there is none.
    """
    sample = data[:SAMPLE_BYTES]
    if len(data) > SAMPLE_BYTES:
        # Drop the last line, which is incomplete.
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    if chosen == " ":
        gaps_fit = spaces_fit(sample, is_gap=True)
        return Dialect(" ", is_gap=gaps_fit > 0), gaps_fit or max(1, spaces_fit(sample, is_gap=False)), []
    if chosen:
        fit = weigh(sample, chosen)
        return fit.dialect, max(1, fit.width), []
    lines = [line for line in decode(sample).split("\n")[:SAMPLE_ROWS] if line.strip() and line[0] != "#"]
    fits = sorted((weigh(sample, delimiter) for delimiter in DELIMITERS), key=lambda fit: fit[:2], reverse=True)
    fits = [fit for fit in fits if fit.width > 1]
    if prefers_tabs and lines and "\t" in lines[0]:
        fits.sort(key=lambda fit: fit.dialect.delimiter != "\t")
    if fits and not is_single_column(lines, fits[0]):
        others = [fit.dialect.delimiter for fit in fits[1:] if fit.score > fits[0].score - 0.1]
        return fits[0].dialect, fits[0].width, others
    for is_gap in (True, False):
        if width := spaces_fit(sample, is_gap=is_gap):
            return Dialect(" ", is_gap=is_gap), width, []
    absent = [delimiter for delimiter in (",", *UNLIKELY) if delimiter.encode() not in data]
    return weigh(sample, absent[0] if absent else UNLIKELY[-1]).dialect, 1, []


def weigh(sample: bytes, delimiter: str) -> Fit:
    """Return how well a delimiter fits. The width is 0 if it separates no cells."""
    dialect = Dialect(delimiter)
    mark = re.escape(delimiter.encode())
    if delimiter != "\t" and len(re.findall(mark + b' +"', sample)) > len(re.findall(mark + b'"', sample)):
        dialect = dialect._replace(skips_spaces=True)
    if b'\\"' in sample:
        escaped = dialect._replace(escape="\\")
        if count_broken(sample, escaped) < count_broken(sample, dialect):
            dialect = escaped
    rows = [row for _, row in islice(Records(sample, dialect), SAMPLE_ROWS) if "".join(row).strip()]
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return Fit(0, 0, dialect, has_narrow_start=False)
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    wide = [at for at, row in enumerate(rows) if len(row) > 1]
    # Rows of one cell at the start and the end are titles and remarks, and do not count.
    inner = rows[wide[0] : wide[-1] + 1] if len(wide) > 1 else rows
    if len(inner) * 2 < len(rows):
        inner = rows
    full = [row for row in rows if len(row) == width]
    first = full[0]
    if delimiter == "|" and width > 3 and not any(row[0].strip() or row[-1].strip() for row in full):
        dialect, width = dialect._replace(has_borders=True), width - 2
    if all(cell.startswith(" ") for cell in first[1 : len(first) - dialect.has_borders]):
        dialect = dialect._replace(skips_spaces=delimiter != "\t")
    score = count / len(inner) * purity([row for row in inner if len(row) == len(first)], delimiter)
    has_narrow_start = len(rows[0]) == 1
    return Fit(round(score * (0.9 if has_narrow_start else 1), 3), width, dialect, has_narrow_start)


def count_broken(sample: bytes, dialect: Dialect) -> int:
    """Return the number of records in a sample that have broken quotes."""
    records = Records(sample, dialect)
    for _ in records:
        pass
    return records.repairs


def purity(rows: Sequence[Sequence[str]], delimiter: str) -> float:
    """Return the share of cells that are values, or texts without another delimiter; 0.1 if no cell has a value.

    A text with a comma and a space counts as a sentence, so other delimiters in it are allowed.
    """
    others = [other for other in DELIMITERS if other != delimiter]
    cells = [cell for cell in islice((cell for row in rows for cell in row), CELLS_WEIGHED) if cell.strip()]
    if not cells:
        return 0.1
    impure = sum(
        1
        for cell in cells
        if any(other in cell for other in others) and ", " not in cell and kind_of(cell) in ("", "text")
    )
    return 1 - impure / len(cells)


def is_single_column(lines: Sequence[str], fit: Fit) -> bool:
    """Return whether each line is one cell, so that the best delimiter is only a part of values or sentences."""
    if len(lines) < 2:
        return False
    head, body, mark = lines[0], lines[1:], fit.dialect.delimiter
    with_mark = [line for line in body if mark in line]
    if mark in head.strip('"') and not (head[0] == head[-1] == '"' and '",' not in head):
        # The first line has the delimiter. It is a row of names, unless it is a sentence with commas.
        return mark == "," and fit.score < 0.5 and all(", " in line for line in (head, *with_mark))
    kinds = [kind_of(line.strip('"')) for line in body]
    if set(kinds) - {"", "text"} and kinds.count("text") * 10 <= len(body):
        return True
    if not fit.has_narrow_start or mark not in ",;":
        return fit.score < 0.3 and len(with_mark) * 2 < len(body)
    if len(with_mark) * 2 <= len(body):
        return True
    is_prose = all(line.count(mark) == line.count(f"{mark} ") for line in with_mark)
    has_values = any(kind_of(cell) in ("number", "date") for line in with_mark for cell in line.split(mark))
    return is_prose and not has_values


def spaces_fit(sample: bytes, *, is_gap: bool) -> int:
    """Return the number of columns separated by spaces; 0 if spaces do not separate columns."""
    dialect = Dialect(" ", is_gap=is_gap)
    rows = [row for _, row in islice(Records(sample, dialect), SAMPLE_ROWS) if row and row[0][0] != "#"]
    rows = [row for row in rows if not is_rule("".join(row))]
    while rows and REMARK.match(" ".join(rows[-1])):
        rows.pop()
    widths = Counter(map(len, rows))
    width, count = max(widths.items(), key=lambda item: item[1], default=(0, 0))
    body = [row for row in rows if len(row) == width][1:]
    if width < 2 or len(body) < 2 or count * 10 < len(rows) * 9:
        return 0
    if all(kind_of(" ".join(row)) != "text" for row in body):
        return 0
    has_title = len(rows[0]) == 1 and [*map(kind_of, rows[1])] == [*map(kind_of, rows[2])]
    if not is_gap and (is_phrase_like(body) or has_title):
        return 0
    columns = list(zip(*body, strict=True))
    has_values = any(all(kind_of(cell) not in ("", "text") for cell in column) for column in columns)
    return width if is_gap or has_values else 0


def is_phrase_like(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether all words of one column end with a comma or a colon, as in lines such as `Part 1: costs`."""
    return any(all(word[-1] in ",:" for word in words) for words in zip(*rows, strict=True))
