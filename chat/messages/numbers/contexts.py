"""The words around a number of an answer: its sentence or its row of a table. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from chat.messages.numbers.mentions import comparable

_SENTENCE_END: Final = re.compile(
    r"(?=[.!?。！？।\n])"
    # The period of a day does not end a sentence, as in `7. März`.
    r"(?!(?<=\d)\.\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))"
    r"(?:(?<!Tsd)(?<!Mio)(?<!Mrd)(?<!vs)(?<!ca)(?<!bzw)(?<!Rs)"
    r"[.!?](?=[\s*_)]+[„“«]?(?:[^\W\d_a-zß-ÿ]|[*_#`])|\s*$)|(?<=[\d%€$])\.(?=\s)|[。！？।]|\n)"
)
CLAUSE_END: Final = re.compile(
    r"[,;(){}\[\]，、；（）](?!\d)|\s(?:and|while|whereas|but|than|und|während|aber|als|et|mais|alors|y|pero|mientras|"
    r"और|लेकिन|जबकि)\s|和|而|与|比"
)
_HEADER: Final = re.compile(r"^(?P<names>.+)\n[ \t|:]*-[ \t|:-]*$", re.MULTILINE)
"""The header of a table, and the line of dashes below it."""
_TITLE: Final = r"(?=\*\*[^*\n]{1,80}(?:[.:。：]\*\*|\*\*[ \t]?(?:[(（][^()（）\n]{1,40}[)）])?[:：]))"
"""Matches at the beginning of a title in bold letters, such as `**Ulm:**`."""
_ITEM: Final = re.compile(
    rf"[ \t]*(?:(?:[-*+•]|\d{{1,3}}[.)])[ \t]+|{_TITLE})(?P<head>\*\*[^*\n]{{1,80}}\*\*|.*?(?=[:：,，(（]|[.。]\s|$))"
)
_SENTENCE_CHARS: Final = 1_000
"""Maximum number of characters of a part of a sentence. Longer sentences are split, and longer cells are cut."""


@dataclass(frozen=True)
class Context:
    """The sentence or the row of a table that a number is in, and the position of the number in it."""

    text: str
    """The text, in the form of `comparable`. For a row of a table, only its first cell."""
    start: int
    """The position of the text in the answer."""
    position: int
    head: str = ""
    """The beginning of the list item that contains the sentence; empty if the sentence begins the item."""
    before: str = ""
    """The previous sentence of the same paragraph."""
    column: str = ""
    """The header of the column that the number is in; empty outside of tables."""
    is_cell: bool = False
    """True if the number is in a row of a table."""
    number_start: int = 0
    """The position of the number in the answer."""

    @cached_property
    def clause(self) -> str:
        """The clause of the sentence that contains the number."""
        ends = [0, *(match.end() for match in CLAUSE_END.finditer(self.text))]
        place = bisect_right(ends, self.position)
        return self.text[ends[place - 1] : ends[place] if place < len(ends) else len(self.text)]


class Contexts:
    """Returns the context of each position in an answer."""

    def __init__(self, text: str) -> None:
        """Split a Markdown text into sentences, and read the headers of its tables."""
        self._text = text
        self._headers: dict[int, tuple[int, list[str]]] = {}
        """The position of a paragraph -> the end of the first header in it, and its cells."""
        for match in _HEADER.finditer(text):
            names = [cell.strip(" *`") for cell in _cells(match["names"])]
            self._headers.setdefault(self._paragraph(match.start()), (match.end(), names))
        ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        self._starts = [part for start, end in pairwise(ends) for part in _parts(text, start, end)]

    def at(self, position: int) -> Context:
        """Return the context of the number at a position."""
        line_start = self._text.rfind("\n", 0, position) + 1
        line_end = self._text.find("\n", position)
        line = self._text[line_start : line_end if line_end >= 0 else None]
        if line.lstrip().startswith("|"):
            cells = _cells(line, 2)
            number = self._text.count("|", line_start, position) - 1
            headers = self._header(line_start)
            # A number in brackets after another one, such as a percentage, is not of the column.
            lead = line[: position - line_start].rpartition("|")[2].replace("（", "(").rpartition("(")[0]
            is_of_column = 0 <= number < len(headers) and not any(map(str.isdigit, lead))
            column = headers[number] if is_of_column else ""
            # A number that only counts the rows is not their name.
            is_rank = number > 1 and cells[0].strip(" *.#").isdigit() and any(map(str.isalpha, cells[1]))
            first, column = (comparable(cell[:_SENTENCE_CHARS]) for cell in (cells[is_rank], column))
            return Context(first, line_start, len(first), column=column, is_cell=True, number_start=position)
        place = bisect_right(self._starts, position)
        start = self._starts[place - 1]
        end = self._starts[place] if place < len(self._starts) else len(self._text)
        head = ""
        if start > line_start and (item := _ITEM.match(line)):
            head = comparable(item["head"][:80])
        before = self._text[self._starts[place - 2] : start] if start > line_start else ""
        sentence = comparable(self._text[start:end])
        return Context(sentence, start, position - start, head, comparable(before), number_start=position)

    def _header(self, line_start: int) -> list[str]:
        """Return the header cells of the table whose row begins at `line_start`."""
        end, names = self._headers.get(self._paragraph(line_start), (0, []))
        return names if end < line_start else []

    def _paragraph(self, line_start: int) -> int:
        """Return the position of the empty line above a line; -1 if there is none."""
        return self._text.rfind("\n\n", 0, line_start)


def _cells(row: str, limit: int = -1) -> list[str]:
    """Return the cells of a row of a Markdown table; after the first `limit` cells, the rest is one cell."""
    return row.strip().removeprefix("|").removesuffix("|").split("|", limit)


def _parts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the positions at which the parts of a sentence begin. The length of a part is bounded, because the time for
    a number grows with it.
    """
    while True:
        yield start
        if end - start <= _SENTENCE_CHARS:
            return
        space = text.rfind(" ", start, start + _SENTENCE_CHARS) + 1
        start = space if space > start else start + _SENTENCE_CHARS
