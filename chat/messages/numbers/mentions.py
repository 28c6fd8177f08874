"""Finds labels of rows and columns in the texts of answers. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from chat.messages.numbers.caches import cache_short_texts

_WORD: Final = re.compile(r"\w(?:[\w\u0900-\u0963]|[-'’.&/](?=\w))*\+?")
_SIGN_OR_WORD: Final = re.compile(r"[\u3400-\u9fff]|[a-z\d]+")
_SIGN: Final = re.compile(r"[\u3400-\u9fff]")
_WIDE_SPACE: Final = re.compile(r"[^\S ]|  ")
_POSSESSIVES: Final = ("'s", "’s")
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


@cache_short_texts(maxsize=32)
def _phrases(text: str) -> dict[str, list[tuple[int, int]]]:
    """Return the phrases of a text that may be labels, with their positions: up to four words, or up to eight Chinese
    characters.

    The result is cached, because the same few sentences are searched for many different labels.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    phrases: dict[str, list[tuple[int, int]]] = defaultdict(list)
    has_single_spaces = not _WIDE_SPACE.search(text)
    has_apostrophes = "'" in text or "’" in text
    for count in range(_WORDS_OF_LABEL):
        for (start, _), (_, end) in zip(words, words[count:], strict=False):
            phrase = text[start:end] if has_single_spaces else " ".join(text[start:end].split())
            phrases[phrase].append((start, end))
            if has_apostrophes and phrase[-2:] in _POSSESSIVES:
                phrases[phrase[:-2]].append((start, end))
            elif has_apostrophes and phrase[1:2] in ("'", "’"):
                # A French article, as in `l'Aude`.
                phrases[phrase[2:]].append((start + 2, end))
    signs = [match.span() for match in _SIGN_OR_WORD.finditer(text)] if _SIGN.search(text) else []
    for number, (start, first_end) in enumerate(signs):
        end = start
        for next_start, next_end in signs[number : number + _SIGNS_OF_LABEL]:
            if text[end:next_start].strip() or (end != next_start and not text[end - 1].isdigit()):
                break
            end = next_end
            if end > first_end or _SIGN.match(text, start):
                phrases[text[start:end]].append((start, end))
    return phrases


def mentions(text: str, labels: Collection[str]) -> list[Mention]:
    """Return the labels in a text with their positions, in order. Of labels that overlap, the first is
    returned, and the longest of those that begin at one position.

    The text and the labels are in lower case.
    """
    phrases = _phrases(text)
    fewer, others = sorted((phrases, labels), key=len)
    spans = [(*span, label) for label in fewer if label in others for span in phrases[label]]
    spans.sort(key=lambda span: (span[0], -span[1]))
    found: list[Mention] = []
    for start, end, label in spans:
        if not found or start >= found[-1].end:
            found.append(Mention(start, end, label))
    return found
