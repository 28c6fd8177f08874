"""Runs inside a kernel: parses delimited text into records, also if its quotes are broken."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_source import Unreadable

REPAIRS_LIMIT = 20_000
"""Maximum number of records with broken quotes that are repaired. Later ones are parsed without repair."""
OPENINGS_LIMIT = 20
LINE_LIMIT_CHARS = 100_000
"""In lines shorter than this, up to `OPENINGS_LIMIT` quotes are tried to find the one that is never closed."""

decode = partial(str, encoding="utf-8", errors="replace")
"""Return a line of UTF-8 as text."""

_GAPS = re.compile(r"\s{2,}")


class Dialect(NamedTuple):
    """The delimiter, quotes and escapes of a delimited text."""

    delimiter: str
    """One character. A text with one column does not contain it. A space means any number of spaces."""
    is_gap: bool = False
    """Whether single spaces are part of cells, and only two or more separate them."""
    skips_spaces: bool = False
    """Whether spaces after a delimiter are not part of the cell."""
    escape: str | None = None
    """The character that escapes a quote inside quotes; `None` if quotes are doubled."""
    has_borders: bool = False
    """Whether there is also a delimiter before the first cell and after the last one, as in Markdown."""


class TextRows(NamedTuple):
    """The first records of a text that hold a value."""

    rows: list[list[str]]
    positions: Sequence[int]
    """Number of records before each row, including blank ones."""
    lines: Sequence[int]
    """Number of the first line of each row, counted from 1."""
    skipped: Sequence[int]
    """Positions of records below the first row that are left out but are not blank lines: records of delimiters alone,
    ruled lines and comments."""
    comments: list[list[str]]
    """The first comments below the first row."""
    comment_count: int
    further_count: int
    """Number of further rows, which are not read."""

    @property
    def gaps(self) -> list[int]:
        """The positions of rows that follow blank or left-out lines."""
        return [at for at, (one, other) in enumerate(pairwise(self.positions), 1) if other > one + 1]


class Records:
    """Iterates over records, including blank ones, each with the number of its first line, counted from 1.

    A quote that is never closed is read as part of its cell, and the record ends at the end of its line.
    """

    def __init__(self, data: bytes, dialect: Dialect, width: int = 0) -> None:
        """`data`: UTF-8 with line ends of LF. `width`: the usual number of cells of a record; 0 if unknown."""
        self.unclosed: list[int] = []
        """Numbers of lines with a quote that is never closed."""
        self._file = io.BytesIO(data)
        self._dialect = dialect
        self._width = width
        self._budget_bytes = 4 * len(data) + 1_000_000
        self.repairs = 0
        """Number of records whose quotes are broken."""

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line numbers and records. Raises Unreadable if the text is not valid CSV."""
        if self._dialect.delimiter == " ":
            for number, line in enumerate(self._file, 1):
                yield number, split_spaces(decode(line), self._dialect)
            return
        before, is_done = 0, False
        while not is_done:
            start, lines = self._file.tell(), 0
            is_strict = self.repairs < REPAIRS_LIMIT and self._budget_bytes > 0
            reader = csv.reader(
                map(decode, self._file),
                delimiter=self._dialect.delimiter,
                skipinitialspace=self._dialect.skips_spaces,
                escapechar=self._dialect.escape,
                quoting=csv.QUOTE_MINIMAL if self._budget_bytes > 0 else csv.QUOTE_NONE,
                strict=is_strict,
            )
            try:
                for row in reader:
                    yield before + lines + 1, self._without_borders(row)
                    start, lines = self._file.tell(), reader.line_num
                is_done = True
            except csv.Error as error:
                if not is_strict:
                    raise Unreadable(f"it is not valid CSV ({error}).") from None
                number = before + lines + 1
                row, count = self._repair(start, reader.line_num - lines, number, is_open="end of data" in str(error))
                yield number, row
                before = number + count - 1

    def _repair(self, start: int, consumed: int, number: int, *, is_open: bool) -> tuple[list[str], int]:
        """Return a record with broken quotes, which begins at `start`, and its number of lines.

        `consumed`: the number of lines until the error. `is_open`: whether the text ended before a closing quote.
        """
        self.repairs += 1
        end = self._file.tell()
        self._file.seek(start)
        line = decode(self._file.readline())
        if consumed == 1 and not is_open:
            return self._first_record([line]), 1
        self._budget_bytes -= end - start
        record = self._without_quote(line)
        if not is_open and len(record) != self._width:
            rest = [decode(self._file.readline()) for _ in range(consumed - 1)]
            whole = self._first_record([line, *rest])
            if len(whole) == self._width:
                return whole, consumed
            self._file.seek(start)
            self._file.readline()
        self.unclosed.append(number)
        return record, 1

    def _without_borders(self, row: list[str]) -> list[str]:
        return row[1:-1] if self._dialect.has_borders and len(row) > 2 else row

    def _first_record(self, lines: list[str], *, is_strict: bool = False) -> list[str]:
        """Return the first record of these lines. Quotes within cells are kept; if strict, they raise csv.Error."""
        delimiter, _, skips_spaces, escape, _ = self._dialect
        parsed = csv.reader(
            lines, delimiter=delimiter, skipinitialspace=skips_spaces, escapechar=escape, strict=is_strict
        )
        return self._without_borders(next(parsed, []))

    def _without_quote(self, line: str) -> list[str]:
        """Return the record of a line, after the opening quote that is never closed was removed."""
        delimiter, skips_spaces = self._dialect.delimiter, self._dialect.skips_spaces
        at, tries = len(line), OPENINGS_LIMIT if len(line) < LINE_LIMIT_CHARS else 0
        while tries and (at := line.rfind('"', 0, at)) >= 0:
            before = line[:at].rstrip(" ") if skips_spaces else line[:at]
            if before and not before.endswith(delimiter):
                continue
            tries -= 1
            text = line[:at] + line[at + 1 :]
            try:
                record = self._first_record([text], is_strict=True)
            except csv.Error:
                continue
            if self._width in (0, len(record)):
                return record
        plain = csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE)
        return [cell.strip().strip('"') for cell in self._without_borders(next(plain, []))]


def split_spaces(line: str, dialect: Dialect) -> list[str]:
    """Return the cells of a line that spaces separate. A `#` at the start becomes part of the first cell."""
    cells = (_GAPS.split(line.strip()) if dialect.is_gap else line.split()) if line.strip() else []
    return [f"# {cells[1]}", *cells[2:]] if len(cells) > 1 and cells[0] == "#" else cells
