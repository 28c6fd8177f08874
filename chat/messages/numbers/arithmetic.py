"""Numbers that an answer computes from others: differences, ratios, percent changes, shares, sums and means. Pure.

A number with few digits equals some result by chance, if enough are tried. So results are tried in the order of how
near their operands are to the number, and a number with one more digit gets ten times as many of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, product
from typing import Final

from chat.messages.numbers.mentions import mentions
from chat.messages.numbers.naming import Context
from chat.messages.numbers.operations import RESULTS_LIMIT, Kind, Pair, Result, of_pairs, operations
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import Row
from chat.messages.numbers.tables import Place, SourceTables, Table
from chat.messages.numbers.units import PERCENTS, STATISTIC

RESULTS_OF_ANSWER: Final = 40_000
"""Results that are computed for one answer, which bounds the time."""
_RESULTS_LEAST: Final = 3
_RESULTS_OF_DIGIT: Final = 4.5
_COMPUTED_OF_ALLOWED: Final = 10
"""Most results are much greater or less than the number and do not count."""
_TABLES_LIMIT: Final = 12
_ROWS_LIMIT: Final = 40
"""Pairs of rows of longer tables are not tried, unless the sentence names them."""
_CELLS_LIMIT: Final = 8


@dataclass(frozen=True, slots=True)
class Operand:
    """The source of another number of the answer."""

    value: float
    """Percentages are fractions."""
    place: Place | None = None

    @property
    def unit(self) -> str:
        """The unit that its table names; empty if none is known."""
        return self.place.unit if self.place else ""


@dataclass(frozen=True, slots=True)
class Operands:
    """What a number may have been computed from, the nearest first."""

    beside: Sequence[Operand]
    """The sources of the numbers in the same sentence."""
    before: Sequence[Operand]
    """Those of the numbers in the sentences before it."""
    given: Sequence[float]
    """The numbers in the question and in code."""


def results(number: WrittenNumber, context: Context, operands: Operands, tables: SourceTables) -> Iterator[Result]:
    """Yield what a number may have been computed as, the nearest operands first."""
    some = sorted(tables.all[:_TABLES_LIMIT], key=lambda table: -len(_named(table, context)))
    sources, earlier = (_of_unit(number, found) for found in (operands.beside, operands.before))
    beside, before = [one.value for one in sources], [one.value for one in earlier]
    named = [(table, rows) for table in some if (rows := _named_rows(table, context))]
    rows = list(chain.from_iterable(rows for _, rows in named))
    anywhere, along, across = operations(number, context)
    is_statistic = STATISTIC.search(context.text) is not None
    columns = (one for table in some for one in _of_columns(number, table, context))
    totals = (pair for table in some for pair in _total_pairs(number, table))
    found: tuple[Iterable[Result], ...] = (
        _counts(number, some),
        (one for table, rows in named if len(rows) == 1 for one in _sum_of_row(number, table, rows[0])),
        of_pairs(number, anywhere[:1], combinations(beside, 2)),
        columns if is_statistic else (),
        of_pairs(number, along or anywhere[:1], totals) if is_statistic else (),
        of_pairs(number, anywhere[1:], combinations(beside, 2)),
        of_pairs(number, across, (pair for one in sources for pair in _pairs_in_column(one, rows))),
        of_pairs(number, along, (pair for one in sources for pair in _pairs_in_row(one))),
        _complements(number, beside),
        of_pairs(number, across[:2], _pairs_of_rows(number, named)),
        of_pairs(number, along[:2], (pair for row in rows for pair in _cell_pairs(row))),
        of_pairs(number, across[2:], _pairs_of_rows(number, named)),
        of_pairs(number, anywhere[:2], product((cell.value for row in rows for cell in row.cells if cell), beside)),
        (one for table, rows in named for one in _shares(number, table, rows)),
        of_pairs(number, anywhere[:2], product(before, beside)),
        of_pairs(number, along[:1], product((total for table in some for total in table.totals), beside)),
        () if named else columns,
        of_pairs(number, along[:1], (pair for one in earlier[:2] for pair in _pairs_in_row(one))),
        of_pairs(number, anywhere, combinations(before[:8], 2)),
        _complements(number, before[:4]),
        of_pairs(number, across, (pair for one in earlier[:3] for pair in _pairs_in_column(one, rows))),
        of_pairs(number, along, (pair for one in earlier[:3] for pair in _pairs_in_row(one))),
        of_pairs(number, anywhere, product(operands.given, [*beside, *before[:3]])),
        of_pairs(number, anywhere, totals),
        (one for one in columns if not one.text.startswith("mean")),
    )
    return chain(*found, *_of_tables(number, some, [table for table, _ in named], along, across))


def _of_unit(number: WrittenNumber, operands: Sequence[Operand]) -> list[Operand]:
    return [one for one in operands if number.may_have_unit(one.unit)]


def _of_tables(
    number: WrittenNumber,
    tables: Sequence[Table],
    named: Sequence[Table],
    along: Sequence[Kind],
    across: Sequence[Kind],
) -> Iterator[Iterator[Result]]:
    """Yield what follows from two numbers in a row or a column of any table. `named`: those with named rows."""
    rows = [(table, table.rows[:_ROWS_LIMIT]) for table in tables]
    left_out = named if number.unit in PERCENTS else []
    yield (one for table, some in rows if table not in left_out for one in _shares(number, table, some))
    yield of_pairs(number, along, (pair for _, some in rows for row in some for pair in _cell_pairs(row)))
    yield of_pairs(number, across, _pairs_of_rows(number, rows))


def equal_results(
    number: WrittenNumber, ranges: Sequence[Pair], found: Iterable[Result], *, is_elsewhere: bool
) -> tuple[list[Result], int]:
    """Return the results in one of the ranges, and how many were computed.

    `is_elsewhere`: the number is a value of another row than the sentence names, and less likely a result.
    """
    digits = number.digits - (is_elsewhere and number.sign != "+")
    left = min(RESULTS_LIMIT, max(_RESULTS_LEAST, int(_RESULTS_OF_DIGIT * 10 ** (digits - 1)))) if digits else 0
    least, greatest = min(low for low, _ in ranges) / 5, max(high for _, high in ranges) * 5
    tried: set[float] = set()
    equal: list[Result] = []
    computed = list(islice(found, left * _COMPUTED_OF_ALLOWED))
    for one in computed:
        if one.value not in tried and least <= abs(one.value) <= greatest and len(tried) < left:
            tried.add(one.value)
            if any(low <= abs(one.value) <= high for low, high in ranges):
                equal.append(one)
    return equal, len(computed)


def _named(table: Table, context: Context) -> list[str]:
    """Return the rows and columns of a table that a sentence names."""
    return [one.label for labels in (table.labels, table.column_labels) for one in mentions(context.text, labels)]


def _named_rows(table: Table, context: Context) -> list[Row]:
    texts = (context.text, context.head, context.before)
    found = next(filter(None, (mentions(text, table.keys) for text in texts)), [])
    return [table.keys[label] for label in dict.fromkeys(one.label for one in found)]


def _counts(number: WrittenNumber, tables: Sequence[Table]) -> Iterator[Result]:
    if not number.unit and number.amount.step == 1:
        counts = [len(table.rows) for table in tables if len(table.rows) > 1]
        yield from (Result(float(count), text=f"{count} rows") for count in counts)


def _complements(number: WrittenNumber, values: Sequence[float]) -> Iterator[Result]:
    if number.unit in PERCENTS:
        for value in values:
            if 0 < value < 1:
                yield Result(100 * (1 - value), text=f"100 % - {value:.12g}")
            elif 1 < value < 10:
                # A factor of 1.49 is an improvement of 49 %.
                yield Result((value - 1) * 100, "change", (1, value))
    if len(values) > 2:
        yield Result(sum(values), text=f"sum of {len(values)} numbers")


def _pairs_in_row(one: Operand) -> Iterator[Pair]:
    """Yield a source with each other number of its row, those beside it first."""
    if place := one.place:
        cells = sorted(enumerate(place.row.cells[:_CELLS_LIMIT]), key=lambda cell: abs(cell[0] - place.column))
        yield from ((one.value, place.table.value(n, cell)) for n, cell in cells if cell and n != place.column)


def _pairs_in_column(one: Operand, named: Sequence[Row]) -> Iterator[Pair]:
    """Yield a source with the numbers of its column, in the rows that are named, and before and after its row."""
    if place := one.place:
        rows = place.table.rows
        number = rows.index(place.row)
        beside = (*rows[max(0, number - 1) : number], *rows[number + 1 : number + 2])
        for row in (*(row for row in named if row in rows and row != place.row), *beside):
            if cell := row.cells[place.column]:
                value = place.table.value(place.column, cell)
                yield (value, one.value) if row.start < place.row.start else (one.value, value)


def _pairs_of_rows(number: WrittenNumber, rows_of_tables: Iterable[tuple[Table, Sequence[Row]]]) -> Iterator[Pair]:
    for table, rows in rows_of_tables:
        yield from _row_pairs(number, table, rows)


def _row_pairs(number: WrittenNumber, table: Table, rows: Sequence[Row]) -> Iterator[Pair]:
    """Yield the numbers of each two rows in one column, those of neighbours first."""
    columns = [n for n, unit in enumerate(table.units) if number.may_have_unit(unit)]
    for distance in range(1, len(rows)):
        for one, other in zip(rows, rows[distance:], strict=False):
            for column in columns:
                if (first := one.cells[column]) and (second := other.cells[column]):
                    yield table.value(column, first), table.value(column, second)


def _cell_pairs(row: Row) -> Iterator[Pair]:
    """Yield each two numbers of a row, neighbours first."""
    cells = [cell.value for cell in row.cells[:_CELLS_LIMIT] if cell]
    for distance in range(1, len(cells)):
        yield from zip(cells, cells[distance:], strict=False)


def _total_pairs(number: WrittenNumber, table: Table) -> Iterator[Pair]:
    """Yield the sums of each two columns, and the least and the greatest number of each."""
    columns = [values for values, unit in zip(table.columns, table.units, strict=True) if number.may_have_unit(unit)]
    yield from combinations([sum(values) for values in columns[:_CELLS_LIMIT] if len(values) > 1], 2)
    yield from ((min(values), max(values)) for values in columns if len(values) > 2)


def _shares(number: WrittenNumber, table: Table, rows: Sequence[Row]) -> Iterator[Result]:
    """Yield the shares of rows in the sums of columns, the sums of the rows, and the sums without one row."""
    for column, unit in enumerate(table.units):
        total = sum(table.columns[column])
        if not total or not number.may_have_unit(unit):
            continue
        values = [cell.value for row in rows if (cell := row.cells[column])]
        is_part = 1 < len(values) < len(table.rows)
        if number.unit in PERCENTS:
            yield from (Result(value / total * 100, "share", (value, total)) for value in values)
            if is_part:
                yield Result(sum(values) / total * 100, "share", (sum(values), total))
        if is_part:
            factor = 100 if number.unit in PERCENTS and total <= 1.01 else 1
            yield Result(sum(values) * factor, text=f"sum of {len(values)} numbers")
        elif len(values) == len(table.rows) > 2:
            yield from (Result(total - value, "minus", (value, total)) for value in values)


def _sum_of_row(number: WrittenNumber, table: Table, row: Row) -> Iterator[Result]:
    cells = [cell.value for cell in row.cells if cell]
    if row.label and len(cells) > 1 and len(set(table.units)) == 1 and number.may_have_unit(table.units[0]):
        yield Result(sum(cells), text=f"sum of {len(cells)} numbers")


def _of_columns(number: WrittenNumber, table: Table, context: Context) -> Iterator[Result]:
    """Yield sums and means of columns, those that are named first."""
    labels = table.column_labels
    named = [labels[one.label] for one in mentions(f"{context.text} {context.column}", labels)]
    for column in (*named, *(n for n in range(table.width) if n not in named)):
        values = table.columns[column]
        if len(values) > (1 if table.names[column] else 2) and number.may_have_unit(table.units[column]):
            name = table.names[column] or "numbers"
            if sum(values) not in values:
                yield Result(sum(values), text=f"sum of {name}")
            yield Result(sum(values) / len(values), text=f"mean of {name}")
