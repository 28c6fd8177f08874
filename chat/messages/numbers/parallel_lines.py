"""Learns which column, or which row, of a source the numbers in one column of an answer's table are from. Pure.

The lines of a list have the same form as the rows of a table. Numbers at the same position of such lines are alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from typing import Final

from chat.messages.numbers.contexts import Context
from chat.messages.numbers.mentions import comparable
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.stated_changes import CHANGED
from chat.messages.numbers.tables import Place
from chat.messages.numbers.words_around_numbers import FROM

_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]|\*\*")
_FROM_CHARS: Final = 12
_END: Final = re.compile(r"[\d\n]")
_PLACES_LIMIT: Final = 20
"""Maximum number of places of a number that are compared with the places of the next number."""
_LEAST: Final = 2
"""Minimum number of votes for a label, and of the columns of a main row."""
_DIGITS_LEAST: Final = 2
_AFTER_CHARS: Final = 6
"""Number of characters after a number that are compared, such as a unit."""


class ParallelLines:
    """The positions of numbers in parallel lines, with the column or row that most numbers at a position are from."""

    def __init__(
        self,
        text: str,
        numbers: Sequence[WrittenNumber],
        contexts: Sequence[Context],
        places: Sequence[Sequence[Place]],
    ) -> None:
        """`places`: the places that contain the value of each number."""
        self._slots: dict[int, Hashable] = {}
        columns: dict[Hashable, Counter[str]] = {}
        rows: dict[Hashable, Counter[str]] = {}
        for n, slot in enumerate(_slots(text, numbers, contexts)):
            if slot is None:
                continue
            self._slots[numbers[n].start] = slot
            found = places[n] if numbers[n].digits >= _DIGITS_LEAST else ()
            _vote(columns.setdefault(slot, Counter()), {one.column_label for one in found})
            _vote(rows.setdefault(slot, Counter()), {one.key for one in found})
        self._columns = {slot: label for slot, votes in columns.items() if (label := winner(votes))}
        self._rows = {slot: label for slot, votes in rows.items() if (label := winner(votes))}
        self._main_rows = dict(_main_rows(numbers, contexts, places))
        self._reversed = set(_reversed(text, numbers, places))

    def column(self, context: Context) -> str:
        """Return the column that the parallel numbers of other lines are from; empty if it is unknown."""
        return self._columns.get(self._slots.get(context.number_start), "")

    def contradict(self, place: Place, context: Context) -> bool:
        """Return whether a place is in another column or row than the parallel numbers of other lines, or whether the
        number is one of two whose order is wrong.
        """
        if context.number_start in self._reversed:
            return True
        main = self._main_rows.get(context.start)
        if main and main.is_other(place) and place.key not in context.text:
            return True
        if column := self.column(context):
            own = place.column_label
            is_said = bool(own) and own in context.text[: context.position]
            return column in place.table.column_labels and own != column and not is_said
        row = self._rows.get(self._slots.get(context.number_start))
        return row in place.table.keys and place.key != row and place.key not in context.text


@dataclass(frozen=True, slots=True)
class _MainRow:
    """The row that most numbers of a sentence are from, and the columns of these numbers."""

    labels: tuple[str, str]
    """The label of the row, and of its group."""
    columns: frozenset[str]

    def is_other(self, place: Place) -> bool:
        """Return whether a place is in another row, though no number of its column in this row is compared with it."""
        key, group = self.labels
        is_same = place.key == key and (place.row.group == group or "" in (place.row.group, group))
        is_other_row = {*self.labels} - {""} <= place.table.keys.keys() and not is_same
        return is_other_row and place.column_label not in self.columns


def _main_rows(
    numbers: Sequence[WrittenNumber], contexts: Sequence[Context], places: Sequence[Sequence[Place]]
) -> Iterable[tuple[int, _MainRow]]:
    """Yield the positions of sentences whose numbers are from at least two columns of one row, and from fewer columns
    of any other row.
    """
    for start, some in groupby(range(len(numbers)), key=lambda n: contexts[n].start):
        columns: dict[tuple[str, str], set[str]] = {}
        for n in some:
            if numbers[n].digits >= _DIGITS_LEAST:
                for place in places[n]:
                    labels = (place.key, place.row.group)
                    columns.setdefault(labels, set()).add(place.column_label)
        labels, most = max(columns.items(), key=lambda one: len(one[1]), default=(("", ""), set[str]()))
        is_only = sum(len(names) == len(most) for names in columns.values()) == 1
        if labels[0] and len(most) >= _LEAST and is_only:
            yield start, _MainRow(labels, frozenset(most))


def _slots(text: str, numbers: Sequence[WrittenNumber], contexts: Sequence[Context]) -> Iterable[Hashable]:
    """Yield for each number its position in its line, and the words there; `None` outside of tables and lists."""
    line = previous = 0
    order: Counter[Hashable] = Counter()
    for number, context in zip(numbers, contexts, strict=True):
        start = text.rfind("\n", 0, number.start) + 1
        previous = start if start != line else previous
        line = start
        block = text.rfind("\n\n", 0, start)
        cell = (block, text.count("|", start, number.start) if context.is_cell else -1)
        lead = comparable(text[previous : number.start]).strip() if previous != start else ""
        previous = number.end
        order[start, cell] += 1
        if context.is_cell:
            yield (*cell, order[start, cell])
        elif _ITEM.match(text, start):
            after = _END.split(text[number.end : number.end + _AFTER_CHARS])[0]
            yield (*cell, order[start, cell], lead, after.strip(" *,;.)"))
        else:
            yield None


def _reversed(text: str, numbers: Sequence[WrittenNumber], places: Sequence[Sequence[Place]]) -> Iterable[int]:
    """Yield the positions of the two numbers of a change such as `from 3 to 5` if the first one is of a later year."""
    for n, (one, other) in enumerate(pairwise(numbers)):
        between = text[one.end : other.start]
        if CHANGED.fullmatch(between) and FROM.search(text, max(0, one.start - _FROM_CHARS), one.start):
            pairs = list(product(places[n][:_PLACES_LIMIT], places[n + 1][:_PLACES_LIMIT]))
            are_later = [first.is_later(second) for first, second in pairs]
            if any(are_later) and not any(second.is_later(first) for first, second in pairs):
                yield from (one.start, other.start)


def _vote(votes: Counter[str], labels: set[str]) -> None:
    """Count a vote for a label, if a number has only one."""
    if len(labels) == 1:
        votes.update(labels)


def winner(votes: Counter[str]) -> str:
    """Return the label with at least two thirds of the votes, and two of them; empty if there is none."""
    label, count = next(iter(votes.most_common(1)), ("", 0))
    return label if count >= _LEAST and 3 * count >= 2 * votes.total() else ""
