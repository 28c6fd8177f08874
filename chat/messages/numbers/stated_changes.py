"""Finds changes in the text of an answer, such as `fell from 5 to 3`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.words_around_numbers import FROM

_UNTIL: Final = r"(?:to|bis|auf|à|a|al|hasta|jusqu'à|until)\b|至|到|增至|降至|变为|→|से|[-–—]|\.\."
CHANGED: Final = re.compile(
    rf"[^\d,;:|\n]{{0,30}}(?:\([^()\n]{{1,12}}\)|\d[\d-]{{3,6}})?\s?(?:{_UNTIL})\s?[*_$€£₹¥]*", re.IGNORECASE
)
"""The text between the two numbers of a change. It may contain the time of the first number."""
_RANGE: Final = re.compile(
    r"between|rang|\bvary|\bvaries|\bspan|outside|interval|zwischen|reich|außerhalb|intervall|spann|"
    r"\bentre\b|\bvari|étend|oscil|\bextér|\b(?:ci|ki|ic)\b|"
    r"介于|位于|落在|范围|区间|之间|不等|बीच|सीमा|अंतराल",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")
_BEFORE_CHARS: Final = 60
"""Maximum number of characters searched before a number. Words before another number belong to that one."""


def changes(text: str, numbers: Sequence[WrittenNumber], contexts: Sequence[Context]) -> Iterator[int]:
    """Yield the indexes of the first numbers of changes in a Markdown text, such as 5 of `fell from 5 to 3`."""
    for n, (one, other) in enumerate(pairwise(numbers)):
        between, context = text[one.end : other.start], contexts[n]
        if not CHANGED.fullmatch(between) or other.start >= context.start + len(context.text):
            continue
        before = context.text[max(0, context.position - _BEFORE_CHARS) : context.position]
        said = direction(context.clause) or direction(before)
        # In Hindi, `from` follows the first number. Between numbers of two units, the same word means `than`.
        is_from = FROM.search(before) or ("से" in between and one.unit == other.unit)
        if said and is_from and not _RANGE.search(_DIGIT.split(before)[-1]):
            yield n
