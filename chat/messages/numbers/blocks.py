"""The place of a number in an output: its line, the label of its row, and the name of its column. Pure.

Outputs are tables of pandas, series, and lines such as `total: 12`. A block is a run of lines without an empty one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Final

from chat.messages.numbers.context import comparable
from chat.messages.numbers.sources import Hit, SourceText
from chat.messages.numbers.units import header_unit

_HEAD_CHARS: Final = 3_000
_SHORT_CHARS: Final = 10_000
"""Row labels of longer blocks may hold no units."""
_PLACES_LIMIT: Final = 50
"""Places of a word that are looked at, to find out whether it is the label of a row."""
_ROWS_LIMIT_CHARS: Final = 20_000
_LINE_LIMIT_CHARS: Final = 2_000
_WORD_FIELD: Final = re.compile(r"[^\s|]+")
_CELL: Final = re.compile(r"[-+]?[$€£₹]?\d[\d.,]*(?:e[-+]?\d+)?%?|NaN|None|<NA>|NaT")
_IS_NUMBER: Final = re.compile(r"[-+]?[$€£₹]?\d[\d.,]*(?:e[-+]?\d+)?%?")
_SERIES_NAME: Final = re.compile(r"^(?:Name: (?P<name>[^,\n]+), )?(?:Length: \d+, )?dtype: ", re.MULTILINE)
_EMPTY_LINE: Final = re.compile(r"\n\s*\n")
_ROW_LABEL: Final = re.compile(
    r"^[ \t|]*(?:\d+[ \t|]+)?([^\W\d](?:[^\s|:=,;]|[ _](?![ ]|[-+$€£₹]?\d|NaN\b|None\b))*)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number is in its source."""

    text: str
    """The line."""
    label: str
    """The label of the row; empty if it has none."""
    column: str
    """The name of the column; empty if it has none."""
    block: Block
    unit: str
    """The unit that the column or the line names; empty if none is known."""


class Block:
    """A run of lines, with the labels of its rows and the names of its columns."""

    def __init__(self, start: int, text: str) -> None:
        """Read the header. `start`: where the text is in its source."""
        self.start = start
        self.text = text
        head = text[:_HEAD_CHARS].split("\n")[:3]
        self._head_chars = sum(len(line) + 1 for line in takewhile(lambda line: not _has_numbers(line), head))
        header = next((line for line in head if line.strip() and not _has_numbers(line)), "")
        name = _SERIES_NAME.search(text, max(0, len(text) - _HEAD_CHARS))
        self.columns: tuple[str, ...] = ()
        row = next(filter(_has_numbers, text[:_HEAD_CHARS].split("\n")), "")
        self._cells = _cells(row)
        """How many numbers its first row has. A line with another number of them is none of its rows."""
        fields = _WORD_FIELD.findall(row)
        names = tuple(_WORD_FIELD.findall(header))
        self.column_labels: frozenset[str] = frozenset()
        """The names of the columns with numbers, as they are compared."""
        if name:
            self.columns = (name["name"],) if name["name"] else ()
            self.column_labels = frozenset(map(normal_label, self.columns))
        elif header and "\n" in text.strip("\n") and len(names) <= len(fields):
            self.columns = names
            pairs = zip(reversed(names), reversed(fields), strict=False)
            self.column_labels = frozenset(normal_label(one) for one, field in pairs if _CELL.fullmatch(field))

    def is_row(self, line: str) -> bool:
        """Return whether a line has as many numbers as the first row."""
        return _cells(line) == self._cells

    @cached_property
    def labels(self) -> Container[str]:
        """The labels of all rows as they are compared."""
        if len(self.text) - self._head_chars > _SHORT_CHARS:
            return _LongLabels(self.text[self._head_chars :])
        return self._labels[0] | self._labels[1]

    def labels_like(self, line: str) -> Container[str]:
        """Return the labels of the lines that are rows as a line is, or are none as it is none."""
        labels = self.labels
        return labels if isinstance(labels, _LongLabels) else self._labels[self.is_row(line)]

    @cached_property
    def _labels(self) -> tuple[frozenset[str], frozenset[str]]:
        """The labels of lines that are no rows, and of rows."""
        labels: tuple[set[str], set[str]] = (set(), set())
        for line in self.text[self._head_chars :].split("\n"):
            labels[self.is_row(line)].add(normal_label(row_label(line)))
        return frozenset(labels[0] - {""}), frozenset(labels[1] - {""})

    @cached_property
    def rows(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The label and the numbers of each row; empty for a long block."""
        if len(self.text) > _ROWS_LIMIT_CHARS:
            return ()
        return tuple(
            (row_label(line), tuple(word for word in _WORD_FIELD.findall(line) if _IS_NUMBER.fullmatch(word)))
            for line in self.text.split("\n")
            if not _SERIES_NAME.match(line) and _has_numbers(line)
        )


class _LongLabels:
    """The labels of the rows of a long block, which are looked up and not listed."""

    def __init__(self, text: str) -> None:
        text = comparable(text)
        for sign in ":|=,;":
            text = text.replace(sign, " ")
        self._text = text
        self._words = frozenset(text.split())

    def __contains__(self, label: object) -> bool:
        """Return whether a row has this label."""
        if not isinstance(label, str) or not self._words.issuperset(label.split()):
            return False
        position = self._text.find(label)
        for _ in range(_PLACES_LIMIT):
            if position < 0:
                return False
            if row_label(self._text[self._text.rfind("\n", 0, position) + 1 : position + len(label) + 1]) == label:
                return True
            position = self._text.find(label, position + 1)
        return False


class SourceBlocks:
    """Finds the block of each position of the sources."""

    def __init__(self) -> None:
        """Begin with no source."""
        self._starts: dict[int, list[int]] = {}
        self._blocks: dict[tuple[int, int], Block] = {}

    def at(self, source: SourceText, position: int) -> Block:
        """Return the block around a position of a source."""
        starts = self._starts.get(id(source))
        if starts is None:
            starts = [0, *(match.end() for match in _EMPTY_LINE.finditer(source.text)), len(source.text)]
            self._starts[id(source)] = starts
        place = min(bisect_right(starts, position), len(starts) - 1)
        key = (id(source), place)
        if key not in self._blocks:
            self._blocks[key] = Block(starts[place - 1], source.text[starts[place - 1] : starts[place]])
        return self._blocks[key]

    def all_of(self, source: SourceText) -> Iterator[Block]:
        """Yield the blocks of a source."""
        position = 0
        while position < len(source.text):
            block = self.at(source, position)
            yield block
            position = block.start + max(len(block.text), 1)


@lru_cache(maxsize=4096)
def normal_label(text: str) -> str:
    """Return a label as it is compared: in lower case, without the unit of a column such as `weight_kg`."""
    words = [word for word in re.split(r"[_\s]+", comparable(text.strip(" *`'\"#.:|"))) if word]
    if len(words) > 1 and header_unit(f"x_{words[-1]}"):
        words.pop()
    return " ".join(words)


def place_of(hit: Hit, blocks: SourceBlocks) -> Place:
    """Return where a number is."""
    source = hit.source.text
    start = source.rfind("\n", 0, hit.start) + 1
    end = source.find("\n", hit.end)
    line = source[start : len(source) if end < 0 else end][:_LINE_LIMIT_CHARS]
    block = blocks.at(hit.source, hit.start)
    label = row_label(line)
    column = _column(block, line, hit.start - start)
    own = header_unit(source[hit.end : hit.end + 1]) or header_unit(source[hit.start - 1 : hit.start])
    return Place(line.strip(), label, column, block, own or header_unit(column) or header_unit(label))


def line_number(hit: Hit) -> int:
    """Return the line of a number in its source, from 1."""
    return hit.source.text.count("\n", 0, hit.start) + 1


def _has_numbers(line: str) -> bool:
    return any(map(_IS_NUMBER.fullmatch, _WORD_FIELD.findall(line)))


def _cells(line: str) -> int:
    return sum(1 for word in _WORD_FIELD.findall(line) if _CELL.fullmatch(word))


def row_label(line: str) -> str:
    """Return the words at the start of a line, after the number of its row; empty if there are none."""
    match = _ROW_LABEL.match(line)
    return match[1] if match else ""


def _column(block: Block, line: str, position: int) -> str:
    """Return the name of the column, counted from the right, because labels of rows may hold spaces."""
    if not block.columns or not block.is_row(line):
        return ""
    if len(block.columns) == 1:
        return block.columns[0]
    after = len(_WORD_FIELD.findall(line, position))
    return block.columns[-after] if 0 < after <= len(block.columns) else ""
