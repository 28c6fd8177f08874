"""Finds ranges and changes in the text of an answer, such as `between 3 and 5` and `fell from 5 to 3`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.words_around_numbers import ABOUT, FROM

_UNTIL: Final = r"(?:to|bis|auf|à|a|al|hasta|jusqu'à|until)\b|至|到|增至|降至|变为|→|से|[-–—]|\.\."
_TO: Final = rf"(?:and|und|et|y)\b|与|和|और|{_UNTIL}"
_BETWEEN: Final = re.compile(
    rf"[*_]*\s?[^\s\d,;:()|]{{0,14}}[*_]*\s?(?:{_TO})\s?"
    rf"(?:{ABOUT})?\s?[*_$€£₹¥]*",
    re.IGNORECASE,
)
"""The text between the two numbers of a range: a unit, and a word such as `to`."""
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
_AFTER_CHARS: Final = 4
"""Maximum number of characters searched after a range, as in `3 到 5 之间`."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Two successive numbers of an answer: a range, or the first and the last value of a change."""

    first: int
    """The index of the first number among the numbers of the answer. The second number follows it."""
    is_change: bool
    """True if the text says that a value changed from the first number to the second. Otherwise they are a range."""
    is_wrong: bool
    """True if the text says that the first number is less or greater than the second, and this is wrong."""


def bounds(text: str, numbers: Sequence[WrittenNumber], contexts: Sequence[Context]) -> Iterator[Bounds]:
    """Yield the ranges and changes in a Markdown text."""
    for n, (one, other) in enumerate(pairwise(numbers)):
        between, context = text[one.end : other.start], contexts[n]
        is_change, is_range = CHANGED.fullmatch(between), _BETWEEN.fullmatch(between)
        if not (is_change or is_range) or other.start >= context.start + len(context.text):
            continue
        before = context.text[max(0, context.position - _BEFORE_CHARS) : context.position]
        rise = other.amount.value - one.amount.value
        lead = _DIGIT.split(before)[-1]
        said = direction(context.clause) or direction(before)
        # In Hindi, `from` follows the first number. Between numbers of two units, the same word means `than`.
        is_from = FROM.search(before) or ("से" in between and one.unit == other.unit)
        if said and is_change and is_from and not _RANGE.search(lead):
            yield Bounds(n, is_change=True, is_wrong=said * rise < 0)
        elif is_range and _RANGE.search(lead + text[other.end : other.end + _AFTER_CHARS]):
            yield Bounds(n, is_change=False, is_wrong=rise <= 0)
