"""Numbers that an answer computes from others: differences, ratios, percent changes, shares, sums and means. Pure.

A number with few digits equals some result by chance, if enough are tried. So results are tried in the order of how
near their operands are to the number, and a number with one more digit gets ten times as many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, product
from typing import Final, Literal, TypeAlias

from chat.messages.numbers.claims import direction
from chat.messages.numbers.naming import Context, mentions
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.tables import TOTALS, Place, Row, SourceTables, Table
from chat.messages.numbers.units import CURRENCIES, PERCENTS, STATISTIC

_RESULTS_LIMIT: Final = 400
_RESULTS_OF_DIGIT: Final = 1.5
_RESULTS_LEAST: Final = 3
_TABLES_LIMIT: Final = 12
_ROWS_LIMIT: Final = 40
"""Pairs of rows of longer tables are not tried, unless the sentence names them."""
_CELLS_LIMIT: Final = 8


@dataclass(frozen=True, slots=True)
class Result:
    """A value that was computed."""

    value: float
    note: str
    """How, such as `12 - 5`."""
    sign: Literal["", "change", "difference"] = ""
    """What its sign says: that something grew or fell, or which operand is greater."""


Pair: TypeAlias = tuple[float, float]


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
    some = sorted(tables.all[:_TABLES_LIMIT], key=lambda table: -_nearness(table, context))
    sources = [one for one in operands.beside if number.may_have_unit(one.unit)]
    earlier = [one for one in operands.before if number.may_have_unit(one.unit)]
    beside, before = [one.value for one in sources], [one.value for one in earlier]
    named = [(table, rows) for table in some if (rows := _named_rows(table, context))]
    all_named = [row for _, rows in named for row in rows]
    totals = [total for table in some for total in _totals(table)]
    anywhere, along, across = _operations(number, context)
    columns = [one for table in some for one in _of_columns(number, table, context)]
    total_pairs = [pair for table in some for pair in _total_pairs(number, table)]
    is_statistic = bool(STATISTIC.search(context.text))
    found: Iterable[Iterable[Result]] = (
        _counts(number, some),
        _of_pairs(number, anywhere[:1], combinations(beside, 2)),
        columns if is_statistic else (),
        _of_pairs(number, anywhere[:1], total_pairs if is_statistic else ()),
        _of_pairs(number, anywhere[1:], combinations(beside, 2)),
        _of_pairs(number, across, (pair for one in sources for pair in _pairs_in_column(one, all_named))),
        _of_pairs(number, along, (pair for one in sources for pair in _pairs_in_row(one))),
        _complements(number, beside),
        _of_pairs(number, across[:2], (pair for table, rows in named for pair in _row_pairs(number, table, rows))),
        _of_pairs(number, along[:2], (pair for row in all_named for pair in _cell_pairs(row))),
        _of_pairs(number, along[:2], product((cell.value for row in all_named for cell in row.cells if cell), beside)),
        _of_pairs(number, across[2:], (pair for table, rows in named for pair in _row_pairs(number, table, rows))),
        (one for table, rows in named for one in _shares(number, table, rows)),
        _of_pairs(number, anywhere[:2], product(before, beside)),
        _of_pairs(number, along[:1], product(totals, beside)),
        columns,
        _of_pairs(number, along[:1], (pair for one in earlier[:2] for pair in _pairs_in_row(one))),
        _of_pairs(number, anywhere, combinations(before[:8], 2)),
        _complements(number, before[:4]),
        _of_pairs(number, across, (pair for one in earlier[:3] for pair in _pairs_in_column(one, all_named))),
        _of_pairs(number, along, (pair for one in earlier[:3] for pair in _pairs_in_row(one))),
        _of_pairs(number, anywhere, product(operands.given, [*beside, *before[:3]])),
        _of_pairs(number, anywhere, total_pairs),
        (one for table in some for one in _shares(number, table, table.rows[:_ROWS_LIMIT])),
        _of_pairs(
            number, along, (pair for table in some for row in table.rows[:_ROWS_LIMIT] for pair in _cell_pairs(row))
        ),
        _of_pairs(
            number, across, (pair for table in some for pair in _row_pairs(number, table, table.rows[:_ROWS_LIMIT]))
        ),
    )
    return _distinct(number, chain.from_iterable(found))


def results_allowed(number: WrittenNumber, *, is_elsewhere: bool) -> int:
    """Return how many results may be tried. `is_elsewhere`: the value is in another row than the sentence names."""
    digits = number.digits - (is_elsewhere and number.sign != "+")
    return min(_RESULTS_LIMIT, max(_RESULTS_LEAST, int(_RESULTS_OF_DIGIT * 10 ** (digits - 1))) if digits else 0)


def _distinct(number: WrittenNumber, found: Iterable[Result]) -> Iterator[Result]:
    """Yield the results of about the number's size, each once: others would not equal it by chance."""
    low = min(low for low, _ in number.bounds) / 10 ** (number.scale + 0.7)
    high = max(high for _, high in number.bounds) * 5
    tried: set[float] = set()
    for one in found:
        if one.value not in tried and low <= abs(one.value) <= high:
            tried.add(one.value)
            yield one


def _nearness(table: Table, context: Context) -> int:
    """Return how many words of the context name rows or columns of a table."""
    return len(mentions(context.text, table.labels)) + len(mentions(context.text, table.column_labels))


def _named_rows(table: Table, context: Context) -> list[Row]:
    found = next(
        filter(None, (mentions(text, table.keys) for text in (context.text, context.head, context.before))), []
    )
    return [table.keys[label] for label in dict.fromkeys(one.label for one in found)]


def _counts(number: WrittenNumber, tables: Sequence[Table]) -> Iterator[Result]:
    if not number.unit and number.amount.step == 1:
        yield from (Result(float(count), f"{count} rows") for table in tables if (count := len(table.rows)) > 1)


def _complements(number: WrittenNumber, values: Sequence[float]) -> Iterator[Result]:
    if number.unit in PERCENTS:
        for value in values:
            if 0 < value < 1:
                yield Result(100 * (1 - value), f"100 % - {_text(value)}")
            if 1 < value < 10:
                # A factor of 1.49 is an improvement of 49 %.
                yield Result((value - 1) * 100, f"{_text(value)} - 1", "change")
    if len(values) > 2:
        yield Result(sum(values), f"sum of {len(values)} numbers")


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


def _totals(table: Table) -> Iterator[float]:
    """Yield the sums of columns, and the counts and sums that are printed."""
    yield from (sum(values) for values in table.columns[:_CELLS_LIMIT] if len(values) > 1)
    yield from (cell.value for row in table.rows if row.label in TOTALS for cell in row.cells[:_CELLS_LIMIT] if cell)


def _total_pairs(number: WrittenNumber, table: Table) -> Iterator[Pair]:
    """Yield the sums of each two columns, and the least and the greatest number of each."""
    columns = [values for values, unit in zip(table.columns, table.units, strict=True) if number.may_have_unit(unit)]
    yield from combinations([sum(values) for values in columns[:_CELLS_LIMIT] if len(values) > 1], 2)
    yield from ((min(values), max(values)) for values in columns if len(values) > 2)


def _shares(number: WrittenNumber, table: Table, rows: Sequence[Row]) -> Iterator[Result]:
    """Yield the shares of rows in the sums of columns, and the sums of the rows."""
    for column in range(table.width):
        values = [cell.value for row in rows if (cell := row.cells[column])]
        total = sum(table.columns[column])
        if not number.may_have_unit(table.units[column]):
            continue
        if number.unit in PERCENTS and total:
            yield from (Result(value / total * 100, f"{_text(value)} / {_text(total)}") for value in values)
            if 1 < len(values) < len(table.rows):
                yield Result(sum(values) / total * 100, f"{_text(sum(values))} / {_text(total)}")
        if 1 < len(values) < len(table.rows):
            factor = 100 if number.unit in PERCENTS and total <= 1.01 else 1
            yield Result(sum(values) * factor, f"sum of {len(values)} numbers")
        elif total and len(values) == len(table.rows) > 2:
            yield from (Result(total - value, f"{_text(total)} - {_text(value)}") for value in values)


def _of_columns(number: WrittenNumber, table: Table, context: Context) -> Iterator[Result]:
    """Yield sums and means of columns, those that are named first."""
    labels = table.column_labels
    named = [labels[one.label] for one in mentions(f"{context.text} {context.column}", labels)]
    for column in (*named, *(n for n in range(table.width) if n not in named)):
        values = table.columns[column]
        if len(values) > 1 and number.may_have_unit(table.units[column]):
            name = table.names[column] or "numbers"
            yield Result(sum(values), f"sum of {name}")
            yield Result(sum(values) / len(values), f"mean of {name}")


_Operation: TypeAlias = Callable[[WrittenNumber, float, float], Result | None]


def _of_pairs(number: WrittenNumber, operations: Sequence[_Operation], pairs: Iterable[Pair]) -> Iterator[Result]:
    """Yield the results of pairs, those of the likeliest operation first."""
    listed = list(islice(pairs, _RESULTS_LIMIT))
    for operation in operations:
        for one, other in listed:
            if result := operation(number, one, other):
                yield result


def _operations(number: WrittenNumber, context: Context) -> tuple[Sequence[_Operation], ...]:
    """Return what may be computed from two numbers anywhere, in one row of a table, and in one column."""
    if number.unit == "%":
        if number.sign:
            return (_change, _change_back, _difference), (_change,), (_change, _change_back, _difference)
        ratios = (_change, _share) if direction(context.clause) else (_share, _change)
        return (*ratios, _change_back, _difference), ratios, (*ratios, _difference, _sum, _change_back)
    if number.unit == "pp":
        return (_difference,), (_difference,), (_difference,)
    if number.sign:
        return (_difference,), (_difference,), (_difference,)
    if number.is_ratio:
        return (_ratio,), (_ratio,), (_ratio,)
    if number.unit and number.unit not in CURRENCIES:
        return (_difference, _sum), (), (_difference, _sum)
    if number.unit or number.amount.step == 1:
        return (_difference, _portion, _ratio, _sum), (_portion, _ratio, _difference), (_difference, _ratio, _sum)
    return (_ratio, _difference, _points, _sum, _portion), (_ratio, _difference), (_ratio, _difference, _points, _sum)


def _share(number: WrittenNumber, one: float, other: float) -> Result | None:
    low, high = sorted((one, other))
    return Result(low / high * 100, f"{_text(low)} / {_text(high)}") if low > 0 else None


def _change(number: WrittenNumber, one: float, other: float) -> Result | None:
    return Result((other - one) / abs(one) * 100, f"{_text(other)} / {_text(one)} - 1", "change") if one else None


def _change_back(number: WrittenNumber, one: float, other: float) -> Result | None:
    return _change(number, other, one)


def _difference(number: WrittenNumber, one: float, other: float) -> Result | None:
    if number.unit in PERCENTS:
        return _points(number, one, other)
    if not _may_add(number, one, other):
        return None
    return Result(other - one, f"{_text(other)} - {_text(one)}", "difference")


def _sum(number: WrittenNumber, one: float, other: float) -> Result | None:
    note = f"{_text(one)} + {_text(other)}"
    if number.unit in PERCENTS:
        return Result((one + other) * 100, f"({note}) × 100") if 0 < one + other <= 1 else None
    return Result(one + other, note) if _may_add(number, one, other) else None


def _points(number: WrittenNumber, one: float, other: float) -> Result | None:
    """Return the difference of two fractions in points."""
    if abs(one) > 1 or abs(other) > 1:
        return None
    return Result((other - one) * 100, f"({_text(other)} - {_text(one)}) × 100", "difference")


def _ratio(number: WrittenNumber, one: float, other: float) -> Result | None:
    low, high = sorted((one, other))
    return (
        Result(high / low, f"{_text(high)} / {_text(low)}")
        if low > 0 and low != 1 and high / low >= number.least_ratio
        else None
    )


def _portion(number: WrittenNumber, one: float, other: float) -> Result | None:
    """Return the product of a fraction and a count, or of a count and an amount."""
    low, high = sorted((one, other))
    is_portion = (0 < low < 1 < high and high.is_integer()) or (number.digits > 2 and low > 1)
    return Result(low * high, f"{_text(low)} × {_text(high)}") if is_portion else None


def _may_add(number: WrittenNumber, one: float, other: float) -> bool:
    """Return whether a sum or difference of two values may be written as a number.

    It has no fraction if they have none, and neither of them is less than its last digit.
    """
    step = float(number.amount.step)
    if max(abs(one), abs(other)) < 10**number.scale:
        # The values are in millions.
        step /= 10**number.scale
    return (number.amount.value % 1 == 0 or not (one.is_integer() and other.is_integer())) and min(
        abs(one), abs(other)
    ) >= step


def _text(value: float) -> str:
    return f"{value:.12g}"
