"""What the words around a number of an answer name: its sentence, its cell, and the rows and columns in them. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Container
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

_SENTENCE_END: Final = re.compile(
    r"(?:[.!?](?=[\s*_)]+(?:[^\W\d_a-zß-ÿ]|[*_#`])|\s*$)|(?<=[\d%€$])\.(?=\s)|[。！？।]|\n)"
)
_CLAUSE_END: Final = re.compile(
    r"[,;(){}\[\]，、；（）]|\s(?:and|while|whereas|but|und|während|et|alors|y|mientras|और|लेकिन)\s|和|而|与"
)
_WORD: Final = re.compile(r"(?:[^\W\d_]|[\u0900-\u0963])(?:\w|[-'’.&/](?=\w)|[\u0900-\u0963])*")
_SIGNS: Final = re.compile(r"[\u3400-\u9fff]+")
_WORDS_OF_LABEL: Final = 4
_SIGNS_OF_LABEL: Final = 8
_RULE_LINE: Final = re.compile(r"[ \t|:]*-[ \t|:-]*")


_NUMBER_BEFORE: Final = re.compile(r"[\d%€$][ \t*_%€$]{0,4}$")
_FORMS: Final = str.maketrans({"_": " ", "²": "2", "³": "3"})


def comparable(text: str) -> str:
    """Return a text as labels are compared. No character changes its position."""
    lower = text.lower()
    return (lower if len(lower) == len(text) else text).translate(_FORMS)


@dataclass(frozen=True, slots=True)
class Context:
    """The text that says what a number is about, and where the number is in it."""

    text: str
    """In lower case."""
    position: int
    column: str = ""
    """The header of the number's cell, in lower case; empty outside of tables."""
    is_cell: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A label in a context."""

    start: int
    end: int
    label: str


class Contexts:
    """Finds the context of each position in an answer."""

    def __init__(self, text: str) -> None:
        """Split a Markdown text to sentences and rows of tables."""
        self._text = text
        self._starts = [0, *(match.end() for match in _SENTENCE_END.finditer(text))]
        self._headers: dict[int, list[str]] = {}

    def sentence(self, position: int) -> tuple[int, int]:
        """Return the start and the end of the sentence at a position."""
        place = bisect_right(self._starts, position)
        return self._starts[place - 1], self._starts[place] if place < len(self._starts) else len(self._text)

    def at(self, position: int) -> Context:
        """Return the context of a position."""
        line_start = self._text.rfind("\n", 0, position) + 1
        line_end = self._text.find("\n", position)
        line = self._text[line_start : len(self._text) if line_end < 0 else line_end]
        if line.lstrip().startswith("|"):
            cells = line.strip().strip("|").split("|")
            number = self._text.count("|", line_start, position) - 1
            headers = self._header(line_start)
            column = headers[number] if 0 <= number < len(headers) else ""
            return Context(comparable(cells[0]), len(cells[0]), comparable(column), is_cell=number > 0)
        start, end = self.sentence(position)
        return Context(comparable(self._text[start:end]), position - start)

    def _header(self, line_start: int) -> list[str]:
        """Return the cells above the rule of the table that has a row at `line_start`."""
        first = self._text.rfind("\n\n", 0, line_start)
        lines = self._text[0 if first < 0 else first : line_start].strip("\n").split("\n")
        for line, rule in pairwise(lines):
            if _RULE_LINE.fullmatch(rule):
                return [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
        return []


@lru_cache(maxsize=1024)
def _phrases(text: str) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the phrases of a text that may be labels, with where they are: up to four words, or of Chinese signs."""
    words = [match.span() for match in _WORD.finditer(text)]
    phrases: dict[str, tuple[tuple[int, int], ...]] = {}
    for number, (start, _) in enumerate(words):
        for _, end in words[number : number + _WORDS_OF_LABEL]:
            phrase = text[start:end]
            phrases[phrase] = (*phrases.get(phrase, ()), (start, end))
    for match in _SIGNS.finditer(text):
        for start in range(match.start(), match.end()):
            for end in range(start + 1, min(start + _SIGNS_OF_LABEL, match.end()) + 1):
                phrases[text[start:end]] = (*phrases.get(text[start:end], ()), (start, end))
    return phrases


def mentions(text: str, labels: Container[str]) -> list[Mention]:
    """Return where labels are in a text, in order; of overlapping ones, the longest. All are in lower case."""
    phrases = _phrases(text)
    spans = sorted(
        ((start, end, label) for label, places in phrases.items() if label in labels for start, end in places),
        key=lambda span: (span[0], -span[1]),
    )
    found: list[Mention] = []
    for start, end, label in spans:
        if not label.isdigit() and (not found or start >= found[-1].end):
            found.append(Mention(start, end, label))
    return found


def named_label(context: Context, found: Collection[Mention], number_starts: Collection[int]) -> frozenset[str]:
    """Return the labels that the number of a context may belong to. `number_starts`: of all numbers in the context."""
    labels = {one.label for one in found}
    if len(labels) < 2:
        return frozenset(labels)
    ordered = sorted(found, key=lambda one: one.start)
    before = [one for one in ordered if one.end <= context.position]
    after = [one for one in ordered if one.start > context.position]
    numbers = sorted(number_starts)
    # `Ulm and Bonn have 3 and 4`.
    if len(numbers) == len(ordered) and (ordered[-1].end <= numbers[0] or numbers[-1] < ordered[0].start):
        return (
            frozenset({ordered[numbers.index(context.position)].label}) if context.position in numbers else frozenset()
        )
    if not before or not after:
        return frozenset({(before[-1] if before else after[0]).label})
    between = context.text[before[-1].end : context.position]
    to_next = context.text[context.position : after[0].start]
    if any(before[-1].end <= number < context.position for number in numbers):
        # Another number stands between the label before and this one.
        return frozenset({before[-1].label, after[0].label})
    if (
        _CLAUSE_END.search(between)
        and not between.strip().startswith(("(", "（", ":"))
        and not _CLAUSE_END.search(to_next)
    ):
        return frozenset({after[0].label})
    return frozenset({before[-1].label})


def named_columns(context: Context, found: Collection[Mention], number_starts: Collection[int]) -> frozenset[str]:
    """Return the columns that the number of a context may belong to: `312 orders` names that of 312 only."""
    free, own = set[str](), set[str]()
    for one in found:
        owner = _number_beside(context.text, one, number_starts)
        if owner is None:
            free.add(one.label)
        elif owner == context.position:
            own.add(one.label)
    return frozenset(own or free)


def _number_beside(text: str, mention: Mention, number_starts: Collection[int]) -> int | None:
    """Return the start of the number right before a mention, or right after it; `None` for none."""
    if _NUMBER_BEFORE.search(text, max(0, mention.start - 6), mention.start):
        return max((one for one in number_starts if one < mention.start), default=None)
    after = min((one for one in number_starts if one >= mention.end), default=None)
    return None if after is None or text[mention.end : after].strip(" *=:(") else after
