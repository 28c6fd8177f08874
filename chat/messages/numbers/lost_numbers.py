"""Finds the numbers of an answer that are no longer in its results, after its code ran again on other data. Pure.

A number is looked up in the line of the new output that has the same words as its old line. If the first cell of a line
is a number, such as a year, that number counts as a word.
"""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from chat.messages.numbers.ledger import TEXT_LIMIT_CHARS, TracedNumber, trace_numbers
from chat.messages.numbers.numerals import read_run
from chat.messages.numbers.reading import WrittenNumber, read_numbers
from chat.messages.numbers.sources import Hit, SourceText, comparable_source
from chat.messages.numbers.words_around_numbers import PERCENTS

PartKey: TypeAlias = tuple[uuid.UUID | None, int | None]
"""Id of a message, and index of a part."""

_NUMBER: Final = re.compile(
    r"(?<![\w.])(?:(?P<date>\d{4}-\d\d(?:-\d\d)?)(?!\w)|(?P<sign>[-+]?)(?P<run>\d+(?:[.,]\d+)*|\.\d+)"
    r"(?P<exponent>[eE][-+]?\d+)?)"
)
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class LostNumber:
    """A number of an answer that is not in the new results."""

    start: int
    end: int
    after: str = ""
    """The number at the same position of the same line of the new output; empty if there is no such line."""
    line_before: str = ""
    line_after: str = ""


def lost_numbers(
    text: str, before: Sequence[SourceText], after: Sequence[SourceText], outputs: Mapping[PartKey, str]
) -> list[LostNumber]:
    """Return the numbers of a Markdown text that were in the old results and are not in the new ones.

    `before`, `after`: the sources for `trace_numbers`. `outputs`: the new output of each part.
    """
    known = [one for one in trace_numbers(text, before) if one.verdict in ("output", "file", "derived")]
    if not known:
        return []
    now = {one.start: one for one in trace_numbers(text, after)}
    written = {number.start: number for number in read_numbers(text[:TEXT_LIMIT_CHARS])}
    lines = _LinesOfParts(outputs)
    return [lost for one in known if (lost := _lost(one, now.get(one.start), written[one.start], lines))]


def _lost(
    one: TracedNumber, now: TracedNumber | None, number: WrittenNumber, lines: _LinesOfParts
) -> LostNumber | None:
    hit = one.hit
    found = lines.find(hit) if one.verdict == "output" and hit else None
    if hit is None or found is None:
        line_before = hit.line_text if hit else one.note
        return None if now and _is_in_results(one, now) else LostNumber(one.start, one.end, "", line_before)
    line, match = found
    value, factor = _value(match), _factor(number, hit.value)
    if value is not None and value * hit.value >= 0 and _is_rounding(number, value * factor):
        return None
    after = match[0].lstrip("+")
    if value is not None and factor == 100 and number.unit in PERCENTS:
        decimals = len(str(number.amount.step.normalize()).partition(".")[2])
        after = f"{value * factor:.{decimals}f} %"
    return LostNumber(one.start, one.end, after, hit.line_text, line)


def _is_in_results(one: TracedNumber, now: TracedNumber) -> bool:
    """Return whether a number is still in the results. A result of other operands does not count: it may be equal by
    chance.
    """
    if now.verdict == "derived":
        return one.verdict == "derived" and one.note == now.note
    return now.verdict == "output" or (now.verdict == "file" and one.verdict == "file")


class _LinesOfParts:
    """The lines of the outputs before and after the code ran again."""

    def __init__(self, outputs: Mapping[PartKey, str]) -> None:
        self._outputs = outputs
        self._lines: dict[PartKey, tuple[_Lines, _Lines]] = {}

    def find(self, hit: Hit) -> tuple[str, re.Match[str]] | None:
        """Return the line of the new output and the number in it that correspond to a hit; `None` if there is no such
        line.
        """
        key = (hit.source.message_id, hit.source.part_index)
        if key not in self._outputs:
            return None
        if key not in self._lines:
            new = comparable_source(SourceText("output", self._outputs[key]))
            self._lines[key] = _Lines(hit.source.text), _Lines(new.text)
        before, after = self._lines[key]
        line = before.same_line(hit.line - 1, after)
        if line is None:
            return None
        column = hit.start - hit.source.text.rfind("\n", 0, hit.start) - 1
        places = [match.start() <= column < match.end() for match in _numbers(before.texts[hit.line - 1])]
        return (line.strip(), list(_numbers(line))[places.index(True)]) if True in places else None


class _Lines:
    """The lines of one output, found by their text with `#` in place of each number."""

    def __init__(self, text: str) -> None:
        self.texts = text.split("\n")
        self._numbers_of = (defaultdict[str, list[int]](list), defaultdict[str, list[int]](list))
        for number, line in enumerate(self.texts):
            for key, numbers_of in zip(_keys(line), self._numbers_of, strict=True):
                numbers_of[key].append(number)

    def same_line(self, number: int, other: _Lines) -> str | None:
        """Return the line of another output with the same words.

        The result is `None` if there is none, or if the outputs do not have equally many such lines.
        """
        line = self.texts[number]
        for key, here, there in zip(_keys(line), self._numbers_of, other._numbers_of, strict=True):
            if found := there.get(key):
                is_certain = len(found) == len(here[key])
                return other.texts[found[here[key].index(number)]] if is_certain else None
            if not any(map(str.isalpha, key)) and len(list(_numbers(line))) > 1:
                return None
        return None


def _keys(line: str) -> tuple[str, str]:
    """Return two keys of a line, in which `#` stands for each number. The first key has the first cell unchanged."""
    line = line.strip()
    first, _, rest = line.partition(" ") if "\t" not in line else line.partition("\t")
    words = _words(line)
    return f"{first} {_words(rest)}".strip() if rest.strip() else words, words


def _words(text: str) -> str:
    return _SPACES.sub(" ", _NUMBER.sub(lambda match: match[0] if match["date"] else "#", text)).strip()


def _numbers(line: str) -> Iterator[re.Match[str]]:
    return (match for match in _NUMBER.finditer(line) if not match["date"])


def _value(match: re.Match[str]) -> float | None:
    """Return the value of a number; `None` for text that only looks like a number, such as a version."""
    readings = read_run(match["run"], ".")
    return float(f"{match['sign']}{readings[0].value}{match['exponent'] or ''}") if readings else None


def _factor(number: WrittenNumber, value: float) -> float:
    """Return what the value of a source is multiplied by: 100 if the answer writes a fraction as a percentage."""
    factors = (1.0, 100.0, 10.0**number.scale)
    return next((one for one in factors if _is_rounding(number, value * one)), 1.0)


def _is_rounding(number: WrittenNumber, value: float) -> bool:
    return any(low <= abs(value) <= high for low, high in number.bounds)
