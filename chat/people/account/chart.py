"""A chart of numbers, with a table of the same numbers. Pure values."""

from __future__ import annotations

from dataclasses import dataclass

from chat.people.account.chart_layout import Plot


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart as text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One section of a page of charts."""

    name: str
    """Prefix of the ids of its HTML elements."""
    title: str
    unit: str
    """Unit of the value axis."""
    summary: str
    """A sentence that describes the chart to users of screen readers."""
    empty_text: str
    """Shown instead of the image if there is no value to draw."""
    plot: Plot
    table: Table
    legend: tuple[tuple[int, str], ...] = ()
    """Number and name of each series; empty for charts with one series."""
