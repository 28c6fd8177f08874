"""Finds the computation that a number of an answer may be the result of, from the numbers around it. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import Final

from chat.messages.numbers.arithmetic import RESULTS_OF_ANSWER, TABLES_LIMIT, equal_results, results
from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.directions import (
    is_of_value_beside,
    is_opposite,
    is_other_change,
    is_reverse_comparison,
    names_in,
    names_of,
    part_of,
    subject,
)
from chat.messages.numbers.measures import is_other_measure
from chat.messages.numbers.operands import Operand, Operands
from chat.messages.numbers.operations import Pair, Result
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.stated_changes import CHANGED
from chat.messages.numbers.words import Words
from chat.messages.numbers.words_around_numbers import DECREASE, DIFFERENCE, INCREASE, PERCENTS, RATIO, STATISTIC

_NUMBERS_BEFORE: Final = 12
"""Number of numbers before and after a number in the text that may be its operands."""
_NUMBERS_BESIDE: Final = 5
"""Maximum number of operands in the sentence of a number."""
_NUMBERS_OF_ROW: Final = 4
"""Maximum number of operands before the sentence that are of one row."""
_DIGITS_OF_CHANCE: Final = 3
"""Maximum number of digits of a number that often equals a ratio or a difference of two values by chance."""


class Computations:
    """The computations of the numbers of one answer."""

    def __init__(
        self,
        text: str,
        numbers: Sequence[WrittenNumber],
        contexts: Sequence[Context],
        tables: SourceTables,
        words: Words,
        given: Sequence[float],
    ) -> None:
        """`given`: the numbers in the question and in code."""
        self._text, self._numbers, self._contexts = text, numbers, contexts
        self._starts = [number.start for number in numbers]
        self._tables, self._words, self._given = tables, words, given
        self._results_left = RESULTS_OF_ANSWER
        self.operands: dict[int, Operand] = {}
        """Index of a number -> its source. Numbers without a source that may be no claims are operands, too."""
        self.unsourced = set[int]()
        """Indexes of operands without a source. They are not computed from one another, or from numbers in code, as 6
        from 42 and 7.
        """

    @cached_property
    def _of_rows(self) -> dict[str, list[int]]:
        """Label of a row, or a statistic -> the indexes of the numbers that are of it, in order.

        It is built once: numbers that get their sources later are computed, and are of no row.
        """
        found = defaultdict[str, list[int]](list)
        for n, one in sorted(self.operands.items()):
            if one.place and (label := one.place.statistic if one.place.row.is_statistic else one.place.key):
                found[label].append(n)
        return found

    def _is_reverse(self, n: int, result: Result, context: Context) -> bool:
        """Return whether the words name the lesser of two values as the greater one, or the other way round."""
        sign = self._numbers[n].sign
        said = {"+": 1, "-": -1}.get(sign) or direction(context.clause)
        if not said or not result.sign or (sign and result.sign == "change"):
            return False
        one, other = result.operands
        return said * (one - other) * self._subject(n, (one, other), context) < 0

    def _subject(self, n: int, values: Pair, context: Context) -> int:
        """Return 1 if the first of two values is the subject of a difference, -1 if it is the second, otherwise 0."""
        one, other = (self._nearest(n, value) for value in values)
        sentence, beside = self._of_sentence(context), n - 1
        start = self._numbers[beside].end - context.start if beside in sentence else 0
        before = context.text[start : context.position]
        after = context.text[self._numbers[n].end - context.start :]
        if beside in sentence and beside in (one, other):
            lead = context.text[: self._starts[beside] - context.start]
            place = self.operands[beside].place
            is_row = not (one in sentence and other in sentence) and place is not None and not place.is_of_whole
            between = self._text[self._numbers[beside - 1].end : self._starts[beside]]
            is_last_of_change = beside - 1 in (one, other) and CHANGED.fullmatch(between)
            if is_last_of_change or (is_row and is_of_value_beside(lead, before, after)):
                return 1 if beside == one else -1
            if before == part_of(before):
                # Without a comma or `and`, these words belong to the number before them.
                before = ""
        return 0 if one is None or other is None else subject(before, after, self._names_of(one), self._names_of(other))

    def _nearby(self, n: int) -> list[int]:
        """Return the indexes of the numbers with a source before and after a number, the nearest first."""
        around = range(max(0, n - _NUMBERS_BEFORE), min(n + _NUMBERS_BEFORE + 1, len(self._numbers)))
        return sorted((m for m in around if m != n and m in self.operands), key=lambda m: (abs(m - n), m))

    def _nearest(self, n: int, value: float) -> int | None:
        """Return the index of the number with a value that is nearest to the number `n`; `None` if there is none."""
        return next((m for m in self._nearby(n) if self.operands[m].value == value), None)

    def _names_of(self, n: int) -> frozenset[str]:
        """Return the words that may name a number: those before it, and its row and column."""
        context, place = self._contexts[n], self.operands[n].place
        is_first = n - 1 not in self._of_sentence(context)
        start = 0 if is_first else self._numbers[n - 1].end - context.start
        around = [context.head, context.column, *((place.key, place.column_label) if place else ())]
        names = names_of(context.text[start : context.position], is_first=is_first)
        return names | names_in(" ".join(around))

    def _of_row(self, end: int, label: str) -> list[Operand]:
        """Return the sources of a row, or of a statistic, that numbers before the index `end` have, the last first."""
        some = self._of_rows.get(label, [])
        last = bisect_left(some, end)
        return [self.operands[n] for n in some[max(0, last - _NUMBERS_OF_ROW) : last]][::-1]

    def _of_sentence(self, context: Context) -> range:
        """Return the indexes of the numbers in a sentence."""
        end = context.start + len(context.text)
        return range(bisect_left(self._starts, context.start), bisect_left(self._starts, end))

    def equal(self, n: int, ranges: Sequence[Pair], context: Context, *, is_elsewhere: bool) -> list[Result]:
        """Return the results of computations with nearby numbers that lie in one of these ranges."""
        number, sentence = self._numbers[n], self._of_sentence(context)
        beside, before = list[Operand](), list[Operand]()
        for other in self._nearby(n):
            if (other in sentence or other < n) and not {n, other} <= self.unsourced:
                (beside if other in sentence else before).append(self.operands[other])
        is_sourced = n not in self.unsourced
        some = sentence[:_NUMBERS_BESIDE] if is_sourced else ()
        written = [float(self._numbers[other].amount.value) for other in some if other != n]
        if number.unit == "‰":
            number, ranges = replace(number, unit="%"), [(low / 10, high / 10) for low, high in ranges]
        of_row = partial(self._of_row, sentence.start)
        operands = Operands(beside[:_NUMBERS_BESIDE], before, self._given if is_sourced else (), written, of_row)
        tried = islice(results(number, context, operands, self._tables), self._results_left)
        equal, computed = equal_results(number, ranges, tried, is_elsewhere=is_elsewhere)
        self._results_left -= computed
        values = self._beside(context)
        return [one for one in equal if not _is_by_chance(number, one, context, values)]

    def fitting(
        self, n: int, found: Sequence[Result], ranges: Sequence[Pair], context: Context, measures: frozenset[str]
    ) -> Result | None:
        """Return the first result that the words, the sign and the unit of a number allow; `None` if there is none.

        The result becomes an operand for later numbers. `found`: the results of `equal`. `measures`: the units of
        measure that code names.
        """
        number = self._numbers[n]
        if is_other_measure(number.measure, measures):
            found = [one for one in found if one.kind in ("ratio", "times")]
        found = [one for one in found if one.kind != "times" or ranges[0][0] <= abs(one.value) <= ranges[0][1]]
        result = next((one for one in found if self._may_be(n, one, context)), None)
        # If the source shows a fall by 10 %, `It rose by 10 %` is wrong, even if another result is 10 %.
        if not result or (found[0].sign == "change" and is_other_change(found[0], result)):
            return None
        is_reverse = is_reverse_comparison(number, ranges, context, self._tables.all[:TABLES_LIMIT])
        if is_reverse or self._is_reverse(n, result, context):
            return None
        if result.kind != "ratio" or number.unit:
            # A plain ratio is no operand: multiplied by one of its own operands, it would give the other one.
            pair = result.operands if result.kind in ("minus", "net") else None
            self.operands[n] = Operand(result.value / 100 if number.unit in PERCENTS else result.value, pair=pair)
        return result

    def _may_be(self, n: int, result: Result, context: Context) -> bool:
        """Return whether the words and the sign of a number allow that the number is this result."""
        number, said = self._numbers[n], direction(context.clause)
        if self._words.is_average(context) and result.kind in ("minus", "net", "plus", "times"):
            # The difference of two means of the sentence may be called a mean, too.
            return result.kind == "minus" and self._are_beside(result.operands, context)
        if result.kind == "plus" and not self._are_beside(result.operands, context) and self._is_of_one_row(context):
            return False
        is_change = said and not number.sign and result.kind in ("minus", "net", "back")
        if is_change and said * self._tables.change(*result.operands) < 0:
            return False
        return not is_opposite(number, result, context)

    def _is_of_one_row(self, context: Context) -> bool:
        """Return whether the words name the one row that a number is of, so that it is no sum of two rows."""
        named = (self._words.owners(table, context) for table in self._tables.all[:TABLES_LIMIT])
        return not STATISTIC.search(context.text) and any(len(labels) == 1 for labels in named)

    def _are_beside(self, values: Sequence[float], context: Context) -> bool:
        """Return whether the sentence contains these values."""
        return self._beside(context).issuperset(values)

    def _beside(self, context: Context) -> set[float]:
        """Return the values of the sources of the numbers in a sentence."""
        return {self.operands[n].value for n in self._of_sentence(context) if n in self.operands}


def _is_by_chance(number: WrittenNumber, result: Result, context: Context, beside: Set[float]) -> bool:
    """Return whether a result probably equals a number by chance, because no word says what it is.

    `beside`: the values of the numbers in the sentence. The operands of a plain ratio are probably no counts.
    """
    if number.digits > _DIGITS_OF_CHANCE:
        return False
    text = f"{context.head} {context.text} {context.column}"
    if result.kind == "ratio" and not number.is_ratio and not any(map(float.is_integer, result.operands)):
        return not RATIO.search(text)
    is_difference = result.kind in ("minus", "net") and not number.sign and beside.isdisjoint(result.operands)
    return is_difference and not any(words.search(text) for words in (DIFFERENCE, INCREASE, DECREASE))
