"""Computes the positions of bars, lines and axis ticks in the SVG images of the overview; templates draw them.

Pure but for the active language. Lengths are in units of the SVG view box, whose origin is the upper left corner. Every
bar and dot has a title that states its value. Colours are the CSS classes `series-1` to `series-6`, which the style
sheet defines for both themes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import pgettext

from chat.vocabulary.sentences import translate_sentence

WIDTH, HEIGHT = 460.0, 230.0
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 52.0, 20.0, 14.0, 24.0
ROW_HEIGHT, ROW_BAR_HEIGHT, ROW_MARGIN_LEFT, ROW_MARGIN_RIGHT = 28.0, 16.0, 150.0, 52.0
PLOT_HEIGHT = HEIGHT - MARGIN_TOP - MARGIN_BOTTOM
BASELINE = HEIGHT - MARGIN_BOTTOM
"""The y coordinate of the value 0 in charts of days."""

DAY_LABELS_LIMIT = 6
VALUE_STEPS = 4
"""Number of steps that a value axis should have; rounding the step makes it 1 to 5."""
SERIES_LIMIT = 6
OTHERS = "others"
"""Legend of the last series if several names share it."""

DOT_RADIUS = 2.5
SMALL_DOT_RADIUS = 1.5
SMALL_DOTS_FROM = 63
"""Number of dots from which they are drawn small: two lines over more than 31 days."""

FormatNumber = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle; (`x`, `y`) is its upper left corner and `series` counts from 1."""

    x: float
    y: float
    width: float
    height: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, as the `d` attribute of an SVG path. It is interrupted on days without a value."""

    path: str
    series: int


@dataclass(frozen=True, slots=True)
class Dot:
    """The marker of one value of a line."""

    x: float
    y: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled position on an axis: an x or a y coordinate, depending on the axis."""

    position: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The shapes of one image, the ticks of its axes and its size."""

    value_ticks: tuple[Tick, ...]
    """Y coordinates in charts of days, x coordinates in charts of rows."""
    name_ticks: tuple[Tick, ...]
    """Ticks of the other axis: the days or the row names."""
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    dots: tuple[Dot, ...] = ()
    is_rows: bool = False
    """Whether values are drawn to the right, with one row for each name."""
    height: float = HEIGHT
    left: float = MARGIN_LEFT
    right: float = WIDTH - MARGIN_RIGHT

    @property
    def width(self) -> float:
        """Width of the image, including its margins."""
        return WIDTH

    @property
    def top(self) -> float:
        """The y coordinate of the upper end of the value axis."""
        return MARGIN_TOP

    @property
    def bottom(self) -> float:
        """The y coordinate of the lower end of the value axis."""
        return self.height - MARGIN_BOTTOM

    @property
    def dot_radius(self) -> float:
        """Radius of every dot of this image."""
        return DOT_RADIUS if len(self.dots) < SMALL_DOTS_FROM else SMALL_DOT_RADIUS

    @property
    def is_empty(self) -> bool:
        """Whether there is no value to draw."""
        return not (self.bars or self.dots)


def choose_tick_values(maximum: float, *, is_integer: bool) -> tuple[float, ...]:
    """Return 2 to 6 evenly spaced round values from 0 up to at least `maximum`.

    With `is_integer` all values are integers.
    """
    if maximum <= 0:
        return (0.0, 1.0)
    exact_step = maximum / VALUE_STEPS
    power = 10.0 ** math.floor(math.log10(exact_step))
    # The tolerances of 1e-9 absorb rounding errors of floats.
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= exact_step * (1 - 1e-9))
    if is_integer:
        step = max(1.0, math.ceil(step))
    return tuple(round(number * step, 10) for number in range(math.ceil(maximum / step - 1e-9) + 1))


def format_day(day: date) -> str:
    """Return a date such as `3 Mar`, as the active language writes it."""
    return date_format(day, pgettext("format of a day on an axis", "j M"))


def assign_series(names: Sequence[str]) -> dict[str, int]:
    """Return a series number for each name, counted from 1.

    If there are more names than series, all names that are left over share the last series.
    """
    return {name: min(number, SERIES_LIMIT) for number, name in enumerate(names, 1)}


def build_legend(series: Mapping[str, int]) -> tuple[tuple[int, str], ...]:
    """Return the number and name of each series, in order. A shared series is called `OTHERS`."""
    numbers = list(series.values())
    names = {number: name if numbers.count(number) == 1 else OTHERS for name, number in series.items()}
    return tuple(sorted(names.items()))


def layout_columns(
    days: Sequence[date],
    amounts: Mapping[date, Mapping[str, float]],
    series: Mapping[str, int],
    format_number: FormatNumber,
) -> Plot:
    """Return a column for each day, in which the amounts of each series are stacked.

    `amounts` holds an amount for each day and name; absent ones are 0. Series 1 is at the bottom.
    """
    sums = [_sum_by_series(amounts.get(day, {}), series) for day in days]
    is_integer = all(float(amount).is_integer() for by_series in sums for amount in by_series.values())
    values = choose_tick_values(max((sum(by_series.values()) for by_series in sums), default=0), is_integer=is_integer)
    labels = dict(build_legend(series))
    day_width = _day_width(days)
    bars = []
    for day_number, (day, by_series) in enumerate(zip(days, sums, strict=True)):
        y = BASELINE
        for number, amount in sorted(by_series.items()):
            height = amount * PLOT_HEIGHT / values[-1]
            y -= height
            bars.append(
                Bar(
                    x=round(MARGIN_LEFT + day_width * (day_number + 0.1), 2),
                    y=round(y, 2),
                    width=round(day_width * 0.8, 2),
                    height=round(height, 2),
                    series=number,
                    title=f"{format_day(day)}: {format_number(amount)} {translate_sentence(labels[number])}".strip(),
                )
            )
    return Plot(_value_ticks(values, format_number), _day_ticks(days), bars=tuple(bars))


def _sum_by_series(amounts: Mapping[str, float], series: Mapping[str, int]) -> dict[int, float]:
    """Return the sum for each series number; series whose sum is 0 are left out."""
    sums: dict[int, float] = {}
    for name, number in series.items():
        if amount := amounts.get(name, 0):
            sums[number] = sums.get(number, 0) + amount
    return sums


def layout_lines(
    days: Sequence[date],
    amounts: Mapping[date, Sequence[float]],
    labels: Sequence[str],
    format_number: FormatNumber,
) -> Plot:
    """Return a line for each label. `amounts` holds one number per label for each day that has a value."""
    values = choose_tick_values(max((max(numbers) for numbers in amounts.values()), default=0), is_integer=False)
    day_width = _day_width(days)
    lines, dots = [], []
    for index, label in enumerate(labels):
        path = []
        is_connected = False
        for day_number, day in enumerate(days):
            if numbers := amounts.get(day):
                x = round(MARGIN_LEFT + day_width * (day_number + 0.5), 2)
                y = round(BASELINE - numbers[index] * PLOT_HEIGHT / values[-1], 2)
                path.append(f"{'L' if is_connected else 'M'}{x} {y}")
                dots.append(Dot(x, y, index + 1, f"{format_day(day)}: {label} {format_number(numbers[index])}"))
            is_connected = bool(numbers)
        lines.append(Line(" ".join(path), index + 1))
    return Plot(_value_ticks(values, format_number), _day_ticks(days), lines=tuple(lines), dots=tuple(dots))


def layout_rows(
    amounts: Mapping[str, Mapping[str, float]], series: Mapping[str, int], format_number: FormatNumber
) -> Plot:
    """Return a row for each name, in which the amounts of each series are placed one after another.

    The height of the image grows with the number of rows.
    """
    values = choose_tick_values(max((sum(row.values()) for row in amounts.values()), default=0), is_integer=True)
    right = WIDTH - ROW_MARGIN_RIGHT
    unit_width = (right - ROW_MARGIN_LEFT) / values[-1]
    bars, name_ticks = [], []
    for row_number, (name, row) in enumerate(amounts.items()):
        middle = MARGIN_TOP + ROW_HEIGHT * (row_number + 0.5)
        name_ticks.append(Tick(round(middle, 2), name))
        x = ROW_MARGIN_LEFT
        for label, number in series.items():
            if amount := row.get(label, 0):
                width = amount * unit_width
                title = f"{translate_sentence(name)}: {format_number(amount)} {translate_sentence(label)}".strip()
                y = round(middle - ROW_BAR_HEIGHT / 2, 2)
                bars.append(Bar(round(x, 2), y, round(width, 2), ROW_BAR_HEIGHT, number, title))
                x += width
    return Plot(
        value_ticks=tuple(
            Tick(round(ROW_MARGIN_LEFT + value * unit_width, 2), format_number(value)) for value in values
        ),
        name_ticks=tuple(name_ticks),
        bars=tuple(bars),
        is_rows=True,
        height=MARGIN_TOP + ROW_HEIGHT * len(amounts) + MARGIN_BOTTOM,
        left=ROW_MARGIN_LEFT,
        right=right,
    )


def _day_width(days: Sequence[date]) -> float:
    return (WIDTH - MARGIN_LEFT - MARGIN_RIGHT) / len(days)


def _day_ticks(days: Sequence[date]) -> tuple[Tick, ...]:
    """Return ticks in the middle of every n-th day, counted back from the last day, which always has one."""
    interval = max(1, math.ceil(len(days) / DAY_LABELS_LIMIT))
    last = len(days) - 1
    return tuple(
        Tick(round(MARGIN_LEFT + _day_width(days) * (number + 0.5), 2), format_day(day))
        for number, day in enumerate(days)
        if (last - number) % interval == 0
    )


def _value_ticks(values: Sequence[float], format_number: FormatNumber) -> tuple[Tick, ...]:
    """Return the ticks of a vertical value axis."""
    return tuple(Tick(round(BASELINE - value * PLOT_HEIGHT / values[-1], 2), format_number(value)) for value in values)
