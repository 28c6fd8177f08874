"""Finds labels of rows and columns in the texts of answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"\w(?:[\w\u0900-\u0963]|[-'’.&/](?=\w))*\+?")
_SIGN_OR_WORD: Final = re.compile(r"[\u3400-\u9fff]|[a-z\d]+")
_SIGN: Final = re.compile(r"[\u3400-\u9fff]")
_WORDS_OF_LABEL: Final = 4
_SIGNS_OF_LABEL: Final = 8
HALF: Final = "half"
"""The label for the middle half of the values. Two numbers may have it: the two quartiles that bound this half."""


def comparable(text: str) -> str:
    """Return a text in the form in which labels are compared. Each character keeps its position."""
    lower = text.lower()
    return (lower if len(lower) == len(text) else text).replace("_", " ").replace("*", " ")


@dataclass(frozen=True, slots=True)
class Mention:
    """A label in a text."""

    start: int
    end: int
    label: str


@lru_cache(maxsize=32)
def _phrases(text: str) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the phrases of a text that may be labels, with their positions: up to four words, or up to eight Chinese
    signs.

    The result is cached, because the same few sentences are searched for many different labels.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    phrases: dict[str, tuple[tuple[int, int], ...]] = {}
    for number, (start, _) in enumerate(words):
        for _, end in words[number : number + _WORDS_OF_LABEL]:
            phrase = " ".join(text[start:end].split())
            phrases[phrase] = (*phrases.get(phrase, ()), (start, end))
            if phrase.endswith(("'s", "’s")):
                phrases[phrase[:-2]] = (*phrases.get(phrase[:-2], ()), (start, end))
    signs = [match.span() for match in _SIGN_OR_WORD.finditer(text)] if _SIGN.search(text) else []
    for number, (start, first_end) in enumerate(signs):
        end = start
        for next_start, next_end in signs[number : number + _SIGNS_OF_LABEL]:
            if end != next_start:
                break
            end = next_end
            if end > first_end or _SIGN.match(text, start):
                phrases[text[start:end]] = (*phrases.get(text[start:end], ()), (start, end))
    return phrases


def mentions(text: str, labels: Container[str]) -> list[Mention]:
    """Return the labels in a text with their positions, in order. Of labels that overlap, only the longest is returned.

    The text and the labels are in lower case.
    """
    spans = sorted(
        ((start, end, label) for label, places in _phrases(text).items() if label in labels for start, end in places),
        key=lambda span: (span[0], -span[1]),
    )
    found: list[Mention] = []
    for start, end, label in spans:
        if not found or start >= found[-1].end:
            found.append(Mention(start, end, label))
    return found
