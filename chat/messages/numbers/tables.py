"""Tables in the outputs of code: rows with labels, columns with names, and their numbers. Pure.

Tables are those of pandas, series, comma-separated ones (see `sources`), and lines such as `total: 12`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chat.messages.numbers.rows import TOTALS, Cell, Row, normal_label, read_line
from chat.messages.numbers.sources import SHORT_CHARS, Hit, SourceText
from chat.messages.numbers.statistic_words import label_statistic
from chat.messages.numbers.units import header_unit

_TABLES_LIMIT_CHARS: Final = 120_000
"""Characters of all sources whose tables are read."""
_ROWS_LIMIT: Final = 500
_LINK_LETTERS: Final = 2
"""Letters of words such as `vs` and `to` between two values of one kind."""
_SERIES_NAME: Final = re.compile(r"^(?:Name: (?P<name>[^,\n]+), )?(?:Length: \d+, )?dtype: ")


class Pivot(list[str]):
    """The names of the columns of a pivot table, which are values as its labels are."""


class Table:
    """Rows that have the same number of cells."""

    def __init__(self, source: SourceText, names: Sequence[str], rows: Sequence[Row]) -> None:
        """`names`: of the columns, as they are written. There may be more of them than cells, or none."""
        self.source = source
        self.rows = tuple(rows)
        self.width = len(rows[0].cells)
        self.names = tuple([""] * (self.width - len(names)) + list(names))[-self.width :]
        """One for each cell; empty if it has none."""
        self.units = tuple(map(header_unit, self.names))
        self.title = " ".join(names)
        self.is_pivot = isinstance(names, Pivot)

    @cached_property
    def labels(self) -> dict[str, Row]:
        """The rows by their labels, without those of statistics."""
        return {row.label: row for row in reversed(self.rows) if row.label and not row.is_statistic}

    @cached_property
    def keys(self) -> dict[str, Row]:
        """The rows by their labels, or by the numbers in their first column if those are keys."""
        if self.labels or self.width < 2:
            return self.labels
        firsts = {self.key_of(row): row for row in self.rows}
        return firsts if len(firsts) == len(self.rows) else {}

    def key_of(self, row: Row) -> str:
        """Return the number in the first column of a row without a label."""
        cell = row.cells[0]
        return f"{cell.value:g}" if cell and not self.labels else ""

    @cached_property
    def column_labels(self) -> dict[str, int]:
        """The columns by their labels."""
        return {normal_label(name): n for n, name in enumerate(self.names) if name}

    @cached_property
    def names_of_columns(self) -> frozenset[str]:
        """The labels of columns that are no statistics."""
        return frozenset(label for label in self.column_labels if not label_statistic(label))

    @cached_property
    def columns(self) -> tuple[tuple[float, ...], ...]:
        """The numbers of each column, without those of statistics."""
        rows = [row for row in self.rows if not row.is_statistic]
        return tuple(tuple(cell.value for row in rows if (cell := row.cells[n])) for n in range(self.width))

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """The sums of columns, and the counts and sums that are printed."""
        printed = [row for row in self.rows if row.label in TOTALS]
        sums = (sum(values) for values in self.columns if len(values) > 1)
        return (*sums, *(cell.value for row in printed for cell in row.cells if cell))

    @cached_property
    def is_description(self) -> bool:
        """Whether all rows hold statistics of the columns."""
        return all(row.is_statistic for row in self.rows)

    def value(self, column: int, cell: Cell) -> float:
        """Return the number of a cell for arithmetic: percentages are fractions."""
        return cell.value / 100 if self.units[column] == "%" and self.has_percents[column] else cell.value

    @cached_property
    def has_percents(self) -> tuple[bool, ...]:
        """Of each column, whether its numbers are too great for fractions."""
        return tuple(max(map(abs, values), default=0) > 1 for values in self.columns)

    @cached_property
    def has_both_signs(self) -> tuple[bool, ...]:
        """Of each column, whether it has numbers above and below zero."""
        return tuple(bool(column) and min(column) < 0 < max(column) for column in self.columns)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number is in a table."""

    table: Table
    row: Row
    column: int

    @property
    def key(self) -> str:
        """The label of the row, or the number that stands for it."""
        return self.row.label or (self.table.key_of(self.row) if self.column else "")

    @property
    def statistic(self) -> str:
        """The statistic that the number is, by the text before it, its column or its row; empty if it is none."""
        cells = [cell for cell in self.row.cells if cell]
        number = next((n for n, cell in enumerate(cells) if cell is self.row.cells[self.column]), 0)
        lead = self.table.source.text[cells[number - 1].end : cells[number].start] if number else ""
        if sum(map(str.isalpha, lead)) > _LINK_LETTERS:
            return label_statistic(lead.lower())
        if self.row.label in self.table.column_labels and self.table.names[self.column]:
            # A table of correlations.
            return "r"
        return label_statistic(self.row.label) or label_statistic(normal_label(self.table.names[self.column]))

    @property
    def unit(self) -> str:
        """The unit that the column or the row names; empty if none is known."""
        return self.table.units[self.column] or ("" if self.row.is_statistic else header_unit(self.row.label))


class SourceTables:
    """The tables of short sources."""

    def __init__(self, sources: Sequence[SourceText]) -> None:
        """Read the tables of outputs and files, those of the first sources first."""
        self.all: list[Table] = []
        self._rows: dict[int, tuple[list[int], list[tuple[Table, Row]]]] = {}
        left = _TABLES_LIMIT_CHARS
        for source in sources:
            if source.kind in ("output", "file") and len(source.text) <= min(left, SHORT_CHARS):
                left -= len(source.text)
                tables = list(_tables(source))
                self.all += tables
                rows = [(table, row) for table in tables for row in table.rows]
                self._rows[id(source)] = ([row.start for _, row in rows], rows)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of the rows of all tables."""
        return frozenset(label for table in self.all for label in table.labels)

    @cached_property
    def statistics(self) -> frozenset[str]:
        """The statistics that the rows and columns of all tables hold."""
        rows = (row.label for table in self.all for row in table.rows)
        names = (name for table in self.all for name in table.column_labels)
        return frozenset(map(label_statistic, {*rows, *names})) - {""}

    def is_read(self, source: SourceText) -> bool:
        """Return whether the tables of a source were read, which those of long ones are not."""
        return id(source) in self._rows

    def is_row_number(self, hit: Hit) -> bool:
        """Return whether a number only counts the rows of a table, or names a quantile."""
        starts, rows = self._rows.get(id(hit.source), ([], []))
        number = bisect_right(starts, hit.start) - 1
        if number < 0:
            return False
        row = rows[number][1]
        lead = hit.source.text[row.start : hit.start]
        first = next((cell for cell in row.cells if cell), None)
        is_label = row.label[:1].isalpha() or row.label.endswith("%")
        return not lead.strip() and is_label and first is not None and hit.start < first.start

    def place(self, hit: Hit) -> Place | None:
        """Return where a number is; `None` if it is in no table."""
        starts, rows = self._rows.get(id(hit.source), ([], []))
        number = bisect_right(starts, hit.start) - 1
        if number < 0:
            return None
        table, row = rows[number]
        columns = (n for n, cell in enumerate(row.cells) if cell and cell.start <= hit.start < cell.end)
        column = next(columns, None)
        return None if column is None else Place(table, row, column)


def _tables(source: SourceText) -> Iterator[Table]:
    """Yield the tables of a source. A line without numbers begins a new one, and may hold the names of its columns."""
    header: list[str] = []
    above = ""
    rows: list[Row] = []
    position = 0
    for line in source.text.split("\n"):
        found, names = read_line(line, position, is_first=not rows)
        position += len(line) + 1
        row = found[0] if len(found) == 1 else None
        if rows and (row is None or len(row.cells) != len(rows[0].cells) or len(rows) >= _ROWS_LIMIT):
            if not row and (name := _SERIES_NAME.match(line)):
                header = [name["name"] or ""] if not header or rows[0].label else header
            yield Table(source, header, rows)
            rows, header = [], header if row else []
        if len(found) > 1:
            yield Table(source, [], found)
        elif row:
            rows.append(row)
        elif names and not header:
            # A single name above a series is that of its labels.
            header = [*names, ""] if len(names) == 1 and not line[0].isspace() else names
            above = line
        elif names and above and not rows and len(names) == 1 and above[0] + line[0] == (above[0] + line[0]).strip():
            # In a pivot table, the name of the columns and the name of the rows stand before their labels.
            header = Pivot(re.split(r"\s{2,}", above.strip()))
        elif not line.strip():
            header = []
        if not names:
            above = ""
    if rows:
        yield Table(source, header, rows)
