"""Checks whether the words around a number name the row and column of an equal value in a source, or other
ones. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import CLAUSE_END, Context
from chat.messages.numbers.mentions import HALF, mentions
from chat.messages.numbers.naming import owners, statistic_of
from chat.messages.numbers.other_names import learn_names
from chat.messages.numbers.parallel_lines import ParallelLines
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import QUARTERS, normal_label
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.statistic_words import is_other_statistic, statistic_mentions
from chat.messages.numbers.tables import Place, Table, is_other_year
from chat.messages.numbers.words_around_numbers import STATISTIC

IS_NAMED: Final = 4
"""What `nearness` adds if the words name the row or the statistic of a place."""
_WORD: Final = re.compile(r"[^\W\d_]{3}|[\u0900-\u0963]{3}|[\u3400-\u9fff]{2}")
_AFTER_CHARS: Final = 40
"""Maximum distance of a label after a number that it belongs to."""
_TABLES_LIMIT: Final = 60
"""Maximum number of tables that are searched for the rows that the words name, which bounds the time."""
_AVERAGES: Final = frozenset({"mean", "median", "std"})
_QUARTILES: Final = frozenset({"25%", "75%"})
_EXTREMES: Final = frozenset({"min", "max"})


class Words:
    """The words around the numbers of an answer, compared with the tables of its sources."""

    def __init__(
        self,
        tables: SourceTables,
        text: str,
        numbers: Sequence[WrittenNumber],
        contexts: Sequence[Context],
        places: Sequence[Sequence[Place]],
    ) -> None:
        """`text`: the answer. `places`: the places that contain the value of each of its numbers."""
        self._tables = tables
        self._starts = [number.start for number in numbers]
        self._lines = ParallelLines(text, numbers, contexts, places)
        self._learned = learn_names(tables, text, numbers, places)
        self.places: dict[int, Place | None] = {}
        """Positions of the numbers whose source is known -> the places of these sources."""
        self._named: dict[tuple[int, int, int], frozenset[str]] = {}
        """Results of `owners`, `_owners_in` and `_named_columns`."""

    def owners(self, table: Table, context: Context) -> frozenset[str]:
        """Return labels of rows of a table of which a number surely has one; empty if that is not sure."""
        key = (id(table), context.start, context.position)
        if key not in self._named:
            rows, starts = table.row_names, self._number_starts(context)
            of_groups = {name: label for name, label in rows.items() if label in table.groups} if table.groups else {}
            others = {name: rows[name] for name in rows.keys() - of_groups} if of_groups else rows
            found = owners(context, others, starts)
            found |= owners(context, of_groups, starts) if of_groups else frozenset()
            learned = mentions(context.text, self._learned) if self._learned else []
            names = {one.label for one in learned}
            beside = mentions(f"{context.head}: {context.clause}", names) if names else []
            is_topic = len(names) == 1 and not any(map(str.isalpha, context.text[: learned[0].start]))
            # Names are learned for some rows only, so the number may belong to a row that has none.
            have_one_each = len(learned) == len(self._number_starts(context))
            is_unsure = not (context.is_cell or is_topic or have_one_each) and names != {one.label for one in beside}
            self._named[key] = frozenset() if is_unsure else found
        return self._named[key]

    def _owners_in(self, dimension: Mapping[int, str], context: Context) -> frozenset[str]:
        """Return values of a column of `Table.dimensions` of which a number surely has one; empty if not sure."""
        key = (id(dimension), context.start, context.position)
        if key not in self._named:
            names = {value: value for value in dimension.values()}
            self._named[key] = owners(context, names, self._number_starts(context))
        return self._named[key]

    def _number_starts(self, context: Context) -> list[int]:
        end = context.start + len(context.text)
        some = self._starts[bisect_left(self._starts, context.start) : bisect_left(self._starts, end)]
        return [start - context.start for start in some]

    def _is_beside(self, label: str, names: Mapping[str, str], context: Context) -> bool:
        """Return whether no other number stands between a number and the label of a column."""
        numbers = self._number_starts(context)
        return any(
            names[one.label] == label
            and not any(
                min(one.end, context.position) <= number < max(one.start, context.position)
                for number in numbers
                if number != context.position and not one.start <= number < one.end
            )
            for one in mentions(context.text, names)
        )

    def _is_other_column(self, place: Place, names: Mapping[str, str], context: Context) -> bool:
        """Return whether the words surely name another column than that of a place.

        `names`: the names of the columns -> the labels of the columns.
        """
        said = self._named_columns(names, context)
        return bool(said) and place.column_label in {*names.values()} - said

    def _named_columns(self, names: Mapping[str, str], context: Context) -> frozenset[str]:
        """Return labels of columns of which a number surely has one; empty if that is not sure."""
        key = (id(names), context.start, context.number_start)
        if key not in self._named:
            said = owners(context, names, self._number_starts(context))
            is_sure = all(self._is_beside(label, names, context) for label in said)
            self._named[key] = said if is_sure else frozenset()
        return self._named[key]

    def statistics(self, context: Context) -> frozenset[str]:
        """Return statistics of which a number surely is one; empty if that is not sure."""
        found = statistic_mentions(context.text)
        if context.is_cell:
            found = (*found, *statistic_mentions(context.column))
            # Q1 is no quartile if rows of the sources are quarters of a year.
            quartiles = _QUARTILES if not self._tables.labels.isdisjoint(QUARTERS) else frozenset()
            return frozenset(one.label for one in found) - quartiles
        label = statistic_of(context, found, self._number_starts(context)) if found else ""
        return _QUARTILES if label == HALF else frozenset({label} if label else ())

    def is_average(self, context: Context) -> bool:
        """Return whether a number surely is a mean, a median or a deviation, and not a change of one."""
        said = self.statistics(context)
        return len(said) == 1 and said <= _AVERAGES and not direction(context.clause)

    def contradict(self, place: Place | None, context: Context) -> bool:
        """Return whether the words surely name another row, column or statistic than those of a place."""
        if place is None:
            return False
        if not place.row.is_statistic and self._lines.contradict(place, context):
            return True
        # The number is then from a table with this column.
        if self._lines.column(context) not in place.table.column_labels and self.names_cell(context):
            return True
        return self._is_other(place, context) and not self._continues_list(place, context)

    def names_cell(self, context: Context) -> bool:
        """Return whether the parallel numbers of other lines and the words name the column and the row of a number."""
        return self.names_row(self._lines.column(context), context)

    def names_row(self, column: str, context: Context) -> bool:
        """Return whether the words name a row of a table that has a column."""
        tables = (table for table in self._tables.all if column in table.column_labels)
        return bool(column) and any(self.owners(table, context) for table in islice(tables, _TABLES_LIMIT))

    def _is_other(self, place: Place, context: Context) -> bool:
        said = self.statistics(context) & self._tables.statistics
        is_row = not place.row.is_statistic
        if is_other_statistic(place.statistic, said - _EXTREMES if is_row else said):
            return True
        label, table = place.key, place.table
        columns = table.names_of_columns if table.is_pivot and not context.is_cell else {}
        if not is_row:
            # The columns of a pivot table are also those of its totals.
            is_other_column = bool(columns) and self._is_other_column(place, columns, context)
            return is_other_column or self._is_other_statistic(place, context, said)
        column = normal_label(context.column)
        # Names such as `cost` and `cost_kg` have the same label.
        if context.is_cell and column in table.column_labels and column != place.column_label:
            return True
        if context.is_cell and is_other_year(f"{label} {table.names[place.column]}", context.column):
            return True
        if table.is_pivot and context.is_cell and self._is_other_in_transposed(place, context):
            return True
        columns = columns or table.names_beside(place.column)
        if columns and self._is_other_column(place, columns, context):
            return True
        named = self.owners(table, context)
        if label in named and table.has_unique_labels:
            return False
        parts = [(label, named - table.groups), (place.row.group, named & table.groups)]
        parts += [(values[place.row.start], self._owners_in(values, context)) for values in table.dimensions]
        return any(own and some and own not in some and not _follows(own, table, context) for own, some in parts)

    def _continues_list(self, place: Place, context: Context) -> bool:
        """Return whether a number continues a list of one value for each row, in which its row has no known name, as in
        `Ulm had 3, the capital 5`. Further numbers after it may be from the same row.
        """
        for number in () if context.is_cell else self._number_starts(context):
            earlier = self.places.get(context.start + number) if number < context.position else None
            if earlier and earlier.row is place.row:
                return True
            if earlier and (earlier.table, earlier.column) == (place.table, place.column):
                between = context.text[number : context.position]
                is_further = CLAUSE_END.search(between) and _WORD.search(between)
                if is_further and earlier.key in self.owners(place.table, context):
                    return True
        return False

    def _is_other_in_transposed(self, place: Place, context: Context) -> bool:
        """Return whether the answer's table has the columns of a source as rows, and names another place than this."""
        columns = {one.label for one in mentions(context.text, place.table.names_of_columns)}
        rows = {one.label for one in place.table.mentions(context.column)}
        is_same = place.column_label in columns and place.key in rows
        return bool(columns and rows) and not is_same

    def _is_other_statistic(self, place: Place, context: Context, said: frozenset[str]) -> bool:
        """Return whether a statistic belongs to another column or row than those that the words name."""
        table, label = place.table, place.key
        columns = {one.label for one in mentions(f"{context.head} {context.clause}", table.names_of_columns)}
        if table.is_description and len(columns) == 1 and table.column_labels[columns.pop()] != place.column:
            return True
        words = label.split()
        parts = {part for n in range(len(words)) for part in (" ".join(words[n:]), " ".join(words[:n]))}
        tables = islice((one for one in self._tables.all if one.labels), _TABLES_LIMIT)
        named = frozenset().union(*(self.owners(one, context) for one in tables))
        # In a table of correlations, the labels of rows are also those of columns, and name no row of other tables.
        named -= table.column_labels.keys()
        if named and (subjects := parts & self._tables.labels):
            return not subjects & named
        # A row may have the value of a statistic, such as the maximum. So a sentence about both does not contradict.
        if (
            said
            or STATISTIC.search(f"{context.text} {context.column}")
            or (label and label in context.text and not place.row.names)
        ):
            return False
        return bool(named)

    def nearness(self, place: Place | None, context: Context) -> int:
        """Return how well the words around a number name a place: a greater number is better. 0: there is no place."""
        if place is None:
            return 0
        column = place.column_label
        is_named = bool(column) and column in f"{context.text} {context.column}"
        is_statistic = bool(place.statistic) and place.statistic in self.statistics(context)
        return 1 + IS_NAMED * (place.key in self.owners(place.table, context) or is_statistic) + 2 * is_named


def _follows(label: str, table: Table, context: Context) -> bool:
    """Return whether the label of a row follows a number in its clause, also in brackets."""
    found = () if label.isdigit() else table.mentions(context.text)
    after = (one.start for one in found if one.label == label and one.start >= context.position)
    start = next(after, None)
    if start is None or start > context.position + _AFTER_CHARS:
        return False
    between = context.text[context.position : start].replace("(", "", 1)
    return not CLAUSE_END.search(between)
