"""Charts of numbers, each with a table of the same numbers. Pure except for the active language.

The coordinates of a chart of days are days and amounts. The browser stretches the image, so no code computes pixels.
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
    """The part of a day's column that shows one series."""

    x: int
    """Index of the day, counted from the left."""
    y: float
    """Distance from the top of the image to the top of the bar, in the unit of the amounts."""
    height: float
    series: int
    """Number of the colour, from 1 to 6."""
    title: str


@dataclass(frozen=True, slots=True)
class Columns:
    """A chart with one column for each day."""

    bars: tuple[Bar, ...]
    width: int
    """The number of days."""
    height: float
    """The highest amount of a column."""
    highest: str
    first_day: str
    last_day: str

    @property
    def is_one_day(self) -> bool:
        """Whether all bars are of one day. A sentence then says the amounts better than an image."""
        return len({bar.x for bar in self.bars}) == 1


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    cells: tuple[str, ...]
    amount: float = 0
    """The length of the bar, in tables that have bars."""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart as text."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def highest(self) -> float:
        """The highest amount of a row; 0 if the table has no bars."""
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
    """The text that is shown if all numbers are 0."""
    table: Table
    columns: Columns | None = None
    """The columns of the chart. `None` if the table has bars instead."""
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
    """Return a chart with a column for each day.

    `amounts`: day -> name of a series -> amount; missing ones are 0. If `is_stacked` is false, the bars of later series
    are drawn in front of earlier ones.
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
    """Return a date such as `3 Mar` in the form of the active language."""
    return date_format(day, pgettext("format of a day on an axis", "j M"))
