"""Finds numbers whose unit differs from that of all others from the same column, as seconds among milliseconds. Pure."""

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
_ALIKE: Final = 2
"""Numbers of one quantity are at most this many times as great as the greatest other number of it, or less than the
least one by this factor.
"""
_WORD: Final = re.compile(r"[ \u00a0\u202f]?([\u3400-\u9fff]|[^\W\d_]{3,}|[\u0900-\u0963]{2,})")
"""The word after a number. In Chinese, a character counts things."""


class _Unit(NamedTuple):
    """The unit of the source of a number, as the answer says it."""

    dimension: str
    size: str
    """The size of the unit, or its name."""
    value: float
    n: int
    """The index of the number."""


def odd_units(text: str, numbers: Sequence[WrittenNumber], sources: Sequence[Operand | None]) -> Iterator[int]:
    """Yield the indexes of the numbers with an odd unit. `sources`: the source of each number; `None` if it has none."""
    columns: dict[Hashable, list[_Unit]] = defaultdict(list)
    tables: dict[Hashable, list[_Unit]] = defaultdict(list)
    for n, (number, source) in enumerate(zip(numbers, sources, strict=True)):
        if source and source.value and (place := source.place) and place.statistic != "count":
            one = _unit(text, number, source.value, n)
            if place.table.names[place.column]:
                columns[id(place.table), place.column].append(one)
            if one.dimension and number.unit not in PERCENTS:
                tables[id(place.table), one.dimension].append(one)
    for group in columns.values():
        yield from (one.n for one in _odd(text, group))
    # Columns of a table may have different units, so only numbers that are about as great as the others count.
    for group in tables.values():
        for odd in _odd(text, group):
            others = [one.value for one in group if one.size != odd.size]
            if min(others) / _ALIKE <= odd.value <= max(others) * _ALIKE:
                yield odd.n


def _odd(text: str, group: Sequence[_Unit]) -> Iterator[_Unit]:
    """Yield the only number with another unit than at least two numbers of a group."""
    counts = Counter((one.dimension, one.size) for one in group if one.dimension)
    words = Counter(one.size for one in group if not one.dimension and one.size)
    if len(counts) == 1 and words:
        word, count = words.most_common(1)[0]
        if count >= _LEAST_OTHERS and _is_unit(text, word):
            counts["", word] = count
    if len(counts) == 2 and min(counts.values()) == 1 and max(counts.values()) >= _LEAST_OTHERS:
        rare = min(counts, key=lambda unit: counts[unit])
        yield from (one for one in group if (one.dimension, one.size) == rare)


def _is_unit(text: str, word: str) -> bool:
    """Return whether a word stands after numbers in most places of a text."""
    after = len(re.findall(rf"\d[ \u00a0\u202f]?{re.escape(word)}", text))
    return 3 * after >= 2 * text.count(word)


def _unit(text: str, number: WrittenNumber, value: float, n: int) -> _Unit:
    """Return the unit of the source of a number; for amounts of money, the scale that it is written in.

    The numbers of one column have the same result, also if some are written in another unit than the source.
    """
    factor = abs(float(number.amount.value)) / abs(value)
    power = log10(factor) if 0 < factor < inf else 0
    if number.unit in PERCENTS:
        return _Unit("%", "", abs(value), n)
    if number.unit in CURRENCIES or number.scale or number.measure == "cent":
        return _Unit("scale", str(round(power - 2 * (number.measure == "cent"))), abs(value), n)
    if dimension := dimension_of(number.measure):
        size = size_of(number.measure)
        return _Unit(dimension, f"{power + log10(size):.1f}" if size else number.measure, abs(value), n)
    word = _WORD.match(text, number.end)
    return _Unit("", word[1] if word else "", abs(value), n)
