"""The values from which a number may have been computed, and the pairs of them in tables. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chat.messages.numbers.operations import Pair
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import Row
from chat.messages.numbers.tables import Place, Table
from chat.messages.numbers.whole_tables import CELLS_LIMIT

_FURTHER_LIMIT: Final = 12
"""Maximum number of pairs in columns of different names."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value from which a number may have been computed: the source of another number of the answer."""

    value: float
    """The value; a percentage as a fraction."""
    place: Place | None = None
    pair: Pair | None = None
    """The values whose difference this is."""

    @property
    def unit(self) -> str:
        """The unit that the table of the number names; empty if none is known."""
        return self.place.unit if self.place else ""

    def may_be_added(self, other: Operand) -> bool:
        """Return whether both may be the same kind of quantity, so that adding or comparing them makes sense.

        They are not if their rows and columns have no name in common, or if only one is a difference.
        """
        one, two = self.place, other.place
        if bool(self.pair) != bool(other.pair):
            return False
        if one is None or two is None or (one.table is two.table and (one.column == two.column or one.row is two.row)):
            return True
        if (
            one.table is not two.table
            and 1 in (one.table.width, len(one.table.rows))
            and 1 in (two.table.width, len(two.table.rows))
        ):
            return True
        return one.shares_name(two)


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands from which a number may have been computed, the nearest first."""

    beside: Sequence[Operand]
    """The sources of the numbers in the same sentence."""
    before: Sequence[Operand]
    """The sources of the numbers in earlier sentences."""
    given: Sequence[float]
    """The numbers in the question and in code."""
    written: Sequence[float]
    """The numbers of the sentence as they are written, with or without a source."""
    of_row: Callable[[str], Sequence[Operand]]
    """Returns the sources of the numbers before the sentence that are of a row or a statistic, by its label."""


def alike(pairs: Iterable[tuple[Operand, Operand]]) -> Iterator[Pair]:
    """Yield the pairs in columns with the same name, and then a few others whose names have something in common."""
    further = list[Pair]()
    for one, other in pairs:
        if one.place and other.place and one.value != other.value:
            if one.place.column_label == other.place.column_label:
                yield other.value, one.value
            elif one.place.row is other.place.row or one.place.shares_name(other.place):
                further.append((other.value, one.value))
    yield from further[:_FURTHER_LIMIT]


def pairs_in_row(one: Operand) -> Iterator[Pair]:
    """Yield pairs of an operand and each other number of its row, those in the nearest columns first."""
    if place := one.place:
        cells = sorted(enumerate(place.row.cells[:CELLS_LIMIT]), key=lambda cell: abs(cell[0] - place.column))
        yield from ((one.value, place.table.value(n, cell)) for n, cell in cells if cell and n != place.column)


def pairs_in_column(one: Operand, named: Sequence[Row]) -> Iterator[Pair]:
    """Yield pairs of an operand and other numbers of its column: in the named rows, and in the rows above and below."""
    if place := one.place:
        rows = place.table.rows
        number = rows.index(place.row)
        beside = (*rows[max(0, number - 1) : number], *rows[number + 1 : number + 2])
        for row in (*(row for row in named if row in rows and row != place.row), *beside):
            if cell := row.cells[place.column]:
                value = place.table.value(place.column, cell)
                yield (value, one.value) if row.start < place.row.start else (one.value, value)


def pairs_of_rows(number: WrittenNumber, rows_of_tables: Iterable[tuple[Table, Sequence[Row]]]) -> Iterator[Pair]:
    """Yield pairs of numbers of one column in these rows of each table, those in neighbouring rows first."""
    for table, rows in rows_of_tables:
        yield from _row_pairs(number, table, rows)


def _row_pairs(number: WrittenNumber, table: Table, rows: Sequence[Row]) -> Iterator[Pair]:
    columns = [n for n, unit in enumerate(table.units) if number.may_have_unit(unit)]
    for distance in range(1, len(rows)):
        for one, other in zip(rows, rows[distance:], strict=False):
            for column in columns:
                if (first := one.cells[column]) and (second := other.cells[column]):
                    yield table.value(column, first), table.value(column, second)


def cell_pairs(row: Row) -> Iterator[Pair]:
    """Yield pairs of numbers of one row, those in neighbouring columns first."""
    cells = [cell.value for cell in row.cells[:CELLS_LIMIT] if cell]
    for distance in range(1, len(cells)):
        yield from zip(cells, cells[distance:], strict=False)


def steps(table: Table) -> Iterator[Pair]:
    """Yield pairs of successive numbers of the same thing in two years, quarters or months."""
    for some in table.series:
        yield from pairwise(some)
