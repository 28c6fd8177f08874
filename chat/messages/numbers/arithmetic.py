"""Computes what an answer may have computed: differences, ratios, percent changes, shares, sums and means. Pure.

A number with few digits equals some result by chance, if enough results are tried. Therefore results are tried in the
order of how near their operands are to the number, and each further digit of the number allows ten times as many
results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice, permutations, product
from typing import Final

from chat.messages.numbers.contexts import Context
from chat.messages.numbers.measures import time_factors
from chat.messages.numbers.mentions import mentions
from chat.messages.numbers.models import of_models, of_single, of_times
from chat.messages.numbers.operands import (
    Operand,
    Operands,
    alike,
    cell_pairs,
    pairs_in_column,
    pairs_in_row,
    pairs_of_rows,
    steps,
)
from chat.messages.numbers.operations import RESULTS_LIMIT, Kind, Pair, Result, of_pairs, operations
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import Row
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.statistic_words import statistic_mentions
from chat.messages.numbers.tables import Place, Table
from chat.messages.numbers.whole_tables import (
    ROWS_LIMIT,
    column_results,
    row_counts,
    shares,
    single_numbers,
    sum_of_row,
    sums_of_ends,
    sums_of_labels,
    sums_of_signs,
    total_pairs,
    weighted_means,
)
from chat.messages.numbers.words_around_numbers import PERCENTS, STATISTIC

RESULTS_OF_ANSWER: Final = 40_000
"""Maximum number of results that are computed for one answer, which bounds the time."""
_RESULTS_LEAST: Final = 3
_RESULTS_OF_DIGIT: Final = 4.5
_COMPUTED_OF_ALLOWED: Final = 10
"""Maximum number of results that are computed for each one that is compared with the number. Most are not compared,
because they are much greater or less than it.
"""
_EACH: Final = re.compile(r"\b(?:each|every|per|je|pro|jede\w?|chaque|par|cada|por)\b|每|प्रति|हर ")
"""A word that says that something is distributed over years or rows."""
_DIGITS_OF_RATIO: Final = 3
"""Minimum number of digits of a number that is compared with ratios of values that the sentence does not name."""
_POWERS_OF_TEN: Final = (10, 100, 1000)
"""Numbers by which rates are often multiplied, as in `0.3 per person, or 30 of 100 persons`."""
_NEAREST: Final = 3
"""Number of operands of earlier sentences that are combined with other values than each other."""
_OPERANDS_OF_ROWS: Final = 8
"""Maximum number of operands that are in the rows, or are the statistics, that a sentence names."""
_ROWS_COMPARED: Final = 6
"""Maximum number of named rows that are compared with each other. More are those of a group."""
TABLES_LIMIT: Final = 12
"""Maximum number of tables that are searched for operands."""
_DISTANT: Final[tuple[Kind, ...]] = ("share", "change", "back", "points", "minus")
"""The only operations that are tried with numbers of earlier sentences, because those are less likely operands."""


def results(number: WrittenNumber, context: Context, operands: Operands, tables: SourceTables) -> Iterator[Result]:
    """Yield the results that a number may have been computed as, those with the nearest operands first."""
    tried = _Tried(number, context, operands, tables)
    return chain(*tried.of_sentence(), *tried.of_named_rows(), *tried.of_sentences_before(), *tried.of_tables())


class _Tried:
    """Yields the results that are tried for one number. Each method returns iterators, the most likely first."""

    def __init__(self, number: WrittenNumber, context: Context, operands: Operands, tables: SourceTables) -> None:
        self._number, self._context = number, context
        self._tables = sorted(tables.all[:TABLES_LIMIT], key=lambda table: -len(_named(table, context)))
        self._sources, self._earlier = (_of_unit(number, found) for found in (operands.beside, operands.before))
        self._beside = [one.value for one in self._sources]
        self._before = [one.value for one in self._earlier[:_NEAREST]]
        texts = (context.text, context.head, context.before)
        named = [(table, rows) for table in self._tables if (rows := _named_rows(table, *texts))]
        # Few rows are probably those that the sentence is about; many are those of a group.
        self._named = sorted(named, key=lambda one: len(one[1]))
        self._rows = list(chain.from_iterable(rows for _, rows in self._named))
        self._anywhere, self._along, self._across = operations(number, context)
        self._columns = (
            one for table in self._tables if not number.is_ratio for one in column_results(number, table, context)
        )
        is_mean = any(one.label in ("mean", "weighted") for one in statistic_mentions(context.text))
        self._is_mean = is_mean or _EACH.search(context.text) is not None
        self._given, self._written = operands.given, operands.written
        labels = [row.label or table.key_of(row) for table, rows in self._named for row in rows]
        labels += [one.label for one in statistic_mentions(context.text)]
        found = (one for label in dict.fromkeys(labels) for one in operands.of_row(label))
        cells = (
            Operand(table.value(n, cell), Place(table, rows[0], n))
            for table, rows in self._named
            if len(rows) == 1
            for n, cell in enumerate(rows[0].cells)
            if cell
        )
        self._of_rows = _of_unit(number, list(islice(chain(found, cells), _OPERANDS_OF_ROWS)))
        self._powers = [one for one in operands.written if one in _POWERS_OF_TEN]

    def _pairs(self, kinds: Sequence[Kind], pairs: Iterable[Pair]) -> Iterator[Result]:
        return of_pairs(self._number, kinds, pairs)

    def _operands(self, kinds: Sequence[Kind], pairs: Iterable[tuple[Operand, Operand]]) -> Iterator[Result]:
        """Yield results of pairs of operands: only ratios, shares and products if `may_be_added` is false."""
        listed = [((one.value, other.value), one.may_be_added(other)) for one, other in islice(pairs, RESULTS_LIMIT)]
        for kind in kinds:
            is_for_all = kind in ("ratio", "share", "times")
            yield from self._pairs((kind,), (pair for pair, may_be_added in listed if is_for_all or may_be_added))

    def of_sentence(self) -> list[Iterable[Result]]:
        """Return the results that can be computed from the numbers of the sentence, from counts, single numbers and
        models in tables, and from columns if the sentence names a statistic.
        """
        is_statistic = STATISTIC.search(self._context.text) is not None
        totals = (pair for table in self._tables for pair in total_pairs(self._number, table))
        rate: list[Kind] = [] if self._number.unit in PERCENTS else ["ratio"]
        numbers = list(dict.fromkeys([*self._written, *self._beside]))
        return [
            self._pairs(_only(self._anywhere, "change", "back"), (one.pair for one in self._sources if one.pair)),
            row_counts(self._number, self._tables),
            self._operands(self._anywhere[:1], combinations(self._sources, 2)),
            self._columns if is_statistic else (),
            self._operands([*self._anywhere[1:], *rate], combinations(self._sources, 2)),
            self._pairs(_of_columns(self._anywhere[:3]), alike(combinations(self._of_rows, 2))),
            self._pairs(self._across, (pair for one in self._sources for pair in pairs_in_column(one, self._rows))),
            self._pairs(self._anywhere[:2], alike(product(self._of_rows, [*self._sources, *self._earlier]))),
            self._operands(_only(self._anywhere[:2], "share"), product(self._earlier, self._sources)),
            self._pairs(self._along or self._anywhere[:1], totals) if is_statistic else (),
            self._pairs(self._along, (pair for one in self._sources for pair in pairs_in_row(one))),
            self._pairs(
                _only(self._anywhere[:2], "share"),
                product(single_numbers(self._tables), [*self._beside, *self._before]),
            ),
            self._pairs(_only(self._anywhere[:2], "share", "change", "minus"), combinations(self._written, 2)),
            of_models(self._tables, numbers),
            of_times(self._beside, time_factors(self._context.text)),
            self._pairs(("times",), product(self._powers, [*self._beside, *self._before])),
            _of_listed(self._number, self._beside),
        ]

    def of_named_rows(self) -> list[Iterable[Result]]:
        """Return the results that can be computed from the rows that the sentence names."""
        cells = [cell.value for row in self._rows for cell in row.cells if cell]
        rows = self._named
        few = [one for one in rows if len(one[1]) <= _ROWS_COMPARED]
        return [
            (one for table, some in rows if len(some) == 1 for one in sum_of_row(self._number, table, some[0])),
            self._pairs(self._across[:2], pairs_of_rows(self._number, few)),
            self._pairs(self._along[:2], (pair for row in self._rows for pair in cell_pairs(row))),
            self._pairs(self._across[2:], pairs_of_rows(self._number, few)),
            self._pairs(self._anywhere[:2], product(cells, self._beside)),
            (one for table, some in rows for one in shares(self._number, table, some)),
        ]

    def of_sentences_before(self) -> list[Iterable[Result]]:
        """Return the results that can be computed from other sentences, tables, the question and code."""
        number, earlier, tables = self._number, self._earlier, self._tables
        distant = self._anywhere if number.is_ratio else _only(self._anywhere, *_DISTANT)
        totals = product((one for table in tables for one in table.totals), [*self._beside, sum(self._beside, 0.0)])
        parts = (
            (one.value, one.value + other.value)
            for one, other in permutations(earlier[:_NEAREST], 2)
            if one.may_be_added(other)
        )
        near = [*self._beside, *self._before]
        # Percentages are kept as fractions, but a goal of 70 % is given as 70.
        goals = [one / 100 if one > 1 else one for one in self._given if one != 1]
        fractions = (one.value for one in [*self._sources, *earlier][:2])
        return [
            self._operands(_only(self._anywhere[:2], *_DISTANT, "ratio"), product(earlier, self._sources)),
            self._pairs(self._along[:1], totals),
            () if self._named else self._columns,
            (one for table in tables for one in sums_of_labels(number, table)),
            (one for table in tables for one in sums_of_signs(number, table)),
            (one for table in tables for one in weighted_means(number, table)) if self._is_mean else (),
            self._operands(self._anywhere, combinations(earlier[:5], 2)),
            self._pairs(_only(self._anywhere, "share") if number.digits >= _DIGITS_OF_RATIO else (), parts),
            self._operands(distant, combinations(earlier, 2)),
            self._pairs(
                _only(self._anywhere, "share", "change", "back"),
                (pair for one in earlier for pair in pairs_in_row(one)),
            ),
            (one for value in fractions for one in of_single(value)),
            self._pairs(_only(self._across, "minus"), product(self._given, near)),
            self._pairs(_only(self._across, "points"), product(goals, near)),
        ]

    def of_tables(self) -> list[Iterable[Result]]:
        """Return the results that can be computed from columns, and from rows that the sentence does not name."""
        number, tables = self._number, self._tables
        groups = [table for table, rows in self._named if len(rows) > _ROWS_COMPARED]
        every = [(table, table.rows[:ROWS_LIMIT]) for table in tables if table not in groups]
        left_out = [table for table, _ in self._named] if number.unit in PERCENTS else []
        totals = (pair for table in tables for pair in total_pairs(number, table))
        ratios: tuple[Kind, ...] = ("ratio",) if number.digits >= _DIGITS_OF_RATIO else ()
        return [
            self._pairs(_only(self._anywhere, "minus", "plus", "points", "change"), totals),
            self._pairs(_only(self._across[:2], "change"), (pair for table in tables for pair in steps(table))),
            (one for one in self._columns if not one.text.startswith("mean")),
            (one for table, rows in every if table not in left_out for one in shares(number, table, rows)),
            self._pairs(
                _only(self._along, "net", *ratios),
                (pair for _, rows in every for row in rows for pair in cell_pairs(row)),
            ),
            (one for table in tables for one in sums_of_ends(number, table)),
            self._pairs(_only(self._across, "minus", "points"), pairs_of_rows(number, every)),
        ]


def _only(kinds: Sequence[Kind], *allowed: Kind) -> list[Kind]:
    return [kind for kind in kinds if kind in allowed]


def _of_columns(kinds: Sequence[Kind]) -> list[Kind]:
    """Return the operations for numbers that may be in different columns."""
    return ["net" if kind == "minus" else kind for kind in kinds]


def _of_unit(number: WrittenNumber, operands: Sequence[Operand]) -> list[Operand]:
    """Return the operands that may have the unit of a number."""
    return [one for one in operands if number.may_have_unit(one.unit)]


def equal_results(
    number: WrittenNumber, ranges: Sequence[Pair], found: Iterable[Result], *, is_elsewhere: bool
) -> tuple[list[Result], int]:
    """Return the results that lie in one of the ranges, and how many results were computed.

    `is_elsewhere`: a source has the value, but in another row, unit or sign than the sentence says. Then the number is
    less likely a result, so fewer results are tried.
    """
    digits = number.digits - (is_elsewhere and number.sign != "+" and not number.is_ratio)
    # A percentage of one digit equals some cell after rounding in most sources, which does not make it a copy.
    if number.unit in PERCENTS:
        digits = max(digits, 1)
    left = min(RESULTS_LIMIT, max(_RESULTS_LEAST, int(_RESULTS_OF_DIGIT * 10 ** (digits - 1)))) if digits else 0
    least, greatest = min(low for low, _ in ranges) / 5, max(high for _, high in ranges) * 5
    tried: set[float] = set()
    equal: list[Result] = []
    computed = list(islice(found, left * _COMPUTED_OF_ALLOWED))
    for one in computed:
        if one.value not in tried and least <= abs(one.value) <= greatest and len(tried) < left:
            tried.add(one.value)
            if any(low <= abs(one.value) <= high for low, high in ranges):
                equal.append(one)
    return equal, len(computed)


def _named(table: Table, context: Context) -> list[str]:
    """Return the labels of rows and columns of a table that a sentence contains."""
    return [one.label for labels in (table.labels, table.column_labels) for one in mentions(context.text, labels)]


def _named_rows(table: Table, *texts: str) -> list[Row]:
    """Return the rows that a text names; if it names none, those of the next text that names rows."""
    found = next(filter(None, (table.mentions(text) for text in texts)), [])
    labels = list(dict.fromkeys(one.label for one in found))
    groups = [row for row in table.rows if row.group in labels]
    return groups or [table.keys[label] for label in labels]


def _of_listed(number: WrittenNumber, values: Sequence[float]) -> Iterator[Result]:
    """Yield the complement of each value in percent, and the sum and the mean of all values."""
    if number.unit in PERCENTS:
        for value in values:
            if 0 < value < 1:
                yield Result(100 * (1 - value), text=f"100 % - {value:.12g}")
            elif 1 < value < 10:
                # A factor of 1.49 is an improvement of 49 %.
                yield Result((value - 1) * 100, "change", (1, value))
    if len(values) > 1:
        factor = 100 if number.unit in PERCENTS and sum(map(abs, values)) <= 1 else 1
        total = sum(values) * factor
        yield Result(total / len(values), text=f"mean of {len(values)} numbers")
        yield Result(total, text=f"sum of {len(values)} numbers")
        if factor > 1:
            yield Result(100 - total, text=f"100 % - {len(values)} numbers")
