"""Traces the numbers of an answer to their sources. Pure.

A source fits by its value, unit and written precision. It is rejected because of the words around the number only if
they surely name another row of its table, or the other direction (growth or fall).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Final

from chat.messages.numbers.arithmetic import RESULTS_OF_ANSWER, equal_results, results
from chat.messages.numbers.claims import direction, is_quiet, is_whole
from chat.messages.numbers.contexts import Context, Contexts
from chat.messages.numbers.fitting import fits
from chat.messages.numbers.measures import (
    is_other_measure,
    measure_of_name,
    named_measures,
    powers_between,
    written_measures,
)
from chat.messages.numbers.mentions import mentions
from chat.messages.numbers.operands import Operand, Operands
from chat.messages.numbers.operations import Result
from chat.messages.numbers.other_names import learn_names
from chat.messages.numbers.ranges import bounds
from chat.messages.numbers.reading import WrittenNumber, read_numbers
from chat.messages.numbers.rows import normal_label
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.sources import (
    Hit,
    Search,
    SourceText,
    Verdict,
    bounded_sources,
    comparable_source,
)
from chat.messages.numbers.tables import Place
from chat.messages.numbers.wanted import given_numbers, scales_of_tables, wanted_ranges
from chat.messages.numbers.words import IS_NAMED, Words
from chat.messages.numbers.words_around_numbers import PERCENTS, named_scales

TEXT_LIMIT_CHARS: Final = 200_000
_NUMBERS_BEFORE: Final = 12
_NUMBERS_BESIDE: Final = 5
_GIVEN_LIMIT: Final = 6
_DIGITS_OF_COPY: Final = 3
"""Minimum number of digits of a number that counts as a copy of an equal value, though its sign or row differs."""
_NAME_CHARS: Final = 40
_HITS_LIMIT: Final = 60
"""Maximum number of places with the same value that are looked at."""


@dataclass(frozen=True, slots=True)
class TracedNumber:
    """A number of an answer, with its source."""

    start: int
    end: int
    value: Decimal
    unit: str
    verdict: Verdict
    hit: Hit | None = None
    """The source. If the verdict is `nowhere`, a place with the same value, but of another row, unit or sign."""
    note: str = ""
    """The computation of a derived number, such as `12 - 5`."""


def trace_numbers(text: str, sources: Sequence[SourceText]) -> list[TracedNumber]:
    """Return each number of a Markdown text with its source. `sources`: preferred sources come first.

    Only the first `TEXT_LIMIT_CHARS` of the text and `SOURCE_LIMIT_CHARS` of the sources are searched.
    """
    text = text[:TEXT_LIMIT_CHARS]
    numbers = read_numbers(text)
    if not numbers:
        return []
    texts = [comparable_source(source) for source in bounded_sources(sources)]
    return list(_Tracer(text, numbers, texts).trace())


class _Tracer:
    """Traces the numbers of one answer."""

    def __init__(self, text: str, numbers: Sequence[WrittenNumber], sources: Sequence[SourceText]) -> None:
        self._text = text
        self._numbers = numbers
        self._starts = [number.start for number in numbers]
        places = Contexts(text)
        self._contexts = [places.at(number.start) for number in numbers]
        self._tables = SourceTables(sources)
        scales = named_scales(source.text for source in sources)
        self._measures = named_measures(source.text for source in sources if source.kind == "code")
        units = frozenset[str]()
        if any(number.measure for number in numbers):
            names = [name for table in self._tables.all for name in table.names]
            units = written_measures(source.text for source in sources) | named_measures(names) | self._measures
        of_text = scales_of_tables(text)
        self._wanted = [
            list(wanted_ranges(one, scales, powers_between(one.measure, units), self._scales_of_cell(n, of_text)))
            for n, one in enumerate(numbers)
        ]
        search = Search((one.low, one.high) for some in self._wanted for one in some)
        self._hits: dict[float, list[Hit]] = defaultdict(list)
        for hit in search.hits(sources):
            if len(self._hits[abs(hit.value)]) < _HITS_LIMIT:
                self._hits[abs(hit.value)].append(hit)
        self._values = sorted(self._hits)
        self._found = [list(self._search(n)) for n in range(len(numbers))]
        """The places that contain the value of each number, and the factor for it (see `Wanted`)."""
        learn_names(self._tables, text, numbers, self._keys)
        self._words = Words(self._tables, self._starts)
        self._given = list(given_numbers(sources))[:_GIVEN_LIMIT]
        self._mismatches = set[int]()
        """Indexes of numbers whose value is in a source, but with another unit, sign or row than the answer says."""
        self._results_left = RESULTS_OF_ANSWER
        self._operands: dict[int, Operand] = {}
        """Index of a number -> its source. Numbers without a source that may be no claims are operands, too."""
        self._unsourced = set[int]()
        """Indexes of operands without a source. They are not computed from one another, or from numbers in code, as 6
        from 42 and 7.
        """

    def _scales_of_cell(self, n: int, of_text: frozenset[int]) -> frozenset[int]:
        """Return the powers of ten that the answer says the numbers of a table have; none outside of tables."""
        context, number = self._contexts[n], self._numbers[n]
        is_plain = context.is_cell and not number.scale and number.unit not in PERCENTS
        return named_scales([context.column]) | of_text if is_plain else frozenset()

    def trace(self) -> Iterator[TracedNumber]:
        """Yield the numbers with their verdicts. Numbers that have no source and are no claims are left out."""
        contexts = self._contexts
        pairs = list(bounds(self._text, self._numbers, contexts))
        self._earlier = {pair.first for pair in pairs if pair.is_change}
        direct = [self._direct(n, contexts[n]) for n in range(len(self._numbers))]
        for pair in pairs:
            both = (pair.first, pair.first + 1)
            if pair.is_wrong and not (pair.is_change and self._are_named(both, contexts)):
                for n in both:
                    direct[n] = replace(direct[n], verdict="nowhere")
                    self._mismatches.add(n)
        for n, one in enumerate(direct):
            if one.verdict != "nowhere":
                yield one
                continue
            number, context = self._numbers[n], contexts[n]
            before = max(0, context.position - _NAME_CHARS)
            names = mentions(context.text[before : context.position + _NAME_CHARS], self._tables.labels)
            place = context.position - before
            if any(one.start <= place < one.end and not one.label.isdigit() for one in names):
                # The number is part of a name, as in `Ring 2` and `35-44`.
                continue
            found = [] if self._is_copy(n, context) else self._derived(n, context, is_elsewhere=one.hit is not None)
            fitting = [result for result in found if self._may_be(number, result, context)]
            # If the source shows a fall by 10 %, `It rose by 10 %` is wrong, even if another result is 10 %.
            is_reversed = bool(fitting) and found[0].sign == "change" and _is_another(found[0], fitting[0], number.sign)
            if fitting and not is_reversed:
                result = fitting[0]
                if result.kind != "ratio" or number.unit:
                    # A plain ratio is no operand: multiplied by one of its own operands, it would give the other one.
                    self._operands[n] = Operand(result.value / 100 if number.unit in PERCENTS else result.value)
                yield replace(one, verdict="derived", hit=None, note=result.note)
            elif ((found or one.hit) and not is_whole(number)) or not is_quiet(number, context):
                yield one

    def _are_named(self, numbers: Sequence[int], contexts: Sequence[Context]) -> bool:
        """Return whether the words around all these numbers name the rows that the numbers are from."""
        places = [(one.place, contexts[n]) for n in numbers if (one := self._operands.get(n))]
        return len(places) == len(numbers) and all(self._words.nearness(*one) >= IS_NAMED for one in places)

    def _may_be(self, number: WrittenNumber, result: Result, context: Context) -> bool:
        """Return whether the words, the sign and the unit of a number allow that the number is this result."""
        if is_other_measure(number.measure, self._measures) and result.kind not in ("ratio", "times"):
            return False
        if self._words.is_average(context) and result.kind in ("minus", "net", "plus", "times"):
            return False
        if result.kind in ("minus", "net") and not number.sign:
            return direction(context.clause) * self._tables.change(*result.operands) >= 0
        return not _is_opposite(number, result, context)

    def _is_copy(self, n: int, context: Context) -> bool:
        """Return whether a number surely copies a value of a table. It is then not explained by a computation."""
        name = normal_label(context.column)
        tables = self._tables.all
        is_cell = context.is_cell and any(
            name in one.column_labels and self._words.owners(one, context) for one in tables
        )
        return is_cell or n in self._mismatches

    def _keys(self, n: int) -> frozenset[str]:
        """Return the labels of the rows that contain the value of a number."""
        places = (place for _, place, _ in self._found[n] if place and not place.row.is_statistic)
        return frozenset(place.key for place in places if place.key)

    def _search(self, n: int) -> Iterator[tuple[Hit, Place | None, float]]:
        for wanted in self._wanted[n]:
            some = self._values[bisect_left(self._values, wanted.low) : bisect_right(self._values, wanted.high)]
            for hit in (hit for value in some for hit in self._hits[value]):
                is_digit_of_code = hit.source.kind == "code" and self._numbers[n].digits == 1
                if not is_digit_of_code and not self._tables.is_row_number(hit):
                    yield hit, self._tables.place(hit), wanted.factor

    def _direct(self, n: int, context: Context) -> TracedNumber:
        """Return a number with the best place that has its value; with the verdict `nowhere` if there is none."""
        number = self._numbers[n]
        one = TracedNumber(number.start, number.end, number.amount.value, number.unit, "nowhere")
        found = self._found[n]
        fitting = [(hit, place) for hit, place, factor in found if self._fits(number, hit, place, factor, context)]
        if not fitting:
            other = (hit for hit, place, _ in found if self._is_same(number, hit, place, context))
            if hit := next(other, None):
                self._mismatches.add(n)
            elif is_quiet(number, context):
                self._operands[n] = Operand(float(number.amount.value))
                self._unsourced.add(n)
            return replace(one, hit=hit)
        is_free = n in self._earlier or self._is_deviation(n)
        allowed = [(hit, place) for hit, place in fitting if is_free or not self._words.contradict(place, context)]
        if not allowed and number.digits >= _DIGITS_OF_COPY and not number.is_approximate:
            self._mismatches.add(n)
        if (before := self._operands.get(n - 1)) and before.place and self._is_deviation(n):
            allowed = [(hit, place) for hit, place in allowed if not place or place.row.may_be_row(before.place.row)]
        if not allowed:
            return replace(one, hit=fitting[0][0])
        hit, place = max(allowed, key=lambda found: self._words.nearness(found[1], context))
        is_percent = number.unit in PERCENTS and any(
            one.low <= abs(hit.value) <= one.high for one in self._wanted[n][:1]
        )
        self._operands[n] = Operand(hit.value / 100 if is_percent else hit.value, place)
        return replace(one, verdict=hit.source.kind, hit=hit)

    def _is_same(self, number: WrittenNumber, hit: Hit, place: Place | None, context: Context) -> bool:
        """Return whether a number surely means this value of a source, although its unit or sign differs."""
        has_lost_sign = place is not None and hit.value < 0 and number.digits >= _DIGITS_OF_COPY
        return number.sign == "-" or has_lost_sign or self._words.nearness(place, context) >= IS_NAMED

    def _fits(self, number: WrittenNumber, hit: Hit, place: Place | None, factor: float, context: Context) -> bool:
        measure = measure_of_name(place.table.names[place.column]) if place else ""
        is_other = factor and is_other_measure(number.measure, frozenset({measure}) if measure else self._measures)
        return not is_other and fits(number, hit, place, factor or 1, context)

    def _is_deviation(self, n: int) -> bool:
        """Return whether a number is the deviation of the number before it, as in `9.6 ± 0.7`."""
        return n > 0 and self._text[self._numbers[n - 1].end : self._numbers[n].start][-2:].strip() == "±"

    def _derived(self, n: int, context: Context, *, is_elsewhere: bool) -> list[Result]:
        """Return the results of computations with nearby numbers that equal a number."""
        number = self._numbers[n]
        end = context.start + len(context.text)
        beside, before = list[Operand](), list[Operand]()
        around = range(max(0, n - _NUMBERS_BEFORE), min(n + _NUMBERS_BEFORE, len(self._numbers)))
        for other in sorted(around, key=lambda other: (abs(other - n), other)):
            if other != n and other in self._operands and not {n, other} <= self._unsourced:
                is_beside = context.start <= self._starts[other] < end
                if is_beside or other < n:
                    (beside if is_beside else before).append(self._operands[other])
        given = () if n in self._unsourced else self._given
        some = self._numbers[bisect_left(self._starts, context.start) : bisect_left(self._starts, end)]
        written = [
            float(one.amount.value) for one in some[:_NUMBERS_BESIDE] if n not in self._unsourced and one is not number
        ]
        operands = Operands(beside[:_NUMBERS_BESIDE], before, given, written)
        ranges = [(one.low, one.high) for one in self._wanted[n] if one.factor == 1]
        tried = islice(results(number, context, operands, self._tables), self._results_left)
        equal, computed = equal_results(number, ranges, tried, is_elsewhere=is_elsewhere)
        self._results_left -= computed
        return equal


def _is_another(change: Result, other: Result, sign: str) -> bool:
    """Return whether `other` is no change, or whether the number has a sign and `other` has other operands."""
    return other.sign != "change" or (bool(sign) and sorted(change.operands) != sorted(other.operands))


def _is_opposite(number: WrittenNumber, result: Result, context: Context) -> bool:
    """Return whether the sign of a number, or the words around it, surely contradict the sign of a result."""
    if result.sign == "difference":
        return False
    said = direction(context.clause)
    if number.sign and (number.sign == "-") != (result.value < 0):
        return not result.sign or said * result.value <= 0
    return result.sign == "change" and not number.sign and said * result.value < 0
