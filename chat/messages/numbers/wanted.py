"""Which values are searched in the sources for a number of an answer, and which numbers are given there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chat.messages.numbers.numerals import RUN_IN_SOURCE, YEAR, read_run
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.sources import SHORT_CHARS, SourceText
from chat.messages.numbers.words_around_numbers import AFTER, PERCENTS, scale_power

_GIVEN: Final = re.compile(rf"(?<![\w.,]){RUN_IN_SOURCE}(?!\w)")
_IN_SCALE: Final = re.compile(r"\b(?:in|en) ([^\W\d_]{2,9}\.?)|单位[:：]? ?([百千万亿]{1,2})")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A range of absolute values that is searched in the sources."""

    low: float
    high: float
    factor: float
    """The factor for the source's value: 100 for a fraction that is written as percent."""
    unit: str = ""
    """The unit of the source, if the number is written in another one."""
    scale: int = 0
    """The power of ten in the name of the source's column, if the number is written in full."""

    @property
    def is_plain(self) -> bool:
        """Return whether the number is written as its source, but for a scale word."""
        return self.factor == 1 and not self.unit and not self.scale


def wanted_ranges(
    number: WrittenNumber, scales: frozenset[int], sizes: Mapping[str, float], of_table: frozenset[int]
) -> Iterator[Wanted]:
    """Yield the ranges of absolute values that a number may be a rounding of.

    `scales`: powers of ten that sources name. `sizes`: other units of sources, with their sizes in the number's unit.
    `of_table`: powers of ten that the answer says all numbers of its table have.
    """
    for low, high in number.bounds:
        yield Wanted(low, high, 1)
        if number.unit in PERCENTS:
            yield Wanted(low / 100, high / 100, 100)
        if number.unit == "‰":
            yield Wanted(low / 1000, high / 1000, 1000)
        # The source may have the value in millions, or in another unit.
        # A number such as `0.8 k€` has a decimal, so that few values equal it by chance.
        for power in scales if number.digits > 1 or number.step < 10**number.scale else ():
            if number.scale or low >= 10.0**power:
                yield Wanted(low / 10.0**power, high / 10.0**power, 1, scale=0 if number.scale else power)
        for unit, size in sizes.items() if number.digits > 1 else ():
            yield Wanted(low / size, high / size, 1, unit)
        for power in {one - other for one in of_table for other in (0, *scales)} - {0}:
            yield Wanted(low * 10.0**power, high * 10.0**power, 1)


def scales_of_tables(text: str) -> frozenset[int]:
    """Return the powers of ten that a text says the numbers of its tables have, as in `all in Mio. €`."""
    return frozenset(scale_power(one or other) for one, other in _IN_SCALE.findall(text)) - {0}


def given_numbers(sources: Sequence[SourceText]) -> Iterator[float]:
    """Yield the numbers that are written in questions and code, without years."""
    for source in sources:
        if source.kind in ("question", "code") and len(source.text) <= SHORT_CHARS:
            for match in _GIVEN.finditer(source.text):
                if not YEAR.fullmatch(match[0]):
                    after = AFTER.match(source.text, match.end()) if source.kind == "question" else None
                    factor = 10.0 ** scale_power((after and after["scale"]) or "")
                    found = read_run(match[0], "." if source.kind == "code" else "")[:1]
                    yield from (float(one.value) * factor for one in found)
