"""Traces the numbers of an answer to their sources. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Final

from chat.messages.numbers.blocks import Place, SourceBlocks, normal_label, place_of
from chat.messages.numbers.context import Context, Contexts, mentions, named_columns, named_label
from chat.messages.numbers.derived import derive
from chat.messages.numbers.reading import Amount, WrittenNumber, read_numbers
from chat.messages.numbers.sources import HITS_LIMIT, Hit, Interval, Search, SourceText
from chat.messages.numbers.traced import TracedNumber
from chat.messages.numbers.units import CURRENCIES, DECREASE, PERCENT_HINT, STATISTIC

_PERCENTS: Final = ("%", "pp")
_QUANTILE: Final = re.compile(r"^\d+%")
_STATISTICS: Final = frozenset({"count", "mean", "std", "min", "max", "median", "sum", "total"})
_LABELLED_CHARS: Final = 20_000
_SURE_DIGITS: Final = 3
"""A number with so many digits, or with a unit, is hardly in another row by chance."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    low: Decimal
    high: Decimal
    factor: Decimal
    """What the source is multiplied by: 100 if it is a fraction and the number a percentage."""


def trace_numbers(text: str, sources: Sequence[SourceText]) -> list[TracedNumber]:
    """Return each number of a Markdown text with its source. `sources`: those that are preferred come first."""
    numbers = read_numbers(text)
    wanted = [list(_wanted(number)) for number in numbers]
    search = Search([Interval(one.low, one.high) for some in wanted for one in some])
    by_value: dict[Decimal, list[Hit]] = defaultdict(list)
    for hit in search.hits(sources):
        hits = by_value[abs(hit.value)]
        if len(hits) < HITS_LIMIT:
            hits.append(hit)
    values = sorted(by_value)
    blocks = SourceBlocks()
    tracer = _Tracer(text, numbers, blocks, sources)
    traced = []
    for number, some in zip(numbers, wanted, strict=True):
        candidates = [
            (hit, one.factor) for one in some for value in _between(values, one) for hit in by_value[value][:HITS_LIMIT]
        ]
        traced.append(tracer.trace(number, candidates))
    return derive(text, numbers, traced, sources, blocks)


def _between(values: Sequence[Decimal], one: _Wanted) -> Iterator[Decimal]:
    return iter(values[bisect_left(values, one.low) : bisect_right(values, one.high)])


def _wanted(number: WrittenNumber) -> Iterator[_Wanted]:
    """Yield the absolute values that the number may be a rounding of."""
    for amount in number.amounts:
        low, high = _bounds(number, amount)
        yield _Wanted(low, high, Decimal(1))
        if number.unit in _PERCENTS:
            yield _Wanted(low / 100, high / 100, Decimal(100))
        elif not number.unit and 0 < abs(amount.value) < 1:
            yield _Wanted(low * 100, high * 100, Decimal("0.01"))


def _bounds(number: WrittenNumber, amount: Amount) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest value whose rounding to the written precision is this amount."""
    value, half = abs(amount.value), amount.step / 2
    if number.is_approximate:
        digits = str(int(value / amount.step))
        zeros = min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 1, 0))
        half = amount.step.scaleb(zeros) if zeros else half
    return max(value - half, Decimal(0)), value + half


class _Support(Enum):
    """What the context of a number says of a place with its value."""

    ROW = 1
    COLUMN = 2
    NONE = 3
    OTHER_COLUMN = 4
    OTHER_ROW = 5


class _Tracer:
    """Chooses among the places with a number's value those that its sentence does not contradict."""

    def __init__(
        self,
        text: str,
        numbers: Sequence[WrittenNumber],
        blocks: SourceBlocks,
        sources: Sequence[SourceText],
    ) -> None:
        self._sources = sources
        self._text = text
        self._contexts = Contexts(text)
        self._blocks = blocks
        self._starts = [number.start for number in numbers]

    def trace(self, number: WrittenNumber, candidates: Sequence[tuple[Hit, Decimal]]) -> TracedNumber:
        """Return the number with the best of the candidates: places, and what their values are multiplied by."""
        context = self._contexts.at(number.start)
        first, last = self._contexts.sentence(number.start)
        around = self._starts[bisect_left(self._starts, first) : bisect_left(self._starts, last)]
        starts = [one - first for one in around]
        places: dict[_Support, tuple[Hit, Place]] = {}
        for hit, factor in candidates:
            place = place_of(hit, self._blocks)
            if _fits(number, hit, place, factor, context):
                support = _support(context, place, starts, number)
                places.setdefault(support, (hit, place))
                if support is _Support.ROW:
                    break
        is_sure = number.digits >= _SURE_DIGITS or bool(number.unit)
        in_other_row, in_other_column = places.get(_Support.OTHER_ROW), places.get(_Support.OTHER_COLUMN)
        best = places.get(_Support.ROW)
        if not (in_other_row and is_sure):
            best = best or places.get(_Support.COLUMN)
            if not (in_other_column and is_sure):
                best = best or places.get(_Support.NONE)
        if best and not self._is_other_statistic(best[1], context):
            return _found(number, *best)
        elsewhere = in_other_row or in_other_column
        untraced = TracedNumber(number.start, number.end, number.amount.value, number.unit, "nowhere")
        return replace(untraced, hit=elsewhere[0], place=elsewhere[1]) if elsewhere else untraced

    def _is_other_statistic(self, place: Place, context: Context) -> bool:
        """Return whether a place is a statistic of a column, while the context names a row of a table."""
        label = normal_label(place.label)
        is_statistic = label in _STATISTICS or (not label and bool(_QUANTILE.match(place.text)))
        if not is_statistic or STATISTIC.search(context.text) or (label and label in context.text):
            return False
        return bool(mentions(context.text, self._row_labels))

    @cached_property
    def _row_labels(self) -> frozenset[str]:
        """The labels of the rows of all tables in the outputs that are short."""
        labels: set[str] = set()
        for source in self._sources:
            if source.kind == "output" and len(source.text) <= _LABELLED_CHARS:
                for block in self._blocks.all_of(source):
                    if isinstance(block.labels, frozenset):
                        labels |= block.labels - block.column_labels - _STATISTICS
        return frozenset(labels)


def _found(number: WrittenNumber, hit: Hit, place: Place) -> TracedNumber:
    return TracedNumber(number.start, number.end, number.amount.value, number.unit, hit.source.kind, hit, place)


def _support(context: Context, place: Place, starts: Sequence[int], number: WrittenNumber) -> _Support:
    """Return whether the context names the row or the column of a place, or another one."""
    label = normal_label(place.label)
    labels = place.block.labels_like(place.text)
    # `34.9 % of the total` is not the number of the total.
    rows = mentions(context.text, labels)
    rows = [one for one in rows if one.label not in _STATISTICS or one.end <= context.position]
    named = named_label(context, rows, starts if not context.is_cell else ())
    if named and label in labels and label not in named:
        return _Support.OTHER_ROW
    text = context.column if context.is_cell else context.text
    found = mentions(text, place.block.column_labels)
    columns = frozenset(one.label for one in found) if context.is_cell else named_columns(context, found, starts)
    column = normal_label(place.column)
    # `34.9 % of the revenue` is in a column of shares.
    is_share = number.unit in _PERCENTS and not any(map(PERCENT_HINT.search, columns))
    if column and columns and column not in columns and not is_share:
        return _Support.OTHER_COLUMN
    if label in named:
        return _Support.ROW
    return _Support.COLUMN if column in columns else _Support.NONE


def _fits(number: WrittenNumber, hit: Hit, place: Place, factor: Decimal, context: Context) -> bool:
    """Return whether sign and unit of a number are those of a place with its value."""
    value, source_value = number.amount.value, hit.value
    if value < 0 < source_value:
        return False
    if source_value < 0 < value and not DECREASE.search(context.text):
        return False
    source_unit = place.unit
    if number.unit in _PERCENTS:
        if factor != 1:
            # The share of a column in kilograms is a fraction too.
            return "." in str(source_value)
        if source_unit:
            return source_unit == "%"
        return hit.source.kind != "output" or _has_percent_hint(hit, place)
    if factor != 1:
        return source_unit == "%"
    if number.unit and source_unit and number.unit != source_unit:
        return False
    return not (number.unit in CURRENCIES and source_unit == "%")


def _has_percent_hint(hit: Hit, place: Place) -> bool:
    names = f"{place.label} {place.column} {_QUANTILE.sub('', place.text)}"
    return hit.source.has_percents or bool(PERCENT_HINT.search(names))
