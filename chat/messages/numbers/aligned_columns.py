"""Reads printed tables by the positions of their columns: the numbers of a column end where its name ends, as in the
output of pandas. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from chat.messages.numbers.caches import cache_short_texts

_WORD: Final = re.compile(r"\S+")
_LETTER_BESIDE: Final = re.compile(r"[^\W\d] ?#|# ?[^\W\d]")


@cache_short_texts(maxsize=64)
def word_ends(line: str) -> frozenset[int]:
    """Return the positions in a line where its words end."""
    return frozenset(match.end() for match in _WORD.finditer(line))


def aligned_numbers(header: str, line: str, numbers: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return the numbers of a row that are its cells, and the number before them that numbers the row, if any.

    The other ones are parts of labels, as in `0 to 5`. All are returned if the last one is not below the end of a name,
    or if another one neither is nor stands beside a word.
    """
    ends = word_ends(header)
    if "\t" in header or not numbers or numbers[-1].end() not in ends:
        return [*numbers]
    first = len(header) - len(header.lstrip())
    is_numbered = numbers[0].end() <= first and not line[numbers[0].end() :][:2].strip()
    are_cells = [one.end() in ends or (is_numbered and not n) for n, one in enumerate(numbers)]
    lead = len(line) - len(line.lstrip())
    others = (one.span() for one, is_cell in zip(numbers, are_cells, strict=True) if not is_cell and one.start() > lead)
    beside = (f"{line[max(0, start - 2) : start]}#{line[end : end + 2]}" for start, end in others)
    if not all(map(_LETTER_BESIDE.search, beside)):
        return [*numbers]
    return [one for one, is_cell in zip(numbers, are_cells, strict=True) if is_cell]


def aligned_names(header: str, line: str, ends: Sequence[int]) -> list[str]:
    """Return the names of the columns of numbers that end at some positions of a line; none if no names end there."""
    if "\t" in header or not word_ends(header).issuperset(ends):
        return []
    bounds = sorted(word_ends(header) & word_ends(line))
    starts = [bounds[place - 1] if (place := bisect_left(bounds, end)) else 0 for end in ends]
    return [re.split(r"\s{2,}", header[start:end].strip())[-1] for start, end in zip(starts, ends, strict=True)]


def texts_in(part: str) -> tuple[str, ...]:
    """Return the texts in the columns of labels in a part of a line."""
    return tuple(text for text in re.split(r"\s{2,}", part.strip()) if text)


def split_columns(leads: Sequence[str]) -> list[list[str]]:
    """Return the texts before the first number of each row, split where all rows have a space after a text."""
    starts = [0]
    for n, signs in enumerate(zip(*leads, strict=False)):
        if not "".join(signs).strip() and all(lead[starts[-1] : n].strip() for lead in leads):
            starts.append(n)
    return [[lead[one:other].strip() for one, other in pairwise([*starts, None])] for lead in leads]


def names_of_rows(texts: Sequence[Sequence[str]]) -> tuple[list[str], list[str], list[Sequence[str]]] | None:
    """Return a label, a group and other names for each row, by the texts in its columns of labels.

    The label is the first text that no other row has; the group is the first one that another row has. If only the
    first two such texts together tell the rows apart, the second one is the label. `None`: the rows have no columns of
    labels.
    """
    width = len(texts[0]) if texts else 0
    if width < 2 or any(len(row) != width for row in texts):
        return None
    columns = list(zip(*texts, strict=True))
    counts = [Counter(column) for column in columns]
    unique = [n for n in range(width) if len(counts[n]) == len(texts)]
    groups = [n for n in range(width) if n not in unique and len(counts[n]) > 1]
    if not unique:
        if len(groups) < 2 or len(set(zip(columns[groups[0]], columns[groups[1]], strict=True))) < len(texts):
            return None
        unique = groups[1:2]
    label = unique[0]
    group = columns[groups[0]] if groups else [""] * len(texts)
    return [*columns[label]], [*group], [[row[n] for n in unique if n != label] for row in texts]
