"""Finds numbers whose unit differs from that of all others from the same table, as seconds among milliseconds. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import inf, log10
from typing import Final

from chat.messages.numbers.measures import dimension_of
from chat.messages.numbers.operands import Operand
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.words_around_numbers import CURRENCIES, PERCENTS

_LEAST_OTHERS: Final = 2
"""Minimum number of numbers with the usual unit."""
_ALIKE: Final = 2
"""Numbers of one quantity are at most this many times as great as the greatest other number of it, or less than the
least one by this factor.
"""


def odd_units(numbers: Sequence[WrittenNumber], sources: Sequence[Operand | None]) -> Iterator[int]:
    """Yield the indexes of the numbers with an odd unit. `sources`: the source of each number; `None` if it has none.

    Columns of a table may have different units, so only numbers that are about as great as the others count.
    """
    groups: dict[tuple[int, str], list[tuple[str, float, int]]] = defaultdict(list)
    for n, (number, source) in enumerate(zip(numbers, sources, strict=True)):
        if source and source.place and source.value and number.unit not in PERCENTS:
            dimension, unit = _unit(number, source.value)
            if dimension:
                groups[id(source.place.table), dimension].append((unit, abs(source.value), n))
    for group in groups.values():
        counts = Counter(unit for unit, _, _ in group)
        if len(counts) == 2 and min(counts.values()) == 1 and len(group) > _LEAST_OTHERS:
            rare = min(counts, key=lambda unit: counts[unit])
            others = [value for unit, value, _ in group if unit != rare]
            for unit, value, n in group:
                if unit == rare and min(others) / _ALIKE <= value <= max(others) * _ALIKE:
                    yield n


def _unit(number: WrittenNumber, value: float) -> tuple[str, str]:
    """Return the dimension and the unit of a number; for amounts of money, the scale that its source is written in."""
    if number.unit in CURRENCIES or number.scale:
        factor = abs(float(number.amount.value)) / abs(value)
        return "scale", str(round(log10(factor)) if 0 < factor < inf else 0)
    return dimension_of(number.measure), number.measure
