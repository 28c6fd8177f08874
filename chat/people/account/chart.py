"""Charts of numbers, each with a table of the same numbers. Pure but for the active language.

The image of a chart of days is measured in days and amounts. The browser stretches it, so no code computes lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import pgettext

from chat.vocabulary.sentences import translate_sentence


@dataclass(frozen=True, slots=True)
class Bar:
    """The part of a day's column that belongs to one series."""

    x: int
    """Days from the left."""
    y: float
    """Distance from the top of the image to the top of the bar, in the unit of the amounts."""
    height: float
    series: int
    """Number of the colour, from 1 to 6."""
    title: str


@dataclass(frozen=True, slots=True)
class Columns:
    """A column for each day."""

    bars: tuple[Bar, ...]
    width: int
    """The number of days."""
    height: float
    """The highest amount."""
    highest: str
    first_day: str
    last_day: str

    @property
    def is_one_day(self) -> bool:
        """Whether all bars are of one day. A sentence says their amounts better than an image."""
        return len({bar.x for bar in self.bars}) == 1


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table."""

    cells: tuple[str, ...]
    amount: float = 0
    """Drawn as a bar in tables that have bars."""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart as text."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def highest(self) -> float:
        """The highest amount of a row; 0: the table has no bars."""
        return max((row.amount for row in self.rows), default=0)


@dataclass(frozen=True, slots=True)
class Chart:
    """One section of a page of charts."""

    name: str
    """Prefix of the ids of its HTML elements."""
    title: str
    unit: str
    summary: str
    """A sentence that describes the chart to users of screen readers."""
    empty_text: str
    """Shown instead of the numbers if all are 0."""
    table: Table
    columns: Columns | None = None
    """Absent: the table has bars."""
    legend: tuple[str, ...] = ()
    """The name of each series; empty for charts with one series."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not (self.columns.height if self.columns else self.table.highest)


def draw_columns(
    days: Sequence[date],
    amounts: Mapping[date, Mapping[str, float]],
    names: Sequence[str],
    format_number: Callable[[float], str],
    *,
    is_stacked: bool = True,
) -> Columns:
    """Return a column for each day. If not stacked, the amounts of later names stand before those of earlier ones.

    `amounts` holds an amount for each day and name; absent ones are 0.
    """
    height = max(
        (sum(day.values()) if is_stacked else max(day.values(), default=0) for day in amounts.values()), default=0
    )
    bars = []
    for x, day in enumerate(days):
        base = height
        for series, name in enumerate(names, 1):
            if amount := amounts.get(day, {}).get(name, 0):
                y = base - amount
                title = f"{_day_words(day)}: {format_number(amount)} {translate_sentence(name)}"
                bars.append(Bar(x, y, amount, series, title))
                base = y if is_stacked else height
    return Columns(tuple(bars), len(days), height, format_number(height), _day_words(days[0]), _day_words(days[-1]))


def _day_words(day: date) -> str:
    """Return a date such as `3 Mar`, as the active language writes it."""
    return date_format(day, pgettext("format of a day on an axis", "j M"))
