"""Computes what an answer may have computed from a whole table: sums, means and shares of columns and rows. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import mul
from typing import Final

from chat.messages.numbers.contexts import Context
from chat.messages.numbers.mentions import mentions
from chat.messages.numbers.operations import Pair, Result
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import Row
from chat.messages.numbers.tables import Table
from chat.messages.numbers.words_around_numbers import PERCENT_HINT, PERCENTS

ROWS_LIMIT: Final = 40
"""Maximum number of rows of a table that are paired with each other, unless the sentence names the rows."""
CELLS_LIMIT: Final = 8
"""Maximum number of cells of a row, or of columns, that are paired with each other."""
_DIGITS_OF_ENDS: Final = 4
_ROWS_OF_SINGLES: Final = 3
"""Maximum number of rows of a table of single numbers."""


def row_counts(number: WrittenNumber, tables: Sequence[Table]) -> Iterator[Result]:
    """Yield the count of rows of each table, if the number may be a count: it is whole and has no unit."""
    if not number.unit and number.amount.step == 1:
        counts = [len(table.rows) for table in tables if len(table.rows) > 1]
        yield from (Result(float(count), text=f"{count} rows") for count in counts)


def total_pairs(number: WrittenNumber, table: Table) -> Iterator[Pair]:
    """Yield pairs of sums of two columns, and pairs of the least and the greatest number of each column."""
    columns = [values for values, unit in zip(table.columns, table.units, strict=True) if number.may_have_unit(unit)]
    yield from combinations([sum(values) for values in columns[:CELLS_LIMIT] if len(values) > 1], 2)
    yield from ((min(values), max(values)) for values in columns if len(values) > 2)


def sums_of_ends(number: WrittenNumber, table: Table) -> Iterator[Result]:
    """Yield the sums of the first and of the last rows of columns, such as of the first half of the months.

    There are many, so the number must have enough digits not to equal one of them by chance.
    """
    for values, unit in zip(table.columns, table.units, strict=True):
        if number.digits >= _DIGITS_OF_ENDS and len(values) <= ROWS_LIMIT and number.may_have_unit(unit):
            for count in range(2, len(values) - 1):
                yield Result(sum(values[:count]), text=f"sum of the first {count} numbers")
                yield Result(sum(values[-count:]), text=f"sum of the last {count} numbers")


def sums_of_signs(number: WrittenNumber, table: Table) -> Iterator[Result]:
    """Yield the sums of the numbers above and below zero in columns that have both."""
    for values, unit, has_both in zip(table.columns, table.units, table.has_both_signs, strict=True):
        if has_both and number.may_have_unit(unit):
            for some in ([one for one in values if one > 0], [one for one in values if one < 0]):
                if len(some) > 1:
                    yield Result(sum(some), text=f"sum of {len(some)} numbers")


def weighted_means(number: WrittenNumber, table: Table) -> Iterator[Result]:
    """Yield the means of columns weighted by another column of whole numbers, and the mean steps from row to row."""
    for values, unit in zip(table.columns, table.units, strict=True):
        if len(values) < 2 or not number.may_have_unit(unit):
            continue
        yield Result((values[-1] - values[0]) / (len(values) - 1), text=f"mean step of {len(values)} numbers")
        for weights in table.columns:
            are_counts = len(weights) == len(values) and weights is not values and all(map(float.is_integer, weights))
            if are_counts and (total := sum(weights)):
                mean = sum(map(mul, values, weights)) / total
                yield Result(mean, text=f"weighted mean of {len(values)} numbers")


def shares(number: WrittenNumber, table: Table, rows: Sequence[Row]) -> Iterator[Result]:
    """Yield shares of these rows in the totals of columns, their sums, and the totals without one or all of them."""
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
        if len(table.rows) < _ROWS_OF_SINGLES:
            # The total without one of two rows is the other row, which is no result.
            continue
        if 0 < len(values) < len(table.rows):
            yield Result(total - sum(values), "minus", (sum(values), total))
        elif table.width == 1:
            yield from (Result(total - value, "minus", (value, total)) for value in values)


def single_numbers(tables: Sequence[Table]) -> Iterator[float]:
    """Yield the numbers of tables with one column and few rows, such as `total: 12`."""
    for table in tables:
        if table.width == 1 and len(table.rows) <= _ROWS_OF_SINGLES:
            yield from (cell.value for row in table.rows if (cell := row.cells[0]))


def sum_of_row(number: WrittenNumber, table: Table, row: Row) -> Iterator[Result]:
    """Yield the sum of a row if all its numbers have the same unit."""
    cells = [cell.value for cell in row.cells if cell]
    if row.label and len(cells) > 1 and len(set(table.units)) == 1 and number.may_have_unit(table.units[0]):
        yield Result(sum(cells), text=f"sum of {len(cells)} numbers")


def sums_of_labels(number: WrittenNumber, table: Table) -> Iterator[Result]:
    """Yield the sum of each label and each group in tables with two columns of labels, or its share in the total."""
    rows = [row for row in table.rows if row.group]
    counts = Counter(name for row in rows for name in (row.label, row.group))
    for label in (name for name, count in counts.items() if count > 1):
        for column, total in enumerate(map(sum, table.columns)):
            cells = (row.cells[column] for row in rows if label in (row.label, row.group))
            value = sum(cell.value for cell in cells if cell)
            if number.unit not in PERCENTS:
                yield Result(value, text=f"sum of {label}")
            elif total:
                yield Result(value / total * 100, "share", (value, total))


def column_results(number: WrittenNumber, table: Table, context: Context) -> Iterator[Result]:
    """Yield sums and means of columns. Columns that the sentence names come first."""
    labels = table.column_labels
    named = [labels[one.label] for one in mentions(f"{context.text} {context.column}", labels)]
    for column in (*named, *(n for n in range(table.width) if n not in named)):
        values = table.columns[column]
        if number.unit in PERCENTS and not (
            table.units[column] in PERCENTS or PERCENT_HINT.search(table.names[column])
        ):
            continue
        if len(values) > (1 if table.names[column] else 2) and number.may_have_unit(table.units[column]):
            name = table.names[column] or "numbers"
            # A sum that is in its own column, such as that of 0, 0 and 5, is a copy rather than a computation.
            if sum(values) not in values:
                yield Result(sum(values), text=f"sum of {name}")
            yield Result(sum(values) / len(values), text=f"mean of {name}")
