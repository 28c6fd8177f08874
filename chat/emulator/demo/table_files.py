"""Tables: attached CSV files, and tables that are pasted into a prompt.

The columns are found in the first rows alone, so that reading a large file blocks nobody. The program reads the whole
file; a cell that its column does not allow ends it with an error.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from chat.emulator.attached_files import AttachedFile

HEAD_BYTES, HEAD_ROWS, COLUMNS_LIMIT = 65_536, 500, 100
PASTE_ROWS_LIMIT, PASTE_CHARS_LIMIT = 2_000, 100_000
MISSING = ("", "-", "–", "—", "?", "n/a", "na", "nan", "null", "none", "k.a.", "k. a.", "missing")
DATE_FORMATS: tuple[str, ...] = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%Y-%m",
    "%Y-%m-%d %H:%M",
)
DATE_FORMATS += ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%b %Y", "%B %Y", "%d %b %Y", "%Y年%m月%d日")
_UNIT = r"\s*+(?:[$€£¥%]|EUR|USD|CHF|GBP|元)?+\s*+"
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ENGLISH = re.compile(rf"{_UNIT}[+-]?{_UNIT}(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?{_UNIT}")
_GERMAN = re.compile(rf"{_UNIT}[+-]?{_UNIT}(?:\d{{1,3}}(?:\.\d{{3}})+|\d+)(?:,\d+)?{_UNIT}")
_CERTAINLY_GERMAN = re.compile(rf"{_UNIT}[+-]?{_UNIT}(?:\d+,(?:\d{{1,2}}|\d{{4,}})|\d{{1,3}}(?:\.\d{{3}})+,\d+){_UNIT}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: str
    """`number`, `date` or `text`."""
    conversion: str
    """Code that converts the texts `cells`; empty if they stay as they are."""
    values: tuple[str, ...]
    """The different texts in the first rows."""
    is_unique: bool
    """Whether all texts of the column differ."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a program can read."""

    name: str
    """The file's name; empty for a pasted table."""
    columns: tuple[Column, ...]
    has_header: bool
    separator: str = ","
    encoding: str = "utf-8-sig"
    pasted: str = ""
    """The rows of a pasted table as CSV."""

    def reading_code(self, used: Sequence[Column]) -> str:
        """Return code that reads the table as texts and converts the columns that are used."""
        data = "".join(f"    {line!r}\n" for line in self.pasted.splitlines(keepends=True))
        source = f"{self.name!r}, encoding={self.encoding!r}" if self.name else "io.StringIO(data)"
        lines = [f"data = (\n{data})\n" if data else "", f"columns = {[column.name for column in self.columns]!r}\n"]
        lines.append(f"missing = {list(MISSING)!r}\n")
        header = 0 if self.has_header else None
        lines.append(
            f"table = pd.read_csv({source}, sep={self.separator!r}, header={header}, names=columns, dtype=str,\n"
            "                    index_col=False, skipinitialspace=True)\n"
            "table = table.apply(lambda cells: cells.str.strip())\n"
            "table = table.mask(table.apply(lambda cells: cells.str.lower().isin(missing)))\n"
        )
        lines += [
            f"cells = table[{column.name!r}]\ntable[{column.name!r}] = {column.conversion}\n"
            for column in used
            if column.conversion
        ]
        return "".join(lines)


def read_table(file: AttachedFile) -> Table | None:
    """Return the table in a file; `None` if it is none."""
    head = file.data[:HEAD_BYTES]
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = head.decode(encoding)
    except UnicodeDecodeError as error:
        is_cut = error.start > len(head) - 4 and len(file.data) > len(head)
        encoding = encoding if is_cut else "cp1252"
        text = head.decode(encoding, errors="ignore")
    lines = text.splitlines()[: HEAD_ROWS + 1]
    if len(file.data) > len(head) and len(lines) <= HEAD_ROWS:
        lines = lines[:-1]
    separator = max("\t;|,", key=lambda sign: lines[0].count(sign)) if lines else ","
    return _table(file.name, lines, separator, encoding)


def take_pasted_table(text: str) -> tuple[Table | None, str]:
    """Return the table in a prompt, and the rest of the prompt."""
    lines = [line.strip() for line in text[:PASTE_CHARS_LIMIT].splitlines()]
    best: tuple[int, int, str] = (0, 0, ",")
    for separator in "\t;|,":
        start = 0
        for position in range(len(lines) + 1):
            fields = _field_count(lines[start], separator) if start < len(lines) else 0
            if position == len(lines) or fields < 2 or _field_count(lines[position], separator) != fields:
                if fields > 1 and position - start > max(1, best[1] - best[0]):
                    best = (start, position, separator)
                start = position
    start, end, separator = best
    if end - start > PASTE_ROWS_LIMIT or end == start:
        return None, text
    rows = [line.strip("|") if separator == "|" else line for line in lines[start:end]]
    rows = [row for row in rows if not re.fullmatch(r"[\s|:-]+", row)]
    table = _table("", rows, separator, "", pasted="\n".join(rows) + "\n")
    if table is None or not table.has_header:
        return None, text
    rest = [line for line in lines[:start] + lines[end:] if not line.startswith("```")]
    return table, "\n".join(rest)


def _field_count(line: str, separator: str) -> int:
    return line.strip("|").count(separator) + 1


def _table(name: str, lines: Sequence[str], separator: str, encoding: str, pasted: str = "") -> Table | None:
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]
    except csv.Error:
        return None
    if len(rows) < 2 or not 1 <= len(rows[0]) <= COLUMNS_LIMIT:
        return None
    first = [cell.strip() for cell in rows[0]]
    has_header = all(cell and not re.fullmatch(r"[\d.,+-]+", cell) for cell in first) and len(set(first)) == len(first)
    names = first if has_header else [f"column {number + 1}" for number in range(len(first))]
    body = rows[1:] if has_header else rows
    cells = [[row[number].strip() for row in body if number < len(row)] for number in range(len(names))]
    is_german = any(_CERTAINLY_GERMAN.fullmatch(cell) for column in cells for cell in column)
    columns = (_column(name, texts, is_german=is_german) for name, texts in zip(names, cells, strict=True))
    return Table(name, tuple(columns), has_header, separator, encoding, pasted)


def _column(name: str, cells: Sequence[str], *, is_german: bool) -> Column:
    present = [cell for cell in cells if cell.lower() not in MISSING]
    values = tuple(dict.fromkeys(present))
    kind, conversion = _conversion(values, is_german=is_german)
    return Column(name, kind, conversion, values, is_unique=len(values) == len(cells))


def _conversion(values: Sequence[str], *, is_german: bool) -> tuple[str, str]:
    """Return what the texts of a column are, and the code that converts them."""
    if not values:
        return "text", ""
    local = _GERMAN if is_german else _ENGLISH
    keep, swap = (r"[^\d,+-]", '.str.replace(",", ".")') if is_german else (r"[^\d.+-]", "")
    for pattern, code in ((_PLAIN, "cells"), (local, f'cells.str.replace(r"{keep}", "", regex=True){swap}')):
        if all(pattern.fullmatch(value) for value in values) and not (
            pattern is _PLAIN and is_german and any(re.fullmatch(r"[+-]?\d{1,3}\.\d{3}", value) for value in values)
        ):
            return "number", f"pd.to_numeric({code})"
    formats = [
        one for one in DATE_FORMATS if _is_date(values[0], one) and all(_is_date(value, one) for value in values)
    ]
    # With two formats, day and month cannot be told apart: the column stays text.
    return ("date", f"pd.to_datetime(cells, format={formats[0]!r})") if len(formats) == 1 else ("text", "")


def _is_date(text: str, date_format: str) -> bool:
    with suppress(ValueError):
        datetime.strptime(text, date_format)
        return True
    return False
