"""The place of a number in an output: its line, the label of its row, and the name of its column. Pure.

Outputs are tables of pandas, series, and lines such as `total: 12`. A block is a run of lines without an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chat.messages.numbers.sources import Hit
from chat.messages.numbers.units import header_unit

_BLOCK_LIMIT_CHARS: Final = 20_000
_LINE_LIMIT_CHARS: Final = 2_000
_FIELD: Final = re.compile(r"[^\s|]+(?: [^\s|]+)*")
_WORD_FIELD: Final = re.compile(r"[^\s|]+")
_IS_NUMBER: Final = re.compile(r"[-+]?[$€£₹]?\d[\d.,]*(?:e[-+]?\d+)?%?")
_NUMBERS_AT_START: Final = re.compile(r"\s*\d+(?=\s)")
_SERIES_NAME: Final = re.compile(r"^(?:Name: (?P<name>[^,\n]+), )?(?:Length: \d+, )?dtype: ", re.MULTILINE)
_LABEL: Final = re.compile(r"[^\s|:=,;\t][^|:=,;\t\n]*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number is in its source."""

    line: int
    """From 1."""
    text: str
    """The line."""
    label: str
    """The label of the row; empty if it has none."""
    column: str
    """The name of the column; empty if it has none."""
    labels: frozenset[str]
    """The labels of all rows of the block."""
    columns: tuple[str, ...]
    unit: str
    """The unit that the column or the line names; empty if none is known."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines, with the labels of its rows and the names of its columns."""

    start: int
    text: str
    labels: frozenset[str]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """Label and the numbers of each row."""


def normal_label(text: str) -> str:
    """Return a label as it is compared: in lower case, without the unit of a column such as `weight_kg`."""
    words = [word for word in re.split(r"[_\s]+", text.strip(" *`'\"#.:|").lower()) if word]
    if len(words) > 1 and header_unit(f"x_{words[-1]}"):
        words.pop()
    return " ".join(words)


def place_of(hit: Hit) -> Place:
    """Return where a number is."""
    source = hit.source.text
    start = source.rfind("\n", 0, hit.start) + 1
    end = source.find("\n", hit.end)
    line = source[start : len(source) if end < 0 else end]
    block = block_at(source, hit.start)
    label = row_label(line)
    column = _column(block, line, hit.start - start)
    before = line[: hit.start - start]
    after = line[hit.end - start : hit.end - start + 3]
    own = next((unit for unit in (header_unit(after.strip()[:1]), header_unit(before[-1:])) if unit), "")
    unit = own or header_unit(column) or header_unit(label)
    number = source.count("\n", 0, hit.start) + 1
    return Place(number, line[:_LINE_LIMIT_CHARS].strip(), label, column, block.labels, block.columns, unit)


def block_at(source: str, position: int) -> Block:
    """Return the block around a position of a source."""
    start = source.rfind("\n\n", max(0, position - _BLOCK_LIMIT_CHARS), position) + 2
    if start == 1:
        start = max(0, position - _BLOCK_LIMIT_CHARS)
    end = source.find("\n\n", position, position + _BLOCK_LIMIT_CHARS)
    return _block(start, source[start : end if end >= 0 else position + _BLOCK_LIMIT_CHARS])


@lru_cache(maxsize=64)
def _block(start: int, text: str) -> Block:
    lines = text.split("\n")
    header = next((line for line in lines[:3] if line.strip() and not _has_numbers(line)), "")
    name = _SERIES_NAME.search(text)
    columns: Sequence[str] = ()
    if name:
        columns = [name["name"]] if name["name"] else []
    elif header and header is not lines[-1]:
        columns = _WORD_FIELD.findall(header)
    rows = [
        (row_label(line), tuple(word for word in _WORD_FIELD.findall(line) if _IS_NUMBER.fullmatch(word)))
        for line in lines
        if _has_numbers(line) and not _SERIES_NAME.match(line)
    ]
    labels = frozenset(normal_label(label) for label, _ in rows if label)
    return Block(start, text, labels, tuple(columns), tuple(rows))


def _has_numbers(line: str) -> bool:
    return any(map(_IS_NUMBER.fullmatch, _WORD_FIELD.findall(line)))


@lru_cache(maxsize=512)
def row_label(line: str) -> str:
    """Return the words at the start of a line, after the number of its row; empty if there are none."""
    index = _NUMBERS_AT_START.match(line)
    rest = line[index.end() :] if index else line
    words = []
    for word in re.split(r"(\s+|[|:=,;\t])", rest.strip(" |")):
        if _IS_NUMBER.fullmatch(word) or word in ("|", ":", "=", ";", "\t"):
            if words or word.strip("|:=;\t "):
                break
            continue
        words.append(word)
        if word.strip() and word.endswith(":"):
            break
    return "".join(words).strip(" ,*:")


def _column(block: Block, line: str, position: int) -> str:
    """Return the name of the column, counted from the right, because labels of rows may hold spaces."""
    if not block.columns:
        return ""
    if len(block.columns) == 1:
        return block.columns[0]
    after = len(_WORD_FIELD.findall(line, position))
    return block.columns[-after] if 0 < after <= len(block.columns) else ""
