"""Suggests questions that fit a table. Pure. The demo model understands each of them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from chat.python.kernels.table_reading import TableColumn, TableReading

SUGGESTIONS_LIMIT = 4
CATEGORIES_LIMIT = 30
"""Maximum number of different values of a text column by which rows are grouped. A chart cannot show more groups."""
DESCRIBE = "Describe this table"

NUMBERS = ("whole number", "number")
DATES = ("date", "date and time")
CATEGORIES = ("text", "yes or no")
NO_QUANTITIES = ("identifier", "code", "year")
"""Roles of numbers for which no chart or distribution is suggested."""


def suggest_questions(preview: TableReading) -> list[str]:
    """Return up to four questions, the most specific first; none if the table has no rows, or no code reads it."""
    if not preview.row_count or not preview.code:
        return []
    return list(islice(_questions(_usable_columns(preview)), SUGGESTIONS_LIMIT))


def _questions(columns: Sequence[TableColumn]) -> Iterator[str]:
    numbers = [_quoted(column) for column in columns if column.type in NUMBERS and column.role not in NO_QUANTITIES]
    # A year can be the axis of a chart, like a date.
    axes = [_quoted(column) for column in columns if column.type in DATES]
    axes += [_quoted(column) for column in columns if column.role == "year"]
    categories = [
        _quoted(column)
        for column in columns
        if column.type in CATEGORIES and column.role != "identifier" and 2 <= column.distinct <= CATEGORIES_LIMIT
    ]
    if axes and numbers:
        yield f"Plot {numbers[0]} over {axes[0]}"
    if categories and numbers:
        yield f"Compare {numbers[0]} by {categories[0]}"
    if len(numbers) > 1:
        yield f"Plot {numbers[1]} against {numbers[0]}"
    if numbers:
        yield f"Show the distribution of {numbers[0]}"
    elif categories:
        yield f"Count the rows by {categories[0]}"
    yield DESCRIBE


def _usable_columns(preview: TableReading) -> list[TableColumn]:
    """Return the columns that a question can name: not those with one value, or that only number the rows."""
    counts = Counter(column.name.lower() for column in preview.columns)
    return [
        column
        for column in preview.columns
        if column.name and counts[column.name.lower()] == 1 and not column.is_index and column.distinct > 1
    ]


def _quoted(column: TableColumn) -> str:
    quoted = column.name.replace('"', "'")
    return f'"{quoted}"'
