"""Reads the tables in the outputs of code. Pure.

Tables are those of pandas, series, comma-separated tables (see `sources`), and lines such as `total: 12`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Final

from chat.messages.numbers.aligned_columns import aligned_names
from chat.messages.numbers.code_tables import code_tables
from chat.messages.numbers.dictionary_rows import (
    names_below,
    read_records,
    without_records,
)
from chat.messages.numbers.rows import Row, normal_label, read_line
from chat.messages.numbers.sources import SHORT_CHARS, Hit, SourceText
from chat.messages.numbers.tables import Pivot, Place, Table

_TABLES_LIMIT_CHARS: Final = 120_000
"""Maximum number of characters that all sources have together whose tables are read."""
_ROWS_LIMIT: Final = 500
_RULE: Final = re.compile(r"\s*[-=]{3}[-=\s]*")
_SERIES_NAME: Final = re.compile(r"^(?:Name: (?P<name>[^,\n]+), )?(?:Length: \d+, )?dtype: ")
_NAMED_VALUE: Final = re.compile(r": |=")


class SourceTables:
    """The tables of short sources."""

    def __init__(self, sources: Sequence[SourceText]) -> None:
        """Read the tables of outputs and files, in the order of the sources, up to the limit."""
        self.all: list[Table] = []
        self._rows: dict[int, tuple[list[int], list[Row]]] = {}
        self._places: dict[int, tuple[list[int], list[Place]]] = {}
        left = _TABLES_LIMIT_CHARS
        for source in sources:
            if source.kind == "question" or len(source.text) > min(left, SHORT_CHARS):
                continue
            left -= len(source.text)
            tables = list(_tables(source))
            self.all += tables
            rows = sorted((row for table in tables for row in table.rows), key=lambda row: row.start)
            self._rows[id(source)] = ([row.start for row in rows], rows)
            places = [
                (cell.start, Place(table, row, n))
                for table in tables
                for row in table.rows
                for n, cell in enumerate(row.cells)
                if cell
            ]
            places.sort(key=lambda place: place[0])
            self._places[id(source)] = ([start for start, _ in places], [place for _, place in places])

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of the rows of all tables."""
        return frozenset(label for table in self.all for label in table.labels)

    @cached_property
    def statistics(self) -> frozenset[str]:
        """The statistics in the rows and columns of all tables."""
        labels = {
            (table, name) for table in self.all for name in (*table.column_labels, *(row.label for row in table.rows))
        }
        return frozenset(table.statistic(label) for table, label in labels) - {""}

    def change(self, one: float, other: float) -> float:
        """Return the change from the earlier to the later of two numbers of one thing in two years; 0 for others."""
        for some in (some for table in self.all for some in table.series if one in some and other in some):
            return other - one if some.index(one) < some.index(other) else one - other
        return 0

    def is_row_number(self, hit: Hit) -> bool:
        """Return whether a number only counts the rows of a table, or is the argument of `quantile()`."""
        starts, rows = self._rows.get(id(hit.source), ([], []))
        number = bisect_right(starts, hit.start) - 1
        if number < 0:
            return False
        row = rows[number]
        lead = hit.source.text[row.start : hit.start]
        first = next((cell for cell in row.cells if cell), None)
        is_label = row.label[:1].isalpha() or row.label.endswith("%")
        return not lead.strip() and is_label and first is not None and hit.start < first.start

    def place(self, hit: Hit) -> Place | None:
        """Return the place of a number; `None` if the number is in no table."""
        starts, places = self._places.get(id(hit.source), ([], []))
        number = bisect_right(starts, hit.start) - 1
        if number < 0:
            return None
        place = places[number]
        cell = place.row.cells[place.column]
        return place if cell and hit.start < cell.end else None


def _tables(source: SourceText) -> Iterator[Table]:
    """Yield the tables of a source."""
    if source.kind == "code":
        tables, text = code_tables(source)
        yield from tables
        yield from _Lines(source).tables(text) if "\t" in text else ()
        return
    records = read_records(source.text)
    for names, some in groupby(records, key=lambda row: row.names):
        yield Table(source, names, list(some))
    yield from _Lines(source).tables(without_records(source.text, records))


class _Lines:
    """Reads lines as tables. A line without numbers begins a new table, and may contain the names of its columns."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._rows: list[Row] = []
        self._header: list[str] = []
        self._header_line = self._above = self._group = ""
        self._second = 0
        """The position in a line at which the second column of labels begins; 0 if there is one column."""

    def tables(self, text: str) -> Iterator[Table]:
        """Yield the tables of a text. `text` has the same positions as the source."""
        position = 0
        for line in text.split("\n"):
            inner = " " * self._second + line[self._second :] if self._second else line
            header = self._header_line if self._header else ""
            found, names = read_line(inner, position, is_first=not self._rows, header=header)
            position += len(line) + 1
            if _RULE.fullmatch(line):
                continue
            row = found[0] if len(found) == 1 else None
            if row and self._second:
                self._group = normal_label(line[: self._second]) or self._group
                row = replace(row, group=self._group)
            elif not row:
                self._second, self._group = 0, ""
            yield from self._ended(line, row)
            if len(found) > 1:
                yield Table(self._source, [], found)
            elif row:
                if not self._rows:
                    self._header = self._names_for(row, line, position - len(line) - 1)
                self._rows.append(row)
            else:
                self._read_names(line, names)
            if not names:
                self._above = ""
            if _SERIES_NAME.match(line):
                self._header = []
        yield from self._ended("", None)

    def _names_for(self, row: Row, line: str, start: int) -> list[str]:
        """Return the names of the columns of numbers, without those of columns of text."""
        names = self._header
        is_of_line = " ".join(names).split() == self._header_line.split()
        ends = [cell.end - start for cell in row.cells if cell]
        if is_of_line and len(ends) == len(row.cells) and (aligned := aligned_names(self._header_line, line, ends)):
            return Pivot(aligned) if isinstance(names, Pivot) else aligned
        last = row.cells[-1]
        texts = len(line[last.end - start :].split()) if last and len(names) > len(row.cells) else 0
        return names[:-texts] if 0 < texts <= len(names) - len(row.cells) else names

    def _ended(self, line: str, row: Row | None) -> Iterator[Table]:
        """Yield the table above a line, if the line does not continue it."""
        rows = self._rows
        if rows and (row is None or not row.is_like(rows[0]) or len(rows) >= _ROWS_LIMIT):
            if not row and (name := _SERIES_NAME.match(line)) and (not self._header or rows[0].label):
                self._header = [name["name"] or ""]
            yield Table(self._source, rows[0].names or self._header, rows)
            # A line such as `total: 12` below a table is no row of it.
            self._rows, self._header = [], self._header if row and not _NAMED_VALUE.search(line) else []

    def _read_names(self, line: str, names: list[str]) -> None:
        """Store the names of columns that a line contains; remove them after an empty line."""
        above = self._above
        if names and not self._header:
            # A single name above a series is the name of its labels, not of its column.
            self._header = [*names, ""] if len(names) == 1 and not line[0].isspace() else names
            self._above = self._header_line = line
        elif above and not self._rows and (wide := names_below(self._header, line, names)):
            self._header, self._header_line = wide, line
        elif len(names) == 2 and above[:1].isspace() and not self._rows and line[:1].isalpha():
            # The rows have two columns of labels; the second begins here. A label in the first belongs to several rows.
            self._second = line.index(names[1], len(names[0]))
        elif len(names) == 1 and above and not self._rows and above[0] + line[0] == (above[0] + line[0]).strip():
            # This line names the rows of a pivot table. The line above has the name of the columns and their labels.
            self._header = Pivot(re.split(r"\s{2,}", above.strip()))
        elif not line.strip():
            self._header = []
