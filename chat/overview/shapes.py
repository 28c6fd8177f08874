"""Numbers → shapes of an SVG image, in its own units, with titles that say each number. Pure; templates draw them.

Colours are classes, `series-1` and on, which the style sheet gives: one set for light, one for dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

WIDTH, HEIGHT = 460.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 20.0, 14.0, 24.0
ROW_HEIGHT, ROW_BAR, ROW_LEFT, ROW_RIGHT = 28.0, 16.0, 150.0, 52.0
DAY_LABELS = 6
TICKS = 5
SERIES = 6
"""How many there are at most: the last one is all others."""
OTHERS = "others"

Words = Callable[[float], str]
"""A number for people."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle; `series` counts from 1."""

    x: float
    y: float
    width: float
    height: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; where it is broken there is no value."""

    path: str
    series: int


@dataclass(frozen=True, slots=True)
class Dot:
    """A value of a line."""

    x: float
    y: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A place of an axis, along it."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Table:
    """The same numbers, to read."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One image; without marks there is nothing to draw, and `empty` says so."""

    name: str
    title: str
    unit: str
    """Of the axis along which values are measured."""
    summary: str
    """In a sentence, for who does not see it."""
    empty: str
    table: Table
    legend: tuple[tuple[int, str], ...] = ()
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    dots: tuple[Dot, ...] = ()
    values: tuple[Tick, ...] = ()
    """Along the axis of values: up, in charts of days; to the right, in charts of rows."""
    names: tuple[Tick, ...] = ()
    """Along the other: days, or rows."""
    is_rows: bool = False
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    top: float = TOP
    right: float = field(default=WIDTH - RIGHT)
    bottom: float = field(default=HEIGHT - BOTTOM)

    @property
    def dot_radius(self) -> float:
        """Small where there are many."""
        return 2.5 if len(self.dots) <= 2 * 31 else 1.5

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not (self.bars or self.dots)


def scale(most: float, *, is_whole: bool) -> tuple[float, ...]:
    """Round values from 0 to one that is not below `most`, evenly spaced, at most six; whole ones where asked."""
    if most <= 0:
        return (0.0, 1.0)
    rough = most / (TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    if is_whole:
        step = max(1.0, math.ceil(step))
    return tuple(round(number * step, 10) for number in range(math.ceil(most / step - 1e-9) + 1))


def day_words(day: date) -> str:
    """As in `3 Mar`."""
    return f"{day.day} {day:%b}"


def series_of(names: Sequence[str]) -> dict[str, int]:
    """Name → its series: the first ones have one of their own, all others share the last."""
    own = len(names) if len(names) <= SERIES else SERIES - 1
    return {name: min(number, own + 1 if own < len(names) else own) for number, name in enumerate(names, 1)}


def legend_of(series: Mapping[str, int]) -> tuple[tuple[int, str], ...]:
    """Number and name of each series; the shared one is called others."""
    numbers = list(series.values())
    found = {number: name if numbers.count(number) == 1 else OTHERS for name, number in series.items()}
    return tuple(sorted(found.items()))


def day_places(days: Sequence[date]) -> tuple[float, tuple[Tick, ...]]:
    """The width of a day, and where a few of them are named, the last one always."""
    width = (WIDTH - LEFT - RIGHT) / len(days)
    every = max(1, math.ceil(len(days) / DAY_LABELS))
    ticks = [
        Tick(round(LEFT + width * (number + 0.5), 2), day_words(day))
        for number, day in enumerate(days)
        if (len(days) - 1 - number) % every == 0
    ]
    return width, tuple(ticks)


def stacked(
    days: Sequence[date], amounts: Mapping[date, Mapping[str, float]], series: Mapping[str, int], words: Words
) -> tuple[tuple[Bar, ...], tuple[Tick, ...], tuple[Tick, ...]]:
    """A column for each day, one piece upon another; bars, values and names of the axes.

    `series` orders the pieces, the first at the bottom, and numbers them.
    """
    sums: list[dict[int, float]] = []
    for day in days:
        found: dict[int, float] = {}
        for name, number in series.items():
            if amount := amounts.get(day, {}).get(name, 0):
                found[number] = found.get(number, 0) + amount
        sums.append(found)
    whole = all(float(amount).is_integer() for found in sums for amount in found.values())
    values = scale(max((sum(found.values()) for found in sums), default=0), is_whole=whole)
    labels = dict(legend_of(series))
    width, names = day_places(days)
    unit = (HEIGHT - TOP - BOTTOM) / values[-1]
    bars = []
    for number, (day, found) in enumerate(zip(days, sums, strict=True)):
        at = HEIGHT - BOTTOM
        for place in sorted(found):
            height = found[place] * unit
            at -= height
            title = f"{day_words(day)}: {words(found[place])} {labels[place]}".strip()
            bars.append(
                Bar(
                    round(LEFT + width * (number + 0.1), 2),
                    round(at, 2),
                    round(width * 0.8, 2),
                    round(height, 2),
                    place,
                    title,
                )
            )
    return tuple(bars), upwards(values, words), names


def upwards(values: Sequence[float], words: Words) -> tuple[Tick, ...]:
    """Ticks of an axis of values that goes up."""
    unit = (HEIGHT - TOP - BOTTOM) / values[-1]
    return tuple(Tick(round(HEIGHT - BOTTOM - value * unit, 2), words(value)) for value in values)


def lines(
    days: Sequence[date], amounts: Mapping[date, Sequence[float]], labels: Sequence[str], words: Words
) -> tuple[tuple[Line, ...], tuple[Dot, ...], tuple[Tick, ...], tuple[Tick, ...]]:
    """A line for each label, broken at days without amounts; lines, dots, values and names of the axes."""
    values = scale(max((amount for found in amounts.values() for amount in found), default=0), is_whole=False)
    unit = (HEIGHT - TOP - BOTTOM) / values[-1]
    width, names = day_places(days)
    drawn, dots = [], []
    for number, label in enumerate(labels):
        path, is_down = [], False
        for place, day in enumerate(days):
            if found := amounts.get(day):
                x = round(LEFT + width * (place + 0.5), 2)
                y = round(HEIGHT - BOTTOM - found[number] * unit, 2)
                path.append(f"{'L' if is_down else 'M'}{x} {y}")
                dots.append(Dot(x, y, number + 1, f"{day_words(day)}: {label} {words(found[number])}"))
            is_down = bool(found)
        drawn.append(Line(" ".join(path), number + 1))
    return tuple(drawn), tuple(dots), upwards(values, words), names


def rows(
    amounts: Mapping[str, Mapping[str, float]], series: Mapping[str, int], words: Words
) -> tuple[tuple[Bar, ...], tuple[Tick, ...], tuple[Tick, ...], float]:
    """A row for each name, its pieces one after another; bars, values and names of the axes, and the height."""
    values = scale(max((sum(found.values()) for found in amounts.values()), default=0), is_whole=True)
    unit = (WIDTH - ROW_LEFT - ROW_RIGHT) / values[-1]
    bars, names = [], []
    for number, (name, found) in enumerate(amounts.items()):
        top = TOP + ROW_HEIGHT * number
        names.append(Tick(round(top + ROW_HEIGHT / 2, 2), name))
        at = ROW_LEFT
        for label, place in series.items():
            if amount := found.get(label, 0):
                width = amount * unit
                title = f"{name}: {words(amount)} {label}".strip()
                y = round(top + (ROW_HEIGHT - ROW_BAR) / 2, 2)
                bars.append(Bar(round(at, 2), y, round(width, 2), ROW_BAR, place, title))
                at += width
    ticks = tuple(Tick(round(ROW_LEFT + value * unit, 2), words(value)) for value in values)
    return tuple(bars), ticks, tuple(names), TOP + ROW_HEIGHT * len(amounts) + BOTTOM
