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
from itertools import groupby

from attachments.text_encoding import NotText, detect_encoding
from chat.emulator.attached_files import AttachedFile

HEAD_BYTES, HEAD_ROWS, COLUMNS_LIMIT = 65_536, 500, 100
PASTE_ROWS_LIMIT, PASTE_CHARS_LIMIT = 2_000, 100_000
MISSING = ("", "-", "–", "—", "?", "n/a", "na", "nan", "null", "none", "k.a.", "k. a.", "missing")
DATE_FORMATS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m", "%Y年%m月%d日"),
    *("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%b %Y", "%B %Y", "%d %b %Y"),
)
_READING = """\
missing = {missing!r}
table = pd.read_csv({source}, sep={separator!r}, header={header}, names={names!r},
                    dtype=str, index_col=False, skipinitialspace=True)
table = table.apply(lambda cells: cells.str.strip())
table = table.mask(table.apply(lambda cells: cells.str.lower().isin(missing)))
"""
_UNIT = r"\s*+(?>(?:[$€£¥%]|EUR|USD|CHF|GBP|元)?)\s*+"
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ENGLISH = re.compile(rf"{_UNIT}[+-]?{_UNIT}(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?{_UNIT}")
_GERMAN = re.compile(rf"{_UNIT}[+-]?{_UNIT}(?:\d{{1,3}}(?:\.\d{{3}})+|\d+)(?:,\d+)?{_UNIT}")
_CERTAINLY_GERMAN = re.compile(rf"{_UNIT}[+-]?{_UNIT}(?:\d+,(?:\d{{1,2}}|\d{{4,}})|\d{{1,3}}(?:\.\d{{3}})+,\d+){_UNIT}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: str
    """`number`, `date`, `text`, or `position` in a list."""
    conversion: str = ""
    """Code that converts the texts `cells`; empty if they stay as they are."""
    values: tuple[str, ...] = ()
    """The different texts in the first rows."""
    is_unique: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a program can read."""

    name: str
    """The file's name; empty for a pasted table or a list."""
    columns: tuple[Column, ...]
    code: str
    """Code that sets `table`. Cells of CSV are texts that the program must convert."""
    kind: str = ""
    """Empty, or for labels or positions with numbers `typed`, `range`, `random`, `sequence` or `single`."""


def read_table(file: AttachedFile) -> Table | None:
    """Describe the table in the first rows of a file; `None` if the file holds no table."""
    head = file.data[:HEAD_BYTES]
    try:
        found = detect_encoding(head[: head.rfind(b"\n") + 1] or head)
    except NotText:
        return None
    encoding = "utf-8-sig" if found.codec == "utf-8" else found.codec
    lines = found.to_utf8(head).decode(errors="replace").splitlines()[: HEAD_ROWS + 1]
    if len(file.data) > len(head) and len(lines) <= HEAD_ROWS:
        lines = lines[:-1]
    separator = max("\t;|,", key=lambda sign: lines[0].count(sign)) if lines else ","
    source = f"{file.name!r}, encoding={encoding!r}" + (", encoding_errors='replace'" if found.bad_count else "")
    return _table(file.name, lines, separator, source)


def take_pasted_table(text: str) -> tuple[Table | None, str]:
    """Return the table in a prompt, and the rest of the prompt."""
    lines = [line.strip() for line in text[:PASTE_CHARS_LIMIT].splitlines()]
    separator, table_lines = ",", [""]
    for sign in "\t;|,":
        for count, run in groupby(lines, key=lambda line: line.strip("|").count(sign)):
            rows = [*run]
            if count and len(rows) > len(table_lines):
                separator, table_lines = sign, rows
    rows = [line.strip("|") if separator == "|" else line for line in table_lines]
    rows = [row for row in rows if not re.fullmatch(r"[\s|:-]+", row)]
    data = "".join(f"    {row + chr(10)!r}\n" for row in rows)
    table = _table("", rows, separator, "io.StringIO(data)", f"data = (\n{data})\n")
    if table is None or len(table_lines) > PASTE_ROWS_LIMIT:
        return None, text
    of_table = {*table_lines}
    return table, "\n".join(line for line in lines if line not in of_table and not line.startswith("```"))


def _table(name: str, lines: Sequence[str], separator: str, source: str, data: str = "") -> Table | None:
    """Return the table in lines of CSV. `source`: code of what pandas reads, `data`: code that must stand before."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows = [[*map(str.strip, row)] for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]
    if len(rows) < 2 or not 1 <= len(rows[0]) <= COLUMNS_LIMIT:
        return None
    first = rows[0]
    has_header = all(cell and not re.fullmatch(r"[\d.,+-]+", cell) for cell in first) and len({*first}) == len(first)
    names = first if has_header else [f"column {number + 1}" for number in range(len(first))]
    columns = [[row[number] for row in rows[has_header:] if number < len(row)] for number in range(len(names))]
    is_german = any(_CERTAINLY_GERMAN.fullmatch(cell) for cells in columns for cell in cells)
    read = tuple(_column(name, cells, is_german=is_german) for name, cells in zip(names, columns, strict=True))
    header = 0 if has_header else None
    code = _READING.format(source=source, separator=separator, header=header, names=names, missing=list(MISSING))
    return Table(name, read, data + code) if has_header or name else None


def _column(name: str, cells: Sequence[str], *, is_german: bool) -> Column:
    """Return a column, with the code that converts its texts if all are numbers or all are dates."""
    values = tuple(dict.fromkeys(cell for cell in cells if cell.lower() not in MISSING))
    kind, conversion = "text", ""
    keep, swap = (r"[^\d,+-]", '.str.replace(",", ".")') if is_german else (r"[^\d.+-]", "")
    has_groups = is_german and any(re.fullmatch(r"[+-]?\d{1,3}\.\d{3}", value) for value in values)
    formats = []
    for date_format in DATE_FORMATS:
        with suppress(ValueError):
            formats += [date_format] if [datetime.strptime(value, date_format) for value in values] else []
    if values and all(map(_PLAIN.fullmatch, values)) and not has_groups:
        kind, conversion = "number", "pd.to_numeric(cells)"
    elif values and all(map((_GERMAN if is_german else _ENGLISH).fullmatch, values)):
        kind, conversion = "number", f'pd.to_numeric(cells.str.replace(r"{keep}", "", regex=True){swap})'
    elif len(formats) == 1:
        # With two formats, day and month cannot be told apart: the column stays text.
        kind, conversion = "date", f"pd.to_datetime(cells, format={formats[0]!r})"
    return Column(name, kind, conversion, values, is_unique=len(values) == len(cells))
