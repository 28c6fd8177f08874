"""Finds which row of a table, and which statistic, the words around a number name. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from chat.messages.numbers.contexts import CLAUSE_END, Context
from chat.messages.numbers.mentions import HALF, Mention, mentions

_ELSEWHERE: Final = re.compile(
    r"\b(?:others?|rest|remaining|previous|prior|übrigen?|anderen?|vor(?:jahr|monat|woche|quartal)\w*|autres?|précédent\w*|"
    r"otr[oa]s?|demás|anterior|statt|instead|au lieu|en (?:lugar|vez))\b|"
    r"其他|其余|上年|上月|上季|去年|上一[年月季周]|अन्य|बाकी|पिछल"
)
"""A word that says that a number belongs to something that the clause does not name."""
_LETTERS_OF_STATISTICS: Final = frozenset({"p", "f", "t", "n", "r", "z", "df", "r2"})
_EQUALS: Final = re.compile(r"\s*[=<>≤≥≈:]\s*")
_THAN: Final = re.compile(
    r"(?:\b(?:than|als|que|versus|vs\.?|compared (?:to|with)|against|from|gegenüber|im vergleich zu[rm]?|"
    r"par rapport (?:à|au|aux)|contre|respecto (?:a|al|de|del)|frente (?:a|al))\s"
    r"(?:(?:the|in|der|dem|den|die|das|la|le|el)\s)?|"
    r"\b(?:times|fois|veces)\b[^\d,;.]{0,24}|比|相比)$"
)
_WORD_OR_MARK: Final = re.compile(r"[\w:;,]")
_HEAD_END: Final = re.compile(r"[ \t]*(?:[(（][^()（）]*[)）][ \t]*)?[:：]")
_RESPECTIVELY: Final = re.compile(r"respectiv|respektiv|jeweils|分别|क्रमशः")
_ONLY_NUMBER: Final = re.compile(r"[$€£₹]?[\d.,\s]*\d\s?[%€$]?[\s*]*")
_BEGINNING_CHARS: Final = 8
_BETWEEN_LABELS_CHARS: Final = 10
_BETWEEN_NUMBERS_LETTERS: Final = 12
"""Maximum number of letters, such as units and `and`, between two numbers of a list."""
_CLAUSE_LETTERS: Final = 10
"""Number of letters by which the end of a clause increases the distance between a number and a label."""
_DIGITS: Final = re.compile(r"^[\d.,\s]*\d")
_BEFORE_LABEL: Final = re.compile(r"[-+\N{MINUS SIGN}$€£₹¥]*\d[\d.,\s]*([^\d()（）,;、，]{0,24})[(（]\s*")
_AFTER_LABEL: Final = re.compile(r"\s*[)）]")
_AFTER_NAME: Final = re.compile(r"[^\W\d_][*`]{0,2}\s?[(（][$€£₹¥]?$")


def owners(context: Context, labels: Mapping[str, str], number_starts: Sequence[int]) -> frozenset[str]:
    """Return labels of which the number of a context surely has one; empty if that is not sure.

    `labels`: names -> the labels that they mean. `number_starts`: the positions of all numbers of the context, in
    order.
    """
    found = _sure_mentions(context, labels)
    if context.is_cell:
        return frozenset(one.label for one in found)
    if _is_elsewhere(context, found):
        return frozenset()
    head = {labels[one.label] for one in mentions(context.head, labels)} - {""}
    number_starts = _outside(number_starts, found)
    start = max(context.text.rfind(mark, 0, context.position) for mark in ";；")
    ends = [end for mark in ";；" if (end := context.text.find(mark, context.position)) >= 0]
    end = min(ends, default=len(context.text))
    if inner := [one for one in found if start < one.start < end]:
        found, number_starts = inner, [one for one in number_starts if start < one < end]
    elif start >= 0 and found:
        return frozenset(head) if len({one.label for one in found}) > 1 else frozenset()
    is_topic = bool(found) and _HEAD_END.match(context.text, found[0].end) is not None
    head |= {found[0].label} if is_topic else set()
    before = [one for one in found if one.end <= context.position]
    if not found or (before and _is_compared(before[-1], context)):
        return frozenset(head)
    label = _label_by_form(context, found, number_starts)
    if label is not None:
        return frozenset({label} if label else head)
    after = [one for one in found if one.start > context.position]
    beside = (
        _label_beside(context, before, after, number_starts) if before else _label_after(context, after, number_starts)
    )
    return (
        frozenset({*beside, *head}) if beside or (is_topic and len({one.label for one in found}) == 1) else frozenset()
    )


def _is_elsewhere(context: Context, found: Sequence[Mention]) -> bool:
    """Return whether a clause says that its number is of something else, with no label between this word and the
    number.
    """
    for match in _ELSEWHERE.finditer(context.text):
        start, end = min(match.end(), context.position), max(match.start(), context.position)
        is_before_label = any(start <= one.start < context.position for one in found)
        if not is_before_label and not CLAUSE_END.search(context.text, start, end):
            return True
    return False


def _sure_mentions(context: Context, labels: Mapping[str, str]) -> list[Mention]:
    """Return the labels in the text of a context, without digits and single letters that may mean something else.

    A second name in brackets, or of the same row, is part of a mention, as in `Ulm (north)` and `Ulm G-05`.
    """
    named = [one for one in mentions(context.text, labels) if labels[one.label]]
    if any(one.label.isdigit() and not _is_sure(one, context) for one in named):
        named = [one for one in named if not one.label.isdigit()]
    found: list[Mention] = []
    for one in named:
        label = labels[one.label]
        is_beside = bool(found) and not _WORD_OR_MARK.search(context.text, found[-1].end, one.start)
        is_bracket = context.text[one.end : one.end + 1] in (")", "）")
        if is_beside and (found[-1].label == label or (is_bracket and not context.is_cell)):
            found[-1] = Mention(found[-1].start, one.end + is_bracket, found[-1].label)
        elif one.label not in _LETTERS_OF_STATISTICS or _is_equal(one, context):
            found.append(Mention(one.start, one.end, label))
    return found


def _label_after(context: Context, after: Sequence[Mention], number_starts: Sequence[int]) -> tuple[str, ...]:
    """Return the label of a number that has labels only after it; none if this is not sure."""
    if not after:
        return ()
    between = context.text[context.position : after[0].start]
    is_near = not CLAUSE_END.search(between) or not any(one in ",;" or one.isalpha() for one in between)
    if any(one > after[0].end and not CLAUSE_END.search(context.text, after[0].end, one) for one in number_starts):
        # The label belongs to the number after it, as in `from 3 in the first year to Ulm's 5`.
        return ()
    is_only = len({one.label for one in after}) == 1 and (is_near or len(number_starts) == 1)
    return (after[0].label,) if is_only else ()


def _label_beside(
    context: Context, before: Sequence[Mention], after: Sequence[Mention], number_starts: Sequence[int]
) -> tuple[str, ...]:
    """Return the label of a number that has labels before it: two labels if it may have either of them, and
    none if this is not sure.
    """
    between = context.text[before[-1].end : context.position]
    own = next((number for number in number_starts if before[-1].end <= number < context.position), None)
    if own is not None and _AFTER_NAME.search(context.text, own, context.position):
        # The number is in brackets after a name that is no label, as in `Ulm (3), Klein-Bonn (2)`.
        return ()
    if own is not None and after:
        # Another number stands between the label before and this number.
        return before[-1].label, after[0].label
    label_start = before[-1].start
    if any(_ONLY_NUMBER.fullmatch(context.text, one, label_start) for one in number_starts if one < label_start):
        # The label before the number belongs to the number before that label.
        return ()
    is_own_clause = not CLAUSE_END.search(between) or between.strip(" :").startswith(("(", "（"))
    if is_own_clause or len({one.label for one in (*before, *after)}) == 1:
        return (before[-1].label,)
    following = context.text[context.position : after[0].start] if after else ""
    if ")" in following:
        # The words in brackets are skipped, as in `57 (11 %) late`.
        following = following.partition("(")[0] + following.rpartition(")")[2]
    near_after = bool(after) and not CLAUSE_END.search(following)
    return (after[0].label if near_after else before[-1].label,)


def statistic_of(context: Context, found: Sequence[Mention], number_starts: Sequence[int]) -> str:
    """Return the statistic that a number surely is; empty if that is not sure.

    The name of a statistic applies only to the next number, and only within its own clause. `found`: the statistics
    that the sentence names.
    """
    number_starts = _outside(number_starts, found)
    are_beside = all(
        other.start - one.end <= _BETWEEN_LABELS_CHARS
        and not any(one.end <= number < other.start for number in number_starts)
        for one, other in pairwise(found)
    )
    label = _label_by_form(context, found, number_starts, may_be_list=are_beside)
    if label is not None:
        return label
    before = [one for one in found if one.end <= context.position]
    if not before:
        return ""
    label = before[-1].label
    if any(before[-1].end <= number < context.position for number in number_starts):
        return label if label == HALF else ""
    between = context.text[before[-1].end : context.position]
    is_own_clause = not CLAUSE_END.search(between) or not any(map(str.isalpha, between))
    return label if is_own_clause else ""


def _outside(number_starts: Sequence[int], found: Sequence[Mention]) -> list[int]:
    """Return the positions of the numbers that are not part of a label."""
    return [start for start in number_starts if not any(one.start <= start < one.end for one in found)]


def _label_by_form(
    context: Context, found: Sequence[Mention], number_starts: Sequence[int], *, may_be_list: bool = True
) -> str | None:
    """Return the label of a number by the form of its sentence: empty if it has none, `None` if the form does not show
    it.
    """
    in_list = _parallel_label(context, found, number_starts) if may_be_list else ""
    return _label_in_brackets(found, context) or in_list or _alternating_label(context, found, number_starts)


def _is_compared(one: Mention, context: Context) -> bool:
    """Return whether a label is only what something else is compared with, as in `than Ulm, 5` and `than Ulm to 5`."""
    between = context.text[one.end : max(one.end, context.position)]
    is_apart = CLAUSE_END.search(between.lstrip(" (（")) or any(map(str.isalpha, between))
    return bool(is_apart) and _THAN.search(context.text, 0, one.start) is not None


def _is_equal(one: Mention, context: Context) -> bool:
    """Return whether the number of a context follows a label and a sign, as in `p = 0.04`."""
    return _EQUALS.fullmatch(context.text, one.end, max(one.end, context.position)) is not None


def _is_sure(one: Mention, context: Context) -> bool:
    """Return whether a label of digits surely names a row: it has four digits, as a year has, is in the first cell of a
    row, or begins a sentence.
    """
    return context.is_cell or len(one.label) == 4 or one.start < _BEGINNING_CHARS


def _label_in_brackets(found: Sequence[Mention], context: Context) -> str:
    """Return the label beside a number if one of both is in brackets, as in `3 (Ulm)` and `Ulm (3)`; empty
    otherwise.
    """
    before = next((one for one in reversed(found) if one.end <= context.position), None)
    if before and context.text[before.end : context.position].strip() in ("(", "（"):
        return before.label
    after = next((one for one in found if one.start > context.position), None)
    own = _BEFORE_LABEL.fullmatch(context.text, context.position, after.start) if after else None
    is_own = own is not None and not CLAUSE_END.search(own[1])
    return after.label if after and is_own and _AFTER_LABEL.match(context.text, after.end) else ""


def _alternating_label(context: Context, found: Sequence[Mention], number_starts: Sequence[int]) -> str | None:
    """Return the label of a number if labels and numbers alternate, as in `3 in Ulm, 4 in Bonn`; `None` otherwise.

    The result is empty for a number without a label, as the last one of `3 in Ulm, 4 in Bonn and 5 elsewhere`.
    """
    position = context.position
    marks = sorted([(one.start, one.end, one.label) for one in found] + [(one, one, "") for one in number_starts])
    while len(marks) > 1 and not (marks[-1][2] or marks[-2][2]):
        # A number after the last label and its number has no label, such as 22 in `Ulm 3 and Bonn 4 in 22 matches`.
        del marks[-1]
    takes_turns = all(bool(one[2]) != bool(other[2]) for one, other in pairwise(marks))
    if not takes_turns or min(len(number_starts), len(found)) < 2 or (position, position, "") not in marks:
        return None
    is_label_first = bool(marks[0][2])
    if len(marks) % 2:
        # One label or number has no partner: each number belongs to the nearer label.
        gaps = [0, 0]
        for one, other in pairwise(marks):
            between = _DIGITS.sub("", context.text[one[1] : other[0]])
            gaps[bool(one[2])] += sum(map(str.isalpha, between)) + _CLAUSE_LETTERS * bool(CLAUSE_END.search(between))
        is_label_first = gaps[True] <= gaps[False]
    place = marks.index((position, position, "")) + (-1 if is_label_first else 1)
    return marks[place][2] if 0 <= place < len(marks) else ""


def _parallel_label(context: Context, found: Sequence[Mention], number_starts: Sequence[int]) -> str:
    """Return the label of a number if a list of labels and a list of numbers correspond, as in `Ulm and Bonn have 3 and
    4`.

    The result is empty otherwise.
    """
    position = context.position
    labels = [one for one in found if one.start < position]
    for match in _RESPECTIVELY.finditer(context.text, labels[-1].end if labels else 0, position):
        # Numbers before this word have no label, such as 7 in `Ulm and Bonn have 7 (respectively 3 and 4)`.
        number_starts = [one for one in number_starts if one > match.end()]
    if not labels:
        labels = [*found]
        numbers = [one for one in number_starts if one < labels[0].start]
        labels = labels[: len(numbers)]
    else:
        numbers = [one for one in number_starts if one >= labels[-1].end]
        after = next((one.start for one in found if one.start >= position), None)
        numbers = [one for one in numbers if after is None or one < after]
        if len(numbers) > len(labels) and CLAUSE_END.search(context.text, *numbers[len(labels) - 1 : len(labels) + 1]):
            # Numbers of the next clause have no label, such as 33 in `From 3 to 4, a change of 33 %`.
            numbers = numbers[: len(labels)]
        labels = labels[-len(numbers) :] if numbers else []
    if labels and any(labels[0].start <= one < labels[-1].end for one in number_starts):
        return ""
    if len(labels) != len(numbers) or len(numbers) < 2 or position not in numbers:
        return ""
    if any(
        sum(map(str.isalpha, context.text[one:other])) > _BETWEEN_NUMBERS_LETTERS for one, other in pairwise(numbers)
    ):
        return ""
    return labels[numbers.index(position)].label
