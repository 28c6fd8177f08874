"""Finds numbers whose unit differs from that of all others of the same quantity, as `s` among `ms`. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from math import inf, log10
from typing import Final, NamedTuple

from chat.messages.numbers.measures import dimension_of, size_of
from chat.messages.numbers.operands import Operand
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.words_around_numbers import CURRENCIES, PERCENTS

_LEAST_OTHERS: Final = 2
"""Minimum number of numbers with the usual unit."""
_DIGITS_LEAST: Final = 3
"""Minimum number of digits of a number that is compared with others. Shorter ones equal a value by chance."""
_ALIKE: Final = 2
"""A number of the same quantity is at most this many times the greatest other number of it, and at least the least one
divided by this factor.
"""
_ROUNDING: Final = 0.15
"""Maximum power of ten by which a number differs from its source if it is rounded and has the same unit."""
_DIGITS: Final = re.compile(r"\d+")


class _Unit(NamedTuple):
    """The unit that the source of a number has according to the answer."""

    size: str
    """The size of the unit, or its name if this is unknown."""
    value: float
    n: int
    """The index of the number."""
    digits: int
    """The number of digits that are written."""


def odd_units(numbers: Sequence[WrittenNumber], sources: Sequence[Operand | None]) -> Iterator[int]:
    """Yield the indexes of the numbers with an odd unit. `sources`: the source of each number; `None` if it has none.

    Columns of all tables whose names differ only in digits, such as those of years, have one unit. Other columns of a
    table may have different units, so only numbers that are about as great as the others count.
    """
    columns: dict[Hashable, list[_Unit]] = defaultdict(list)
    tables: dict[Hashable, list[_Unit]] = defaultdict(list)
    for n, (number, source) in enumerate(zip(numbers, sources, strict=True)):
        if source and source.value and (place := source.place) and number.unit not in PERCENTS:
            dimension, size = _unit(number, source.value)
            one = _Unit(size, abs(source.value), n, number.digits)
            if dimension:
                tables[id(place.table), dimension].append(one)
            if dimension and not number.scale and place.statistic != "slope":
                name = _DIGITS.sub("", place.column_label) or (id(place.table), place.column)
                columns[name, dimension].append(one)
    for group in columns.values():
        yield from (one.n for one in _odd(group))
    for group in tables.values():
        for odd in _odd(group):
            others = [one.value for one in group if one.size != odd.size]
            if min(others) / _ALIKE <= odd.value <= max(others) * _ALIKE:
                yield odd.n


def _odd(group: Sequence[_Unit]) -> Iterator[_Unit]:
    """Yield the only number of a group that has another unit than all others."""
    counts = Counter(one.size for one in group)
    if len(counts) == 2 and min(counts.values()) == 1 and len(group) > _LEAST_OTHERS:
        rare = min(counts, key=lambda unit: counts[unit])
        yield from (one for one in group if one.size == rare and one.digits >= _DIGITS_LEAST)


def _unit(number: WrittenNumber, value: float) -> tuple[str, str]:
    """Return the dimension of a number, and the size of the unit that its source then has.

    The numbers of one column have the same result, also if some are written in another unit than the source. For
    amounts of money, it is the scale that the source is written in.
    """
    factor = abs(float(number.amount.value)) / abs(value)
    power = log10(factor) if 0 < factor < inf else 0
    power = power if abs(power) > _ROUNDING else 0
    if number.unit in CURRENCIES or number.scale or number.measure == "cent":
        return "scale", str(round(power) - 2 * (number.measure == "cent"))
    size = size_of(number.measure)
    return dimension_of(number.measure), f"{power + log10(size):.1f}" if size else number.measure
