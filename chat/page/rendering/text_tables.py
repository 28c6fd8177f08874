"""Recognizes a table of pandas at the end of printed text: `print(df)` and `print(series)`. Pure.

pandas aligns each column to the right, below its name, with two spaces before it. A text that does not have exactly
this form stays text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.page.rendering.tables import CELLS_LIMIT, COLUMNS_LIMIT, SourceCell, SourceTable, Table, build_table

TEXT_LIMIT_CHARS = 40_000
"""Maximum length of the text that is read, which takes a few milliseconds."""
FIRST_LINES = 3
"""Number of lines of a block with which the table may begin. Lines of text as long as its rows may be above it."""

_FRAME_SIZE = re.compile(r"\[(\d{1,12}) rows x (\d{1,6}) columns\]")
_SERIES_END = re.compile(r"(?:Name: (?P<name>.{0,200}), )?(?:Length: (?P<rows>\d{1,12}), )?dtype: [\w\[\], ]{1,60}")
_NAME = re.compile(r"\S+(?: \S+)*")
_WRAPPED = re.compile(r"\\ *$", re.MULTILINE)


def split_table(text: str) -> tuple[str, Table | None]:
    """Return the text before the table at its end, and the table; the whole text and `None` if no table ends it."""
    if len(text) > TEXT_LIMIT_CHARS or _WRAPPED.search(text):
        # pandas prints a wide frame in several blocks, which are not read.
        return text, None
    lines = text.rstrip().split("\n")
    table = _read_series(lines) or _read_frame(lines)
    if table is None:
        return text, None
    start, found = table
    return "".join(f"{line}\n" for line in lines[:start]), found


def _read_frame(lines: list[str]) -> tuple[int, Table] | None:
    """Return the index of the first line of the frame at the end, and the frame; `None` if there is no frame."""
    size = _FRAME_SIZE.fullmatch(lines[-1])
    end = len(lines) - 2 if size else len(lines)
    start = _block_start(lines, end)
    rows, columns = map(int, size.groups()) if size else (0, 0)
    for first in range(start, min(start + FIRST_LINES, end - 1)):
        if source := _frame_source(lines[first:end]):
            table = build_table(source, total_rows=rows, total_columns=columns)
            return (first, table) if table else None
    return None


def _frame_source(block: Sequence[str]) -> SourceTable | None:
    header, rows = block[0], block[1:]
    names = [(match[0], match.end()) for match in _NAME.finditer(header)]
    if not names or names[-1][1] != len(header) or len(names) >= COLUMNS_LIMIT:
        return None
    if not header.startswith(" "):
        # The first name belongs to no column: it is that of the column index, as in a cross table.
        del names[0]
    split = _split_after_index(block, names[0][1]) if names else 0
    ends = [end for _, end in names]
    if not split or not all(_is_aligned(row, split, ends) for row in rows if row[split:].strip()):
        return None
    has_names = not rows[0][split:].strip()
    if not has_names and not header.startswith(" "):
        return None
    levels = _index_levels([line[:split] for line in rows]) if has_names else [(0, split)]
    common = SourceCell(header[:split].strip(), is_header=True)
    others = [SourceCell("", is_header=True) for _ in levels[1:]]
    heads = [[common, *others, *(SourceCell(name, is_header=True) for name, _ in names)]]
    if has_names:
        blank = [SourceCell("", is_header=True) for _ in names]
        heads.append([SourceCell(rows[0][a:b].strip(), is_header=True) for a, b in levels] + blank)
    cells = [*zip([split, *ends[:-1]], ends, strict=True)]
    body = [
        [
            *(SourceCell(_value(row[a:b]), is_header=True) for a, b in levels),
            *(SourceCell(_value(row[a:b])) for a, b in cells),
        ]
        for row in rows[has_names:]
    ]
    if not body or len(body) * len(body[0]) > CELLS_LIMIT:
        return None
    return SourceTable("", heads, body)


def _read_series(lines: list[str]) -> tuple[int, Table] | None:
    """Return the index of the first line of the series at the end, and the series as a table with one column."""
    end = _SERIES_END.fullmatch(lines[-1])
    if end is None:
        return None
    start = _block_start(lines, len(lines) - 1)
    for first in range(start, min(start + FIRST_LINES, len(lines) - 1)):
        block = lines[first:-1]
        split = _split_after_index(block, len(block[0])) if 2 * len(block) <= CELLS_LIMIT else 0
        if split and all(_is_aligned(row, split, [len(row)]) for row in block):
            table = _series_table(block, split, end)
            return (first, table) if table else None
    return None


def _series_table(block: Sequence[str], split: int, end: re.Match[str]) -> Table | None:
    head = [[SourceCell("", is_header=True), SourceCell(end["name"] or "", is_header=True)]]
    body = [[SourceCell(_value(row[:split]), is_header=True), SourceCell(_value(row[split:]))] for row in block]
    return build_table(SourceTable("", head, body), total_rows=int(end["rows"] or 0))


def _block_start(lines: Sequence[str], end: int) -> int:
    """Return the index of the first line of the block that ends before `end`. Its lines have the same length."""
    start = end
    while start > 0 and lines[start - 1].strip() and len(lines[start - 1]) == len(lines[end - 1]):
        start -= 1
    return start


def _split_after_index(block: Sequence[str], end: int) -> int:
    """Return the position after the last two adjacent columns of characters before `end` that are blank in all lines.

    Return 0 if there are no such columns.
    """
    for position in range(end - 1, 1, -1):
        if all(line[position - 2 : position] == "  " for line in block):
            return position
    return 0


def _is_aligned(row: str, split: int, ends: Sequence[int]) -> bool:
    """Return whether each value of the row ends where its column ends, with two spaces before the next column."""
    starts = [split, *ends[:-1]]
    columns = zip(starts, ends, strict=True)
    return all(
        (row[end - 1] != " " or not row[start:end].strip()) and (number == 0 or row[start : start + 2] == "  ")
        for number, (start, end) in enumerate(columns)
    )


def _index_levels(parts: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each level of an index begins and ends. Levels are separated by a column of spaces."""
    width = len(parts[0])
    blank = [all(part[position] == " " for part in parts) for position in range(width)]
    edges = [position for position in range(1, width) if blank[position - 1] and not blank[position]]
    return [*zip([0, *edges], [*edges, width], strict=True)]


def _value(text: str) -> str:
    """Return a cell's text. `..` becomes `...` again, which pandas shortens in narrow columns."""
    value = text.strip()
    return "..." if value == ".." else value
