"""Texts that numbers may come from, and the search for values in them. Pure.

A source may have a megabyte, so its numbers are found with one regular expression, and only numbers near a wanted value
are looked at in detail.
"""

from __future__ import annotations

import re
import uuid
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from chat.messages.numbers.numerals import read_run

Verdict: TypeAlias = Literal["output", "file", "question", "code", "derived", "nowhere"]

SOURCE_LIMIT_CHARS: Final = 1_500_000
"""Characters of all sources of one answer that are searched. The newest sources come first."""
HITS_LIMIT: Final = 60
"""Places of one wanted value that are looked at."""
_CHUNK_CHARS: Final = 8_000
_NUMBERS_ONLY: Final = bytes(code if chr(code) in "0123456789.," else 32 for code in range(256))
"""Splitting what this leaves takes a fifth of the time of a regular expression."""
_WITH_EXPONENT: Final = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)e([+-]\d+)")
_DELIMITERS: Final = {";": re.compile(r'("[^"\n]*"|;)'), ",": re.compile(r'("[^"\n]*"|,)')}
"""Delimiters of comma-separated tables, and quoted cells."""
_DIGITS_BESIDE: Final = re.compile(r"\d[,;]\d")
_DIGITS_OR_POINT: Final = "0123456789."


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that numbers may come from, with ASCII digits."""

    kind: Verdict
    text: str
    message_id: uuid.UUID | None = None
    part_index: int | None = None
    has_percents: bool = False
    """Whether the code that printed it makes percentages."""


def with_tabs(text: str) -> str:
    """Return the text with tabs for the delimiters of comma-separated tables. No character changes its position."""
    return "\n\n".join(map(_block_with_tabs, text.split("\n\n"))) if "," in text or ";" in text else text


def _block_with_tabs(block: str) -> str:
    first, _, rest = block.strip("\n").partition("\n")
    second = rest.partition("\n")[0]
    for mark, expression in _DELIMITERS.items():
        count = 0 if f"{mark} " in first else expression.findall(first).count(mark)
        if count and count == expression.findall(second).count(mark) and not _DIGITS_BESIDE.search(first):
            return "".join("\t" if one == mark else one for one in expression.split(block))
    return block


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


class Search:
    """Finds the numbers of sources that are in one of several intervals."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        """Merge the intervals to ordered ones that do not overlap."""
        bounds: list[tuple[float, float]] = []
        # A float has 15 digits and more; hits are compared as decimals afterwards.
        for low, high in sorted((float(one.low) * (1 - 1e-12), float(one.high) * (1 + 1e-12)) for one in intervals):
            if bounds and low <= bounds[-1][1]:
                bounds[-1] = (bounds[-1][0], max(high, bounds[-1][1]))
            else:
                bounds.append((low, high))
        self._lows = [low for low, _ in bounds]
        self._highs = [high for _, high in bounds]
        self._beginnings = frozenset(text.encode() for low, high in bounds for text in _beginnings(low, high))

    def hits(self, sources: Iterable[SourceText]) -> Iterator[Hit]:
        """Yield the numbers of the sources that are wanted, in order of the sources."""
        left = SOURCE_LIMIT_CHARS
        for source in sources:
            text = source.text[:left]
            left -= len(text)
            start = 0
            while start < len(text):
                end = text.find("\n", start + _CHUNK_CHARS)
                end = len(text) if end < 0 else end
                yield from self._hits_in(source, start, end)
                start = end

    def _hits_in(self, source: SourceText, start: int, end: int) -> Iterator[Hit]:
        beginnings, text = self._beginnings, source.text
        tokens = text[start:end].encode("latin-1", "replace").translate(_NUMBERS_ONLY).split()
        for token in {token for token in tokens if token[:3] in beginnings}:
            run = token.decode().rstrip(".,")
            if source.kind == "output" and not self._may_contain(run):
                continue
            if values := [value for value in self._values(source, run) if self._contains(float(value))]:
                for position in _positions(text, run, start, end):
                    yield from (_hit(source, position, position + len(run), value) for value in values)
        if "e-" in text[start:end] or "e+" in text[start:end]:
            for match in _WITH_EXPONENT.finditer(text, start, end):
                value = Decimal(match[1]).scaleb(max(-400, min(400, int(match[2]))))
                if self._contains(float(value)):
                    yield _hit(source, match.start(), match.end(), value)

    def _values(self, source: SourceText, run: str) -> Iterator[Decimal]:
        # Python writes numbers with a decimal point; files may be written otherwise.
        mark = "." if source.kind in ("output", "code") else ""
        return (one.value for one in read_run(run, mark))

    def _may_contain(self, run: str) -> bool:
        try:
            return self._contains(float(run.replace(",", "")))
        except ValueError:
            return False

    def _contains(self, value: float) -> bool:
        place = bisect_left(self._highs, value)
        return place < len(self._lows) and self._lows[place] <= value


def _hit(source: SourceText, start: int, end: int, value: Decimal) -> Hit:
    before = source.text[max(0, start - 3) : start].rstrip("$€£¥₹")
    is_negative = before[-1:] in ("-", "\N{MINUS SIGN}") and not before[-2:-1].isalnum()
    return Hit(source, start, end, -value if is_negative else value)


def _positions(text: str, run: str, start: int, end: int) -> Iterator[int]:
    """Yield where a number is in a part of a text, and is no part of a longer one."""
    position = text.find(run, start, end)
    while position >= 0:
        after = position + len(run)
        is_part = text[position - 1 : position] in _DIGITS_OR_POINT and position > 0
        following = text[after : after + 2]
        if not is_part and not (following[:1].isdigit() or (following[:1] in (".", ",") and following[1:].isdigit())):
            yield position
        position = text.find(run, after, end)


def _beginnings(low: float, high: float) -> Iterator[str]:
    """Yield the first three characters of all numbers from `low` to `high`, with and without separators."""
    for first, last in _decades(low, high):
        digits = len(str(int(last)))
        unit = 10.0 ** max(digits - 3, 0) if last >= 1 else 0.01
        for number in range(int(first / unit), int(last / unit) + 1):
            yield from _spellings(number, digits, is_small=last < 1)


def _decades(low: float, high: float) -> Iterator[tuple[float, float]]:
    """Yield the parts of a range whose numbers have the same number of digits before the point."""
    bottom = 0.0
    top = 1.0
    while bottom <= high and top < 1e18:
        if top > low:
            yield max(low, bottom), min(high, top * (1 - 1e-15))
        bottom, top = top, top * 10


def _spellings(number: int, digits: int, *, is_small: bool) -> Iterator[str]:
    if is_small:
        yield from (f"0.{number // 10}", f"0,{number // 10}", "0")
    elif digits == 1:
        yield from (f"{number}", f"{number}.", f"{number},")
        yield from (f"{number}{mark}{digit}" for mark in ".," for digit in range(10))
    elif digits == 2:
        yield from (f"{number}", f"{number}.", f"{number},")
    else:
        text = str(number)
        yield text
        if digits % 3 == 1:
            yield from (f"{text[0]}.{text[1]}", f"{text[0]},{text[1]}")
        # Indian groups have two digits.
        yield from (f"{text[:2]}.", f"{text[:2]},", f"{text[0]},{text[1]}")
