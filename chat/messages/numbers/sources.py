"""Searches values in the texts that numbers of an answer may come from. Pure.

A source may have a megabyte, so only numbers that begin like a wanted value are parsed.
"""

from __future__ import annotations

import re
import uuid
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf
from operator import itemgetter
from string import ascii_letters, digits
from typing import Final, Literal, NamedTuple, TypeAlias

from chat.messages.numbers.numerals import read_run, with_ascii_digits

Verdict: TypeAlias = Literal["output", "file", "question", "code", "derived", "nowhere"]

SOURCE_LIMIT_CHARS: Final = 1_500_000
"""Maximum number of characters that are searched in all sources of one answer. The newest sources come first."""
_PART_CHARS: Final = 4_000
"""Texts are searched in parts of about this length."""
SHORT_CHARS: Final = 40_000
"""Tables are read only in sources of at most this length. In longer ones, numbers are found without their row or
column.
"""
_POSITIONS_LIMIT: Final = 40
"""Maximum number of positions of one value in a short source. In a long source, only the first position is used."""
_NEAREST_LIMIT: Final = 3
"""Maximum number of different values of a long source that are returned for one wanted value."""
GREATEST: Final = 1e40
"""Greater numbers are found in exponential form only."""
_NUMBERS_ONLY: Final = bytes(code if chr(code) in "0123456789.," else 32 for code in range(256))
"""Translation table that replaces all other bytes by spaces. Splitting the result takes a fifth of the time of a
regular expression.
"""
_FIRST_THREE: Final = itemgetter(slice(3))
_NO_BREAK: Final = re.compile(r"[^\n]")
_WITH_EXPONENT: Final = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)e([+-]\d+)")
_QUOTED: Final = {";": re.compile(r'("[^"\n]*"|;)'), ",": re.compile(r'("[^"\n]*"|,)')}
"""Delimiter of a comma-separated table -> a pattern that matches the delimiter, or a quoted cell."""
_DIGITS_BESIDE: Final = re.compile(r"\d[,;]\d")
_GOES_ON: Final = re.compile(r"[.,]\d|e[-+]")
_IN_WORDS: Final = frozenset(f"{digits}.{ascii_letters}")
"""If one of these characters is before digits, they are part of a longer number or of a name, such as `int64`."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that numbers may come from."""

    kind: Verdict
    text: str
    message_id: uuid.UUID | None = None
    part_index: int | None = None


def comparable_source(source: SourceText) -> SourceText:
    """Return a source with ASCII digits, and with tabs between the cells of comma-separated tables.

    Each character keeps its position.
    """
    text = with_ascii_digits(source.text)
    if source.kind in ("output", "file") and ("," in text or ";" in text):
        text = with_tabs(text)
    return replace(source, text=text)


def with_tabs(text: str) -> str:
    """Return a text with tabs between the cells of comma-separated tables. Each character keeps its position."""
    return "\n\n".join(map(_with_tabs, text.split("\n\n")))


def with_spaces(text: str) -> str:
    """Return a text of the same length in which all characters but line breaks are spaces."""
    return _NO_BREAK.sub(" ", text)


def _with_tabs(block: str) -> str:
    first, _, rest = block.strip("\r\n").partition("\n")
    second = rest.partition("\n")[0]
    for mark, expression in _QUOTED.items():
        count = 0 if f"{mark} " in first else expression.findall(first).count(mark)
        if count and count == expression.findall(second).count(mark) and not _DIGITS_BESIDE.search(first):
            if '"' not in block:
                return block.replace(mark, "\t")
            return "".join("\t" if one == mark else one for one in expression.split(block))
    return block


@dataclass(frozen=True, slots=True)
class Hit:
    """A number in a source."""

    source: SourceText
    start: int
    end: int
    value: float
    """The value with its sign."""

    @property
    def line(self) -> int:
        """The number of the line in the source, counted from 1."""
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def line_text(self) -> str:
        """The text of the line that contains the number."""
        start = self.source.text.rfind("\n", 0, self.start) + 1
        end = self.source.text.find("\n", self.end)
        return self.source.text[start : end if end >= 0 else None].strip()

    @property
    def is_in_list(self) -> bool:
        """Return whether another number is beside this one, with a comma between them."""
        before = self.source.text[max(0, self.start - 2) : self.start]
        after = self.source.text[self.end : self.end + 3]
        return before.endswith((",", ", ")) or (after[:1] == "," and after[1:].strip()[:1].isdigit())


def bounded_sources(sources: Sequence[SourceText]) -> Iterator[SourceText]:
    """Yield the sources, cut so that they have at most `SOURCE_LIMIT_CHARS` together."""
    left = SOURCE_LIMIT_CHARS
    for source in sources:
        if not left:
            return
        yield source if len(source.text) <= left else replace(source, text=source.text[:left])
        left -= min(left, len(source.text))


class _Run(NamedTuple):
    """A wanted number that was found in a part of a text."""

    value: float
    run: str
    start: int
    end: int


class Search:
    """Finds the numbers of sources whose absolute values are in one of several intervals."""

    def __init__(self, intervals: Iterable[tuple[float, float]]) -> None:
        """Merge the intervals to sorted intervals that do not overlap."""
        bounds: list[tuple[float, float]] = []
        intervals = sorted(intervals)
        for low, high in intervals:
            if bounds and low <= bounds[-1][1]:
                bounds[-1] = (bounds[-1][0], max(high, bounds[-1][1]))
            else:
                bounds.append((low, high))
        self._lows = [*(low for low, _ in bounds), inf]
        self._highs = [high for _, high in bounds]
        self._intervals = frozenset(intervals)
        self._beginnings = frozenset(text.encode() for low, high in bounds for text in _beginnings(low, high))

    def hits(self, sources: Sequence[SourceText]) -> Iterator[Hit]:
        """Yield the wanted numbers of the sources, in order of the sources."""
        for source in sources:
            yield from self._hits_in(source)

    def _hits_in(self, source: SourceText) -> Iterator[Hit]:
        text = source.text
        is_short = len(text) <= SHORT_CHARS
        # Python writes numbers with a decimal point; files may use a decimal comma.
        found = sorted(self._runs(text, "." if source.kind in ("output", "code") else ""))
        left = Counter[float]()
        for one in found if is_short else self._nearest(found):
            for position in _positions(text, one):
                left[one.value] += 1
                if left[one.value] > (_POSITIONS_LIMIT if is_short else 1):
                    break
                yield _hit(source, position, position + len(one.run), one.value)
        if "e-" in text or "e+" in text:
            for match in _WITH_EXPONENT.finditer(text):
                value = float(match[0])
                if self._contains(value):
                    yield _hit(source, match.start(), match.end(), value)

    def _contains(self, value: float) -> bool:
        return self._lows[bisect_left(self._highs, value)] <= value

    def _runs(self, text: str, mark: str) -> Iterator[_Run]:
        """Yield the wanted numbers of each part of a text. `mark`: the decimal mark; empty if it is unknown."""
        lows, highs = self._lows, self._highs
        numbers = text.encode("latin-1", "replace").translate(_NUMBERS_ONLY)
        start = 0
        while start < len(numbers):
            end = numbers.find(b" ", start + _PART_CHARS) if start + _PART_CHARS < len(numbers) else len(numbers)
            end = len(numbers) if end < 0 else end
            tokens = numbers[start:end].split()
            # Iterators in C take half the time of a comprehension. There may be 100,000 numbers.
            for token in {*compress(tokens, map(self._beginnings.__contains__, map(_FIRST_THREE, tokens)))}:
                try:
                    value = float(token)
                    is_plain = bool(mark)
                except ValueError:
                    is_plain = False
                # Plain numbers that are in no interval need no further parsing. Most are of this kind.
                if not is_plain or lows[bisect_left(highs, value)] <= value:
                    run = token.decode().strip(".,")
                    values = {float(one.value) for one in read_run(run, mark)} if run else ()
                    yield from (_Run(value, run, start, end) for value in values if self._contains(value))
            start = end

    def _nearest(self, found: Sequence[_Run]) -> list[_Run]:
        """Return the numbers that are nearest to the middle of each interval. `found`: numbers sorted by
        their values.
        """
        values = [one.value for one in found]
        nearest: set[_Run] = set()
        for low, high in self._intervals:
            some = found[bisect_left(values, low) : bisect_right(values, high)]
            nearest.update(sorted(some, key=lambda one: abs(one.value - (low + high) / 2))[:_NEAREST_LIMIT])
        return sorted(nearest)


def _hit(source: SourceText, start: int, end: int, value: float) -> Hit:
    before = source.text[max(0, start - 3) : start].rstrip("$€£¥₹")
    is_negative = before[-1:] == "-" and not before[-2:-1].isalnum()
    return Hit(source, start, end, -value if is_negative else value)


def _positions(text: str, one: _Run) -> Iterator[int]:
    """Yield the positions of a number where it is not part of a longer number or of a name."""
    position = text.find(one.run, one.start, one.end)
    while position >= 0:
        after = position + len(one.run)
        is_part = position > 0 and text[position - 1] in _IN_WORDS
        following = text[after : after + 2]
        if not is_part and not (following[:1].isdigit() or _GOES_ON.match(following)):
            yield position
        position = text.find(one.run, after, one.end)


def _beginnings(low: float, high: float) -> Iterator[str]:
    """Yield the first three characters of all spellings of numbers from `low` to `high`, with and without
    separators.
    """
    for first, last in _decades(low, high):
        length = len(str(int(last)))
        unit = 10.0 ** max(length - 3, 0) if last >= 1 else 0.01
        for number in range(int(first / unit), int(last / unit) + 1):
            yield from _spellings(number, length, is_small=last < 1)


def _decades(low: float, high: float) -> Iterator[tuple[float, float]]:
    """Yield the parts of a range whose numbers have the same number of digits before the point."""
    bottom = 0.0
    top = 1.0
    while bottom <= high and top < GREATEST:
        if top > low:
            yield max(low, bottom), min(high, top * (1 - 1e-15))
        bottom, top = top, top * 10


def _spellings(number: int, length: int, *, is_small: bool) -> Iterator[str]:
    """Yield the beginnings of the spellings of numbers.

    `number`: the first three digits of the numbers, or all digits before the point. `length`: how many digits are
    before the point. `is_small`: true for numbers below 1; `number` then has the first two digits after the point.
    """
    if is_small:
        yield from (f"0.{number // 10}", f"0,{number // 10}", f".{number:02}", "0", "0,", "0.")
    elif length == 1:
        yield from (f"{number}", f"{number}.", f"{number},")
        yield from (f"{number}{mark}{digit}" for mark in ".," for digit in range(10))
    elif length == 2:
        yield from (f"{number}", f"{number}.", f"{number},")
    else:
        text = str(number)
        yield text
        if length % 3 == 1:
            yield from (f"{text[0]}.{text[1]}", f"{text[0]},{text[1]}")
        # In India, digits after the last three are grouped by two, as in `12,34,567`.
        yield from (f"{text[:2]}.", f"{text[:2]},", f"{text[0]},{text[1]}")
