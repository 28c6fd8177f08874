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
from typing import Final

from chat.messages.numbers.claims import direction, is_hundred_percent, is_quiet
from chat.messages.numbers.computations import Computations
from chat.messages.numbers.contexts import Context, Contexts
from chat.messages.numbers.fitting import EXACT_DIGITS, fits, has_other_measure, with_measure_of_header
from chat.messages.numbers.measures import known_units, other_sizes, written_measures
from chat.messages.numbers.mentions import mentions
from chat.messages.numbers.odd_units import odd_units
from chat.messages.numbers.operands import Operand
from chat.messages.numbers.reading import WrittenNumber, read_numbers
from chat.messages.numbers.rows import normal_label
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.sources import Hit, Search, SourceText, Verdict, bounded_sources, comparable_source
from chat.messages.numbers.stated_changes import changes
from chat.messages.numbers.tables import Place
from chat.messages.numbers.wanted import Wanted, given_numbers, scales_of_tables, wanted_ranges
from chat.messages.numbers.words import IS_NAMED, Words
from chat.messages.numbers.words_around_numbers import PERCENTS, named_scales

TEXT_LIMIT_CHARS: Final = 200_000
_GIVEN_LIMIT: Final = 6
"""Maximum number of numbers in the question and in code that computations use."""
_DIGITS_OF_COPY: Final = 3
"""Minimum number of digits of a number that counts as a copy of an equal value, though its sign or row differs."""
_NAME_CHARS: Final = 40
"""Number of characters before and after a number that are searched for a name that contains the number."""
_HITS_LIMIT: Final = 60
"""Maximum number of places with the same absolute value that are compared with a number."""


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
        self._starts = [number.start for number in numbers]
        contexts = Contexts(text)
        self._contexts = [contexts.at(number.start) for number in numbers]
        self._numbers = [with_measure_of_header(*both) for both in zip(numbers, self._contexts, strict=True)]
        self._tables = SourceTables(sources)
        scales = named_scales(source.text for source in sources)
        self._measures = known_units(source.text for source in sources if source.kind == "code")
        units = frozenset[str]()
        if any(number.measure for number in self._numbers):
            names = [name for table in self._tables.all for name in table.names]
            units = (
                written_measures(source.text for source in sources) | known_units(names).units | self._measures.units
            )
        of_text = scales_of_tables(text)
        self._wanted = [
            list(wanted_ranges(one, scales, other_sizes(one.measure, units), self._scales_of_cell(n, of_text)))
            for n, one in enumerate(self._numbers)
        ]
        search = Search((one.low, one.high) for some in self._wanted for one in some)
        self._hits: dict[float, list[Hit]] = defaultdict(list)
        for hit in search.hits(sources):
            if len(self._hits[abs(hit.value)]) < _HITS_LIMIT:
                self._hits[abs(hit.value)].append(hit)
        self._values = sorted(self._hits)
        self._found = [list(self._search(n)) for n in range(len(numbers))]
        """The places that contain the value of each number, and what was searched there."""
        of_rows = [[place for _, place, _ in some if place and not place.row.is_statistic] for some in self._found]
        self._words = Words(self._tables, text, numbers, self._contexts, of_rows)
        given = list(given_numbers(sources))[:_GIVEN_LIMIT]
        self._computations = Computations(text, self._numbers, self._contexts, self._tables, self._words, given)
        self._change_starts = set(changes(text, self._numbers, self._contexts))
        """Indexes of the first numbers of changes. They may be from another row than the sentence names."""
        self._mismatches = set[int]()
        """Indexes of numbers whose value is in a source, but with another unit, sign or row than the answer says."""

    def _scales_of_cell(self, n: int, of_text: frozenset[int]) -> frozenset[int]:
        """Return the powers of ten that the answer says the numbers of a table have; none outside of tables."""
        context, number = self._contexts[n], self._numbers[n]
        is_plain = context.is_cell and not number.scale and number.unit not in PERCENTS
        return named_scales([context.column, context.text]) | of_text if is_plain else frozenset()

    def trace(self) -> Iterator[TracedNumber]:
        """Yield the numbers with their verdicts. Numbers that have no source and are no claims are left out."""
        contexts = self._contexts
        direct = [self._direct(n, contexts[n]) for n in range(len(self._numbers))]
        for n in odd_units(self._numbers, [self._computations.operands.get(n) for n in range(len(direct))]):
            direct[n] = replace(direct[n], verdict="nowhere")
            self._mismatches.add(n)
        for n, one in enumerate(direct):
            if one.verdict != "nowhere":
                yield one
            elif not self._is_in_name(contexts[n]):
                yield from self._computed(n, one, contexts[n])

    def _computed(self, n: int, one: TracedNumber, context: Context) -> Iterator[TracedNumber]:
        """Yield a number without a source, if it is a claim, or with the computation that it may be the result of."""
        number = self._numbers[n]
        ranges = [(wanted.low, wanted.high) for wanted in self._wanted[n] if wanted.is_plain]
        is_free = not self._is_copy(n, context)
        found = self._computations.equal(n, ranges, context, is_elsewhere=one.hit is not None) if is_free else []
        if one.hit and (place := self._tables.place(one.hit)):
            # The result of other numbers of a row that the words exclude is no source either.
            values = {cell.value for cell in place.row.cells if cell}
            found = [result for result in found if not values.issuperset(result.operands)]
        if result := self._computations.fitting(n, found, ranges, context, self._measures.units):
            literal = self._literal(number)
            verdict: Verdict = "code" if literal else "derived"
            yield replace(one, verdict=verdict, hit=literal, note="" if literal else result.note)
        elif ((found or one.hit) and not is_hundred_percent(number)) or not is_quiet(number, context):
            yield one

    def _is_in_name(self, context: Context) -> bool:
        """Return whether a number is part of the name of a row, as in `Ring 2` and `35-44`."""
        before = max(0, context.position - _NAME_CHARS)
        names = mentions(context.text[before : context.position + _NAME_CHARS], self._tables.labels)
        place = context.position - before
        return any(one.start <= place < one.end and not one.label.isdigit() for one in names)

    def _literal(self, number: WrittenNumber) -> Hit | None:
        """Return a digit in a list of code, such as `[2, 3]`. It is a better source of a digit than a computation."""
        hits = self._hits.get(float(abs(number.amount.value)), []) if number.digits == 1 else []
        return next((hit for hit in hits if hit.source.kind == "code" and hit.is_in_list), None)

    def _is_copy(self, n: int, context: Context) -> bool:
        """Return whether a number surely copies a value of a table. It is then not explained by a computation."""
        is_cell = context.is_cell and self._words.names_row(normal_label(context.column), context)
        return is_cell or self._words.names_cell(context) or (n in self._mismatches and not direction(context.clause))

    def _search(self, n: int) -> Iterator[tuple[Hit, Place | None, Wanted]]:
        """Yield the places in sources that contain the value of a number, and what was searched there.

        Digits in code and the numbers of rows are left out, because they equal a number of the answer by chance.
        """
        for wanted in self._wanted[n]:
            some = self._values[bisect_left(self._values, wanted.low) : bisect_right(self._values, wanted.high)]
            for hit in (hit for value in some for hit in self._hits[value]):
                is_digit_of_code = hit.source.kind == "code" and self._numbers[n].digits == 1
                is_row_number = self._tables.is_row_number(hit) and not self._is_quantile(n)
                if not is_digit_of_code and not is_row_number:
                    yield hit, self._tables.place(hit), wanted

    def _is_quantile(self, n: int) -> bool:
        """Return whether a percentage begins a line, as in `| 25 % | 3.2 |`, so that it may name a quantile."""
        line_start = self._text.rfind("\n", 0, self._starts[n]) + 1
        lead = self._text[line_start : self._starts[n]]
        return self._numbers[n].unit in PERCENTS and not any(map(str.isalnum, lead))

    def _direct(self, n: int, context: Context) -> TracedNumber:
        """Return a number with the best place that has its value; with the verdict `nowhere` if there is none."""
        number = self._numbers[n]
        one = TracedNumber(number.start, number.end, number.amount.value, number.unit, "nowhere")
        found = self._found[n]
        fitting = [
            (hit, place) for hit, place, wanted in found if fits(number, hit, place, wanted, context, self._measures)
        ]
        if not fitting:
            other = (one[0] for one in found if self._is_same(number, *one, context))
            if hit := next(other, None):
                self._mismatches.add(n)
            elif is_quiet(number, context) and not number.is_ratio:
                self._computations.operands[n] = Operand(float(number.amount.value))
                self._computations.unsourced.add(n)
            return replace(one, hit=hit)
        is_free = n in self._change_starts or self._is_deviation(n)
        allowed = [(hit, place) for hit, place in fitting if is_free or not self._words.contradict(place, context)]
        has_other_sign = not number.sign and direction(context.clause) >= 0 and all(one.value < 0 for one, _ in fitting)
        if not allowed and number.digits >= _DIGITS_OF_COPY and not (number.is_approximate or has_other_sign):
            self._mismatches.add(n)
        if (before := self._computations.operands.get(n - 1)) and before.place and self._is_deviation(n):
            allowed = [(hit, place) for hit, place in allowed if not place or place.row.may_be_row(before.place.row)]
        if not allowed:
            return replace(one, hit=fitting[0][0])
        hit, place = max(allowed, key=lambda found: self._words.nearness(found[1], context))
        # The first range is that of the number as it is written: the source has a percentage, too, and no fraction.
        is_percent = number.unit in PERCENTS and self._wanted[n][0].low <= abs(hit.value) <= self._wanted[n][0].high
        self._computations.operands[n] = Operand(hit.value / 100 if is_percent else hit.value, place)
        self._words.places[number.start] = place
        return replace(one, verdict=hit.source.kind, hit=hit)

    def _is_same(self, number: WrittenNumber, hit: Hit, place: Place | None, wanted: Wanted, context: Context) -> bool:
        """Return whether a number surely means this value of a source, although its unit or sign differs."""
        # A cell of a table and a number with a sign claim no change, so fewer digits show that they are a copy.
        least = _DIGITS_OF_COPY - (context.is_cell or number.sign == "+")
        if place is not None and number.digits >= least and hit.value < 0:
            return True
        is_long = place is not None and number.digits >= _DIGITS_OF_COPY
        is_other = is_long and has_other_measure(number, hit, place, wanted, context, self._measures)
        if is_other or number.digits > EXACT_DIGITS:
            return True
        return number.sign == "-" or self._words.nearness(place, context) >= IS_NAMED

    def _is_deviation(self, n: int) -> bool:
        """Return whether a number is the deviation of the number before it, as in `9.6 ± 0.7`."""
        return n > 0 and self._text[self._numbers[n - 1].end : self._numbers[n].start][-2:].strip() == "±"
