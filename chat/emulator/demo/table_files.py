"""Tables: those that the request describes, attached CSV files, and tables that are pasted into a prompt.

A described table has code that reads it, whatever its format. Without a description, only the first rows of CSV files
are read to find the columns, so that a large file does not delay other requests. The program reads the whole file; it
ends with an error if a cell does not fit its column.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from chat.emulator.attached_files import AttachedFile
from chat.emulator.demo.language import PROGRAMS
from chat.emulator.table_descriptions import TableDescription

_KINDS = {"year": "calendar year", "identifier": "identifier", "code": "text"}
_CONVERSIONS = {
    "number": "as_numbers(cells, has_commas={has_commas}, has_words=True)",
    "date": "as_dates(cells)",
    "calendar year": 'as_numbers(cells, has_words=True).astype("Int64")',
}
HEAD_BYTES, HEAD_ROWS, COLUMNS_LIMIT = 65_536, 500, 100
PASTE_ROWS_LIMIT, PASTE_CHARS_LIMIT = 2_000, 100_000
MISSING = ("", "-", "–", "—", "?", "n/a", "na", "nan", "null", "none", "k.a.", "k. a.", "missing")
DATE_FORMATS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m", "%Y年%m月%d日"),
    *("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%b %Y", "%B %Y", "%d %b %Y"),
)
_NOTED = re.compile(
    r"left out|leaves? out|not read|skipped|total|only|filled|guess|taken as|told apart|doubt|hidden|replaced",
    re.IGNORECASE,
)
"""Words in notes about rows and values, which concern answers. Other notes concern the look of cells."""
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
    """`number`, `date`, `calendar year`, `identifier`, `text`, `time`, `boolean`, or `position` in a list."""
    conversion: str = ""
    """Code that converts `cells`; empty if they are not converted."""
    values: tuple[str, ...] = ()
    """The different texts in the first rows."""
    is_unique: bool | None = True
    """Whether every row has a different value; `None`: not known."""
    is_share: bool = False
    """Whether the numbers are percentages, which have no sum."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a program can read."""

    name: str
    """The file's name; empty for a pasted table or a list."""
    columns: tuple[Column, ...]
    code: str
    """Code that sets `table`. Cells of CSV are texts that the program must convert."""
    kind: str = ""
    """The origin of a list of numbers: `typed`, `range`, `random`, `sequence` or `single`. Empty for other tables."""
    notes: tuple[str, ...] = ()
    """Notes of the server about how it read the file, if they concern answers."""
    is_cut: bool = False
    """Whether the table has further columns, which the request left out."""


def known_tables(files: Sequence[AttachedFile], described: Sequence[TableDescription]) -> dict[str, Table]:
    """Return the tables that programs can read, by name: those for which the server gives code, and other CSV files."""
    read = {file.name: table for file in files if file.is_table and (table := read_table(file))}
    known = {one.name for one in described if one.is_readable or one.refusal}
    tables = {name: table for name, table in read.items() if name not in known}
    return tables | {one.name: described_table(one, read.get(one.name)) for one in described if one.is_readable}


def read_table(file: AttachedFile) -> Table | None:
    """Describe the table in the first rows of a file in UTF-8; `None` if the file holds no table."""
    head = file.data[:HEAD_BYTES]
    try:
        lines = (head[: head.rfind(b"\n") + 1] or head).decode("utf-8-sig").splitlines()[: HEAD_ROWS + 1]
    except UnicodeDecodeError:
        return None
    separator = max("\t;|,", key=lambda sign: lines[0].count(sign)) if lines else ","
    return _table(file.name, lines, separator, f"{file.name!r}, encoding='utf-8-sig'")


def described_table(description: TableDescription, sample: Table | None) -> Table:
    """Return the table that a request describes. `sample`: its first rows, if the request holds them."""
    known = {column.name: column for column in sample.columns} if sample else {}
    has_commas = re.search(r"decimal ?= ?['\"],", description.code) is not None
    columns = []
    for name, kind in description.columns.items():
        role = description.roles.get(name, "")
        kind = _KINDS.get(role, kind) if kind in ("number", "text") and (kind, role) != ("text", "year") else kind
        conversion = _CONVERSIONS.get(kind, "").format(has_commas=has_commas)
        one = known.get(name, Column(name, "text", is_unique=None))
        values = one.values if kind == "text" else ()
        columns.append(Column(name, kind, conversion, values, one.is_unique, is_share=role == "percent"))
    code = PROGRAMS["read_described"].format(code=description.code)
    notes = tuple(note for note in description.notes if _NOTED.search(note))[:3]
    return Table(description.name, tuple(columns), code, notes=notes, is_cut=description.is_cut)


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
    """Return the table in lines of CSV. `source`: code of the file object, `data`: code that must come before."""
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
    facts = {"source": source, "separator": separator, "header": header, "names": names, "missing": list(MISSING)}
    code = PROGRAMS["read_csv"].format(**facts)
    return Table(name, read, data + code) if has_header or name else None


def _column(name: str, cells: Sequence[str], *, is_german: bool) -> Column:
    """Return a column, with the code that converts its texts if all are numbers or all are dates."""
    values = tuple(dict.fromkeys(cell for cell in cells if cell.lower() not in MISSING))
    kind, conversion = "text", ""
    has_groups = is_german and any(re.fullmatch(r"[+-]?\d{1,3}\.\d{3}", value) for value in values)
    formats = []
    for date_format in DATE_FORMATS:
        with suppress(ValueError):
            formats += [date_format] if [datetime.strptime(value, date_format) for value in values] else []
    if values and all(map(_PLAIN.fullmatch, values)) and not has_groups:
        kind, conversion = "number", "pd.to_numeric(cells)"
    elif values and all(map((_GERMAN if is_german else _ENGLISH).fullmatch, values)):
        kind, conversion = "number", f"as_numbers(cells, has_commas={is_german})"
    elif len(formats) == 1:
        # If two formats fit, it is not clear which number is the day and which the month: the column stays text.
        kind, conversion = "date", f"pd.to_datetime(cells, format={formats[0]!r})"
    return Column(name, kind, conversion, values, is_unique=len(values) == len(cells))
