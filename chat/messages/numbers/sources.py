"""Texts that numbers may come from, and the search for values in them. Pure.

A source may have a megabyte, so its numbers are found with one regular expression, and only numbers near a wanted value
are looked at in detail.
"""

from __future__ import annotations

import re
import uuid
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from chat.messages.numbers.numerals import read_run

Verdict: TypeAlias = Literal["output", "file", "question", "code", "derived", "nowhere"]

SOURCE_LIMIT_CHARS: Final = 1_500_000
"""Characters of all sources of one answer that are searched. The newest sources come first."""
HITS_LIMIT: Final = 60
"""Places of one wanted value that are looked at."""
_CHUNK_CHARS: Final = 8_000
_TOKEN: Final = re.compile(r"\d[\d.,]*")
_NUMBER: Final = re.compile(r"(?<![\d.,])\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that numbers may come from, with ASCII digits."""

    kind: Verdict
    text: str
    message_id: uuid.UUID | None = None
    part_index: int | None = None
    has_percents: bool = False
    """Whether the code that printed it makes percentages."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A number in a source."""

    source: SourceText
    start: int
    end: int
    value: Decimal
    """With its sign."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Absolute values that are wanted: from `low` to `high`."""

    low: Decimal
    high: Decimal


@dataclass(slots=True)
class Search:
    """Finds the numbers of sources that are in one of several intervals."""

    intervals: Sequence[Interval]
    _bounds: list[tuple[float, float]] = field(default_factory=list)
    _highs: list[float] = field(default_factory=list)
    _prefixes: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Merge the intervals to ordered ones that do not overlap."""
        # A float has 15 digits and more; hits are compared as decimals afterwards.
        for low, high in sorted((float(one.low) * (1 - 1e-12), float(one.high) * (1 + 1e-12)) for one in self.intervals):
            if self._bounds and low <= self._bounds[-1][1]:
                self._bounds[-1] = (self._bounds[-1][0], max(high, self._bounds[-1][1]))
            else:
                self._bounds.append((low, high))
        self._highs = [high for _, high in self._bounds]

    def hits(self, sources: Iterable[SourceText]) -> Iterator[Hit]:
        """Yield the numbers of the sources that are wanted, in order."""
        left = SOURCE_LIMIT_CHARS
        for source in sources:
            text = source.text[:left]
            left -= len(text)
            yield from self._hits_in(source, text)

    def _hits_in(self, source: SourceText, text: str) -> Iterator[Hit]:
        start = 0
        while start < len(text):
            end = text.find("\n", start + _CHUNK_CHARS)
            end = len(text) if end < 0 else end
            if any(map(self._is_wanted, _TOKEN.findall(text, start, end))):
                for match in _NUMBER.finditer(text, start, end):
                    yield from self._read(source, match)
            start = end

    def _is_wanted(self, token: str) -> bool:
        try:
            value = float(token)
        except ValueError:
            return True
        return self._contains(value) or (token[-4:-3] == "." and self._contains(value * 1000))

    def _contains(self, value: float) -> bool:
        place = bisect_left(self._highs, value)
        return place < len(self._bounds) and self._bounds[place][0] <= value

    def _read(self, source: SourceText, match: re.Match[str]) -> Iterator[Hit]:
        run, _, exponent = match[0].lower().partition("e")
        # Python writes numbers with a decimal point; files may be written otherwise.
        mark = "." if source.kind in ("output", "code") else ""
        for one in read_run(run, mark):
            value = one.value.scaleb(max(-400, min(400, int(exponent)))) if exponent else one.value
            if self._contains(float(value)):
                start = match.start()
                before = source.text[max(0, start - 2) : start].rstrip("$€£¥₹")
                is_negative = before[-1:] in ("-", "\N{MINUS SIGN}") and not before[-2:-1].isalnum()
                yield Hit(source, start, match.end(), -value if is_negative else value)
