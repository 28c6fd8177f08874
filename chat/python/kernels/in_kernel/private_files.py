"""Runs inside a kernel: reads every cell of the private files, whatever their format."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_arrow import read_binary_file
from chat.python.kernels.in_kernel.table_files import HEAD_BYTES, JSON_SUFFIXES, read_plain_file, read_table
from chat.python.kernels.in_kernel.table_json_text import parse_json_text
from chat.python.kernels.in_kernel.table_sheet_cells import load_sheets, open_sheets
from chat.python.kernels.in_kernel.table_sheet_parts import open_workbook
from chat.python.kernels.in_kernel.table_source import Source, Unreadable

PRIVATE_CELLS_LIMIT = 1_200_000
PRIVATE_FILE_LIMIT_BYTES = 64 * 1024 * 1024
PRIVATE_SAMPLE_BYTES = 512 * 1024
"""Length of a text's start from which its delimiter and the names of its columns are found."""
SEARCHED_ROWS = 60
MEDIA = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"ID3", b"OggS")
"""First bytes of images, sounds and videos, which hold no cells."""
NO_TABLES = (".txt", ".md", ".log", ".html", ".htm", ".xml", ".py", ".rst", ".tex", ".yaml", ".yml")


class PrivateTable(NamedTuple):
    """The cells of a table, or the lines of a text as a single column."""

    names: Sequence[str]
    columns: Sequence[Sequence[object]]
    """Columns of the same length; missing cells are `None`. The first rows may be names."""
    first: int = 0
    """Number of rows above the row that pandas numbers 0."""


def read_private_file(name: str) -> list[PrivateTable]:
    """Return all tables of a file.

    Raises Unreadable if it has cells that cannot be read; also OSError and ImportError.
    """
    if os.stat(name).st_size > PRIVATE_FILE_LIMIT_BYTES:
        raise Unreadable("it is too large.")
    with open(name, "rb") as file:
        data = file.read()
    suffix = name.lower().rpartition(".")[2]
    if data.startswith(MEDIA) or data[4:8] == b"ftyp":
        return []
    if source := read_binary_file(name, data[:HEAD_BYTES], suffix):
        if len(source.columns) < source.column_count or source.examined_rows < source.row_count:
            raise Unreadable("it is too large.")
        return [PrivateTable(source.names, source.columns)]
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return [*read_sheets(name, data)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("it is not text.") from None
    if suffix in JSON_SUFFIXES or text.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(Unreadable):
            return [read_leaves(parse_json_text(text, suffix).value, read_table(name, {}).names)]
    return [read_delimited(name, data, text)]


def read_sheets(name: str, data: bytes) -> Iterator[PrivateTable]:
    """Yield all cells of each sheet, also of hidden ones."""
    try:
        opened = open_sheets(open_workbook(data))
    except (OSError, ValueError) as error:
        raise Unreadable(str(error)[:100]) from None
    for sheet in load_sheets(opened, [*opened.visible, *opened.hidden]):
        if sheet.further_rows:
            raise Unreadable("it is too large.")
        source = read_table(name, {"sheet": sheet.name})
        yield PrivateTable(source.names, [*zip(*sheet.grid, strict=True)], find_first(source, sheet.grid))


def find_first(source: Source, rows: Sequence[Sequence[object]]) -> int:
    """Return the position of the table's first row among all rows."""
    cells = [column[0] for column in source.columns if len(column)]
    found = (at for at, row in enumerate(rows[:SEARCHED_ROWS]) if cells and [*row[: len(cells)]] == cells)
    return next(found, source.reading.get("header_rows", 0))


def read_delimited(name: str, data: bytes, text: str) -> PrivateTable:
    """Return all records of a text. If it has no delimiter, each line is a record."""
    source = None
    sample = data if len(data) <= PRIVATE_SAMPLE_BYTES else data[: data.rfind(b"\n", 0, PRIVATE_SAMPLE_BYTES) + 1]
    if not name.lower().endswith(NO_TABLES):
        with contextlib.suppress(Unreadable):
            source = read_plain_file(sample, name, "", {})
    lines = text.splitlines()
    delimiter = source.reading.get("delimiter", "") if source else ""
    if source is None or not delimiter:
        cells = [*filter(None, map(str.strip, lines))]
        if source is None:
            return PrivateTable([], [cells], 0)
        return PrivateTable(source.names, [cells], find_first(source, [[cell] for cell in cells[:SEARCHED_ROWS]]))
    if columns := split_even_lines(lines, delimiter):
        first_rows = [*zip(*(column[:SEARCHED_ROWS] for column in columns), strict=True)]
        return PrivateTable(source.names, columns, find_first(source, first_rows))
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    try:
        rows = [*csv.reader(lines, delimiter=delimiter)] if delimiter != " " else [line.split() for line in lines]
    except csv.Error:
        rows = [line.split(delimiter) for line in lines]
    if sum(map(len, rows)) > PRIVATE_CELLS_LIMIT:
        raise Unreadable("it is too large.")
    # pandas counts rows of empty cells, but not blank lines.
    rows = [row for row in rows if len(row) > 1 or any(map(str.strip, row))]
    return PrivateTable(source.names, [*zip_longest(*rows)], find_first(source, rows))


def split_even_lines(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the columns of lines that have no quotes and the same number of cells; an empty list for other lines."""
    blanks = " \t".replace(delimiter, "")
    lines = [line for line in lines if line.strip(blanks)]
    counts = {line.count(delimiter) for line in lines}
    joined = delimiter.join(lines)
    if len(counts) != 1 or '"' in joined or delimiter == " ":
        return []
    cells, width = joined.split(delimiter), counts.pop() + 1
    if len(cells) > PRIVATE_CELLS_LIMIT:
        raise Unreadable("it is too large.")
    return [cells[at::width] for at in range(width)]


def read_leaves(value: object, names: Sequence[str]) -> PrivateTable:
    """Return the values in JSON: all values with the same key form a column.

    Keys that are not names of columns count as cells, too.
    """
    columns: dict[str, list[object]] = {}
    keys: set[str] = set()
    open_values: list[tuple[str, object, int]] = [("", value, 0)]
    while open_values:
        path, one, row = open_values.pop()
        if isinstance(one, Mapping):
            keys |= one.keys()
            open_values += [(f"{path}.{key}"[-200:], inner, row) for key, inner in one.items()]
        elif isinstance(one, (list, tuple)):
            is_rows = any(isinstance(inner, (Mapping, list, tuple)) for inner in one)
            open_values += [(path, inner, at if is_rows else row) for at, inner in reversed([*enumerate(one)])]
        elif one is not None:
            column = columns.setdefault(path, [])
            column += [None] * (row - len(column))
            column.append(one)
    keys -= {part for name in names for part in (name, *name.split("."))}
    all_columns: list[list[object]] = [*columns.values(), [*keys]]
    height = max(map(len, all_columns))
    return PrivateTable(names, [column + [None] * (height - len(column)) for column in all_columns])
