"""The tables in the outputs of code: rows with labels, columns with names, and their numbers. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from chat.messages.numbers.aligned_columns import names_of_rows, split_columns
from chat.messages.numbers.measures import measure_of_name, stems_of_maxima
from chat.messages.numbers.mentions import Mention, mentions
from chat.messages.numbers.rows import QUARTERS, TOTALS, Cell, Row, normal_label
from chat.messages.numbers.sources import SourceText
from chat.messages.numbers.statistic_words import label_statistic
from chat.messages.numbers.words_around_numbers import header_unit

_LINK_LETTERS: Final = 2
"""Maximum number of letters of a word such as `vs` and `to` that links two values of one kind."""
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?:-\d\d| ?-?[qQ][1-4])?(?!\d)|(?<=[^\W\d])(?:19|20)\d\d$")
_YEAR_OR_LETTER: Final = re.compile(rf"{_YEAR.pattern}|(?<=[ _])[A-Za-z]$")


class Pivot(list[str]):
    """The names of the columns of a pivot table. They are values of the data, as the labels of its rows are."""


class Table:
    """Rows that have the same number of cells."""

    def __init__(self, source: SourceText, names: Sequence[str], rows: Sequence[Row]) -> None:
        """`names`: the names of the columns, as they are written. There may be more names than cells, or none."""
        self.source = source
        self._has_quarters = any(row.group or row.label == "q4" for row in rows) or "Q4" in names
        self.rows = tuple(replace(row, is_quarter=True) if self._has_quarters else row for row in rows)
        self._other_names: dict[str, str] = {}
        if names_by_row := names_of_rows(_texts(source, rows)):
            labels, groups, others = names_by_row
            self.rows = tuple(
                replace(row, label=label, group=group)
                for row, label, group in zip(self.rows, labels, groups, strict=True)
            )
            self._other_names = {name: label for label, some in zip(labels, others, strict=True) for name in some}
        self.width = len(rows[0].cells)
        self.names = tuple([""] * (self.width - len(names)) + list(names))[-self.width :]
        """One name for each cell; empty if the column has none."""
        self.units = tuple(map(header_unit, self.names))
        self.title = " ".join(names)
        self.is_pivot = isinstance(names, Pivot)

    @cached_property
    def labels(self) -> dict[str, Row]:
        """The rows by their labels, without statistics, and the first row of each group by the group's label."""
        groups = {row.group: row for row in reversed(self.rows) if row.group}
        return groups | {row.label: row for row in reversed(self.rows) if row.label and not row.is_statistic}

    def statistic(self, label: str) -> str:
        """Return the statistic that the label of a row or a column names; empty if none. Q1 may be a
        quarter of a year.
        """
        return "" if self._has_quarters and label in QUARTERS else label_statistic(label)

    @cached_property
    def keys(self) -> dict[str, Row]:
        """The rows by their labels. Without labels, by the numbers that identify them if these are unique."""
        if self.labels or self.width < 2:
            return self.labels
        firsts = {self.key_of(row): row for row in self.rows}
        return firsts if len(firsts) == len(self.rows) else {}

    @cached_property
    def row_names(self) -> dict[str, str]:
        """The names of rows -> their labels in `keys`: these labels, other texts of the rows, and names that
        `learn_names` adds. A name without a label only contains the name of a row.
        """
        others = {name: label for name, label in self._other_names.items() if label in self.keys}
        return others | {label: label for label in self.keys}

    @cached_property
    def groups(self) -> frozenset[str]:
        """The labels of groups of rows."""
        return frozenset(row.group for row in self.rows) - {""}

    @cached_property
    def dimensions(self) -> tuple[dict[int, str], ...]:
        """For each column of years or texts with several values, except the labels and groups: the position of a row ->
        its year or text.
        """
        cells = zip(*(row.cells for row in self.rows), strict=True)
        columns = [[f"{cell.value:.15g}" if cell else "" for cell in column] for column in cells]
        found: list[Sequence[str]] = [column for column in columns if all(map(_YEAR.fullmatch, column))]
        if len({len(row.texts) for row in self.rows}) == 1:
            known = {row.label for row in self.rows}, self.groups
            found += (texts for texts in zip(*(row.texts for row in self.rows), strict=True) if {*texts} not in known)
        starts = [row.start for row in self.rows]
        return tuple(dict(zip(starts, values, strict=True)) for values in found if len({*values}) > 1)

    @cached_property
    def has_unique_labels(self) -> bool:
        """Return whether the label of a row tells which row it is, also without its group."""
        return len({row.label for row in self.rows}) == len(self.rows)

    def mentions(self, text: str) -> list[Mention]:
        """Return the labels of the rows that a text contains, also by other names."""
        found = mentions(text, self.row_names)
        return [replace(one, label=label) for one in found if (label := self.row_names[one.label])]

    @cached_property
    def key_column(self) -> int:
        """The column of the numbers that identify rows: the first one, or one of years after the numbers of rows."""
        is_first = self.width < 3 or bool(self.names[0])
        return int(not is_first and all(_YEAR.fullmatch(f"{value:.15g}") for value in self.columns[1]))

    def key_of(self, row: Row) -> str:
        """Return the number that identifies a row of a table without labels."""
        cell = row.cells[self.key_column]
        return f"{cell.value:.15g}" if cell and not self.labels else ""

    @cached_property
    def column_labels(self) -> dict[str, int]:
        """The indexes of the columns by their labels."""
        return {normal_label(name): n for n, name in enumerate(self.names) if name}

    @cached_property
    def names_of_columns(self) -> dict[str, str]:
        """The labels of columns, except those that name a statistic -> these labels."""
        return {label: label for label in self.column_labels if not self.statistic(label)}

    def names_beside(self, column: int) -> dict[str, str]:
        """Return the years or letters in the names of columns that are otherwise like the name of a column -> their
        labels.
        """
        some = self._alike.get(_YEAR_OR_LETTER.sub("", self.names[column]), {})
        return some if len(some) > 1 else {}

    @cached_property
    def _alike(self) -> dict[str, dict[str, str]]:
        """Name of a column without its year or letter -> the result of `names_beside` for such columns."""
        alike: dict[str, dict[str, str]] = {}
        for name in self.names:
            if match := _YEAR_OR_LETTER.search(name):
                alike.setdefault(_YEAR_OR_LETTER.sub("", name), {})[match[0].lower()] = normal_label(name)
        return alike

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The units of measure that the names of columns hold; empty for a column without one."""
        maxima = stems_of_maxima(self.names)
        return tuple(measure_of_name(name, maxima) for name in self.names)

    @cached_property
    def year_columns(self) -> frozenset[int]:
        """The indexes of columns with the same quantity in ascending years; none if the table has no such columns."""
        return frozenset(_years(self.names))

    @cached_property
    def columns(self) -> tuple[tuple[float, ...], ...]:
        """The numbers of each column. Rows of statistics are left out."""
        rows = [row for row in self.rows if not row.is_statistic]
        return tuple(tuple(cell.value for row in rows if (cell := row.cells[n])) for n in range(self.width))

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """The sums of the columns, and the numbers in printed rows of totals."""
        printed = [row for row in self.rows if row.label in TOTALS]
        sums = (sum(values) for values in self.columns if len(values) > 1)
        return (*sums, *(cell.value for row in printed for cell in row.cells if cell))

    @cached_property
    def series(self) -> tuple[tuple[float, ...], ...]:
        """The numbers of the same thing in successive years: in columns such as `sales_2023` and `sales_2024`, or in
        rows.
        """
        columns = sorted(self.year_columns)
        cells = (tuple(row.cells[n] for n in columns) for row in self.rows)
        rows = [tuple(cell.value for cell in some if cell) for some in cells] if columns else []
        labels = [row.label or self.key_of(row) for row in self.rows]
        return (*rows, *(self.columns if len(_years(labels)) == len(labels) else ()))

    @cached_property
    def is_description(self) -> bool:
        """Return whether all rows are statistics of the columns, as in the output of `describe()`."""
        return all(row.is_statistic for row in self.rows)

    def value(self, column: int, cell: Cell) -> float:
        """Return the number of a cell for computations. Percentages become fractions."""
        return cell.value / 100 if self.units[column] == "%" and self.has_percents[column] else cell.value

    @cached_property
    def has_percents(self) -> tuple[bool, ...]:
        """Return for each column whether it has numbers above 1, so that its percentages are not fractions."""
        return tuple(max(map(abs, values), default=0) > 1 for values in self.columns)

    @cached_property
    def has_both_signs(self) -> tuple[bool, ...]:
        """Return for each column whether it has numbers above and below zero."""
        return tuple(bool(column) and min(column) < 0 < max(column) for column in self.columns)


@dataclass(frozen=True)
class Place:
    """The row and the column of a number in a table."""

    table: Table
    row: Row
    column: int

    @cached_property
    def key(self) -> str:
        """The label of the row, or the number that identifies it."""
        return self.row.label or (self.table.key_of(self.row) if self.column > self.table.key_column else "")

    @cached_property
    def column_label(self) -> str:
        """The label of the column; empty if it has none."""
        return normal_label(self.table.names[self.column])

    def shares_name(self, other: Place) -> bool:
        """Return whether the rows have the same label, or a word of one column is in the names of the other place."""
        one, two = ({*place.column_label.split()} for place in (self, other))
        is_row = self.key == other.key != ""
        return is_row or not one.isdisjoint({*two, *other.key.split()}) or not two.isdisjoint(self.key.split())

    def is_later(self, other: Place) -> bool:
        """Return whether this is the same value as another one, but of a later year or date."""
        if self.row is other.row:
            years = self.table.year_columns
            return self.column in years and other.column in years and self.column > other.column
        dates = [_YEAR.match(place.key) for place in (self, other)]
        return self.column == other.column and self.table is other.table and all(dates) and self.key > other.key

    @cached_property
    def statistic(self) -> str:
        """The statistic that the number is, by the text before it, its row or its column; empty if it is none."""
        cells = [cell for cell in self.row.cells if cell]
        number = next((n for n, cell in enumerate(cells) if cell is self.row.cells[self.column]), 0)
        lead = self.table.source.text[cells[number - 1].end : cells[number].start] if number else ""
        if "\n" not in lead and sum(map(str.isalpha, lead)) > _LINK_LETTERS:
            return label_statistic(lead.lower())
        if self.row.label in self.table.column_labels and self.table.names[self.column]:
            # A name that is both a row and a column occurs in a table of correlations.
            return "r"
        table = self.table
        return table.statistic(self.row.label) or table.statistic(self.column_label)

    @cached_property
    def is_of_whole(self) -> bool:
        """Return whether the number is a mean or a median of rows, or the only number of its table."""
        is_average = self.row.is_statistic and self.statistic in ("mean", "median")
        return is_average or (len(self.table.rows) == self.table.width == 1 and not self.row.is_statistic)

    @cached_property
    def unit(self) -> str:
        """The unit that the column or the row names; empty if none is known."""
        return self.table.units[self.column] or ("" if self.row.is_statistic else header_unit(self.row.label))


def _texts(source: SourceText, rows: Sequence[Row]) -> list[Sequence[str]]:
    """Return the texts in the columns of labels of each row. Columns with one space between them have the same gap in
    all rows.
    """
    if source.kind == "code" or max(len(row.texts) for row in rows) < 2:
        return [row.texts for row in rows]
    ends = [next((cell.start for cell in row.cells if cell), row.start) for row in rows]
    found = split_columns([source.text[row.start : end] for row, end in zip(rows, ends, strict=True)])
    texts = [list(map(normal_label, some)) for some in found]
    # A number before the first text only counts the rows.
    is_numbered = not all("".join(row.texts).startswith(some[0]) for row, some in zip(rows, texts, strict=True))
    return [some[is_numbered:] for some in texts]


def is_other_year(name: str, other: str) -> bool:
    """Return whether two names of rows or columns name a year each, and not the same one."""
    one, two = ({match[0][:4] for match in _YEAR.finditer(text)} for text in (name, other))
    return len(one) == len(two) == 1 and one != two


def _years(names: Sequence[str]) -> list[int]:
    """Return the indexes of the names that are alike but for their years, if the years ascend; otherwise none."""
    found = [(n, match) for n, name in enumerate(names) if (match := _YEAR.search(name))]
    years = [match[0] for _, match in found]
    are_alike = len({match.string[: match.start()] for _, match in found}) == 1 < len(found)
    return [n for n, _ in found] if are_alike and years == sorted(set(years)) else []
