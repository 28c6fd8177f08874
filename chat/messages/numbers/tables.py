"""Tables in the outputs of code: rows with labels, columns with names, and their numbers. Pure.

Tables are those of pandas, series, comma-separated ones (see `sources`), and lines such as `total: 12`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from chat.messages.numbers.numerals import RUN_IN_SOURCE, read_run
from chat.messages.numbers.sources import SHORT_CHARS, Hit, SourceText
from chat.messages.numbers.units import header_unit

_TABLES_LIMIT_CHARS: Final = 120_000
"""Characters of all sources whose tables are read."""
_ROWS_LIMIT: Final = 500
_CELL: Final = re.compile(
    r"(?P<date>(?<![\w.])\d{4}-\d\d(?:-\d\d)?(?![\w.]))|"
    rf"(?<![\w.,])(?P<sign>-|(?<=\.\.)-)?[$€£₹¥]?(?P<run>{RUN_IN_SOURCE})(?P<e>e[-+]?\d+)?%?(?![\w]|[.,]\d)|"
    r"(?<!\S)(?P<none>NaN|None|<NA>|NaT)(?!\S)"
)
_SERIES_NAME: Final = re.compile(r"^(?:Name: (?P<name>[^,\n]+), )?(?:Length: \d+, )?dtype: ")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_TOTALS: Final = frozenset({"count", "sum", "total", "all", "n", "gesamt", "summe", "合计", "कुल"})
_STATISTICS: Final = _TOTALS | {"mean", "std", "min", "max", "median", "mittel"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a table."""

    start: int
    end: int
    value: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line with numbers."""

    start: int
    label: str
    """In the form of `normal_label`; empty if it has none."""
    cells: tuple[Cell | None, ...]
    """`None`: a missing value."""

    @property
    def is_statistic(self) -> bool:
        """Whether the row holds a statistic of the other rows, or of a column."""
        return self.label.endswith("%") or not _STATISTICS.isdisjoint(re.split(r"[\W_]+", self.label))

    def may_be_row(self, other: Row) -> bool:
        """Return whether the row is the same as another one, or holds a statistic, as the other may do."""
        return self == other or self.is_statistic


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
    def columns(self) -> tuple[tuple[float, ...], ...]:
        """The numbers of each column, without those of statistics."""
        rows = [row for row in self.rows if not row.is_statistic]
        return tuple(tuple(cell.value for row in rows if (cell := row.cells[n])) for n in range(self.width))

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """The sums of columns, and the counts and sums that are printed."""
        printed = [row for row in self.rows if row.label in _TOTALS]
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


@lru_cache(maxsize=4096)
def normal_label(text: str) -> str:
    """Return a label as it is compared: in lower case, without the unit of a column such as `weight_kg`."""
    words = [word for word in re.split(r"[_\s]+", text.strip(" *`'\"#.:|=,;()[]{}\t-").lower()) if word]
    if len(words) > 1 and header_unit(f"x_{words[-1]}"):
        words.pop()
    return " ".join(words)


def _tables(source: SourceText) -> Iterator[Table]:
    """Yield the tables of a source. A line without numbers begins a new one, and may hold the names of its columns."""
    header: list[str] = []
    rows: list[Row] = []
    position = 0
    for line in source.text.split("\n"):
        row, names = _row(line, position, is_first=not rows)
        position += len(line) + 1
        if rows and (row is None or len(row.cells) != len(rows[0].cells) or len(rows) >= _ROWS_LIMIT):
            if not row and (name := _SERIES_NAME.match(line)):
                header = [name["name"] or ""] if not header or rows[0].label else header
            yield Table(source, header, rows)
            rows, header = [], header if row else []
        if row:
            rows.append(row)
        elif names and not header:
            header = names
        elif not line.strip():
            header = []
    if rows:
        yield Table(source, header, rows)


def _row(line: str, position: int, *, is_first: bool) -> tuple[Row | None, list[str]]:
    """Return the row of a line, or the names of columns that the line holds instead."""
    matches = list(_CELL.finditer(line))
    numbers = [match for match in matches if match["run"]]
    names = [one for one in (line.split("\t") if "\t" in line else re.split(r"[\s|]+", line)) if one.strip()]
    is_years = is_first and all(_YEAR.fullmatch(match["run"]) for match in numbers) and len(names) > len(numbers)
    if not numbers or (is_years and len(numbers) > 1):
        return None, names
    label, first = _label(line, matches)
    cells = tuple(_cell(match, position) for match in matches[first:] if not match["date"])
    return (Row(position, label, cells), []) if cells else (None, names)


def _label(line: str, matches: Sequence[re.Match[str]]) -> tuple[str, int]:
    """Return the label of a line, and which of its numbers is its first cell."""
    lead = line[: matches[0].start()].strip(" \t|")
    first = matches[0]
    if lead:
        return normal_label(lead.partition("\t")[0]), 0
    if first["date"]:
        return first["date"], 1
    if len(matches) == 1 or first["none"]:
        return "", 0
    between = line[first.end() : matches[1].start()].strip(" \t|")
    if any(map(str.isalpha, between)):
        # The number of the row comes before its label: `0  Ulm  76993.3`. Other text columns may follow.
        is_number = first["run"].isdigit() and first.start() == len(line) - len(line.lstrip())
        return normal_label(between.partition("\t")[0]), 1 if is_number and not first[0].endswith("%") else 0
    if _YEAR.fullmatch(first[0]) or first[0].endswith("%"):
        return first[0], 1
    return "", 0


def _cell(match: re.Match[str], position: int) -> Cell | None:
    if match["none"]:
        return None
    readings = read_run(match["run"], ".")
    value = float(readings[0].value if readings else 0) * (float(f"1{match['e']}") if match["e"] else 1)
    return Cell(position + match.start(), position + match.end(), -value if match["sign"] else value)
