"""Checks the direction of computed numbers: growth, a fall, or which of two rows has the greater value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.operations import Pair, Result
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.tables import Table

_NAME: Final = re.compile(
    r"[^\W\d_\u0900-\u0963\u3400-\u9fff]{2,}|[\u0900-\u0963]{3,}|(?=([\u3400-\u9fff]{3}))|[^\W_]{0,9}\d[^\W_]*"
)
"""A word that may be part of a name; in Chinese, three characters."""
_SHORT_LETTERS: Final = 3
"""Words of at most three letters, such as `the`, are hardly the name of a value."""
_PART: Final = re.compile(r"[,;:()\[\]，；：、（）—–]|\s(?:and|but|und|aber|et|mais|y|pero|और|लेकिन|जबकि)\s")
"""The end of a part of a sentence."""
_THAN: Final = re.compile(
    r"[^\d|\n]{0,30}?(?:\b(?:than|over|above|below|under|behind|ahead of|als|über|unter|hinter|vor|gegenüber|que|sur|"
    r"à l|celui|celles?|ceux|dessus|dessous|encima|debajo|a la|al del?|respecto|rapport)\b|比|低于|高于)"
)
"""The text between a difference and the name of what is compared with."""
_OBJECT_FIRST: Final = re.compile(
    r"[比较]|\b(?:exceeds?|leads?|übertrifft|devance(?:nt)?|dépasse(?:nt)?|superan?)\b|"
    r"\b(?:more|less|fewer|mehr|weniger|más|menos|plus|moins) (?:than|als|que)\b|"
    r"(?<!\S)(?=(?:\S{1,20}\s(?:का|की|के)\s)?\S{1,20}\s(?:से|की तुलना में|के मुक़ाबले|के मुकाबले)\s?$)"
)
"""The text before the name of what is compared with, if the difference follows it, as in `比乌尔姆高 3`."""
_COMPARED: Final = re.compile(
    r"compar|gegenüber|vergl|frente|rapport|contre|than\b|als\b|से\s|[比较]|तुलना|against|\bvs", re.IGNORECASE
)
"""A word that says that values are compared."""
_NEAR_CHARS: Final = 24
"""Maximum number of characters between a value and its difference to another one, as in `5, which is 2 less than`."""


def names_of(text: str, *, is_first: bool) -> frozenset[str]:
    """Return the words before a number that may name it. `text`: its sentence from the previous number to this one.

    `is_first`: true if the sentence has no previous number. Otherwise, the text may begin with words of that number.
    """
    parts = [text] if is_first else reversed(_PART.split(text))
    names = next(filter(None, map(names_in, parts)), frozenset())
    return frozenset(name for name in names if len(name) > _SHORT_LETTERS or name[0] > "ɏ")


def is_of_value_beside(lead: str, between: str, after: str) -> bool:
    """Return whether the subject of a difference is the value before it, as in `5, which is 2 less than`.

    `lead`: the sentence before the value. `between` and `after`: the text before and after the difference.
    """
    return (
        len(between) <= _NEAR_CHARS and not _COMPARED.search(lead + between) and _THAN.match(part_of(after)) is not None
    )


def subject(before: str, after: str, one: frozenset[str], other: frozenset[str]) -> int:
    """Return which of two values is the subject: 1 for the first, -1 for the second, 0 if the words do not name it.

    `before` and `after`: the words around the difference. `one` and `other`: the words that may name the values.
    """
    lead, compared = _split(before, after)
    named, other_named = (_owner(names_in(text), one, other) for text in (lead, compared))
    return 0 if named == other_named else named or -other_named


def _split(before: str, after: str) -> tuple[str, str]:
    """Return the text before a difference without the name of what is compared with, and the text with this name."""
    lead, *objects = _OBJECT_FIRST.split(_PART.split(before)[-1], maxsplit=1)
    after = part_of(after)
    if than := _THAN.match(after):
        objects.append(after[than.end() :])
    return lead, " ".join(objects)


def part_of(text: str) -> str:
    """Return the beginning of a text, up to a comma, a bracket or `and`."""
    return _PART.split(text, maxsplit=1)[0]


def names_in(text: str) -> frozenset[str]:
    """Return the words of a text that may be parts of names."""
    return frozenset(match[1] or match[0] for match in _NAME.finditer(text))


def _owner(names: frozenset[str], one: frozenset[str], other: frozenset[str]) -> int:
    """Return which of two values names belong to: 1 or -1, and 0 if they belong to both or none."""
    return bool(names & (one - other)) - bool(names & (other - one))


def is_other_change(change: Result, other: Result) -> bool:
    """Return whether `other` is no change, or a change of other operands."""
    return other.sign != "change" or sorted(change.operands) != sorted(other.operands)


def is_opposite(number: WrittenNumber, result: Result, context: Context) -> bool:
    """Return whether the sign of a number, or the words around it, surely contradict the sign of a result."""
    if result.sign == "difference":
        return False
    said = direction(context.clause)
    if number.sign and (number.sign == "-") != (result.value < 0):
        return not result.sign or said * result.value <= 0
    return result.sign == "change" and not number.sign and said * result.value < 0


def is_reverse_comparison(
    number: WrittenNumber, ranges: Sequence[Pair], context: Context, tables: Sequence[Table]
) -> bool:
    """Return whether a sentence such as `Ulm is 3 above Bonn` has the right number, but Ulm has the lesser value."""
    said = direction(context.clause)
    if not said or number.sign:
        return False
    found = [
        one - other
        for table in tables
        if (rows := _compared(context, number.end, table))
        for one, other in _cell_pairs(table, *rows)
        if any(low <= abs(value) <= high for value in _differences(number, one, other) for low, high in ranges)
    ]
    return bool(found) and all(said * one < 0 for one in found)


def _compared(context: Context, end: int, table: Table) -> tuple[str, str] | None:
    """Return the labels of the two rows that a sentence compares: the subject, and the row after a word such as `than`.

    The result is `None` unless there is one row of each kind.
    """
    _, compared = _split(context.text[: context.position], context.text[end - context.start :])
    rows, objects = ({one.label for one in table.mentions(text)} - table.groups for text in (context.text, compared))
    subjects = rows - objects
    return (subjects.pop(), objects.pop()) if len(subjects) == len(objects) == 1 else None


def _cell_pairs(table: Table, one: str, other: str) -> Iterator[Pair]:
    """Yield the numbers that two rows have in the same column. `one` and `other`: the labels of the rows."""
    for first, second in zip(table.keys[one].cells, table.keys[other].cells, strict=True):
        if first and second:
            yield first.value, second.value


def _differences(number: WrittenNumber, one: float, other: float) -> Iterator[float]:
    """Yield the differences of two values that a number may state: absolute or in percent, and in percentage points."""
    if number.unit == "%":
        yield (one - other) / other * 100 if other else 0
    else:
        yield one - other
    yield (one - other) * 100
