"""Checks whether the words around a number name the row and column of an equal value in a source, or other
ones. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import CLAUSE_END, Context
from chat.messages.numbers.mentions import HALF, mentions
from chat.messages.numbers.naming import owners, statistic_of
from chat.messages.numbers.rows import normal_label
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.statistic_words import is_other_statistic, statistic_mentions
from chat.messages.numbers.tables import Place, Table
from chat.messages.numbers.words_around_numbers import STATISTIC

IS_NAMED: Final = 4
"""What `nearness` adds if the words name the row or the statistic of a place."""
_AFTER_CHARS: Final = 40
_AVERAGES: Final = frozenset({"mean", "median", "std"})
_QUARTILES: Final = frozenset({"25%", "75%"})
_EXTREMES: Final = frozenset({"min", "max"})


class Words:
    """The words around the numbers of an answer, compared with the tables of its sources."""

    def __init__(self, tables: SourceTables, starts: Sequence[int]) -> None:
        """`starts`: the positions of all numbers of the answer, in order."""
        self._tables = tables
        self._starts = starts
        self._named: dict[tuple[int, int, int], frozenset[str]] = {}

    def owners(self, table: Table, context: Context) -> frozenset[str]:
        """Return labels of rows of a table of which a number surely has one; empty if that is not sure."""
        key = (id(table), context.start, context.position)
        if key not in self._named:
            found = owners(context, table.row_names, self._number_starts(context))
            others = frozenset(name for name in found if table.row_names[name] != name)
            if others and not context.is_cell and not others <= _names_beside(context, others):
                # Other names are known for some rows only, so the number may belong to a row that has none.
                found = frozenset()
            self._named[key] = frozenset(table.row_names[name] for name in found)
        return self._named[key]

    def _number_starts(self, context: Context) -> list[int]:
        end = context.start + len(context.text)
        some = self._starts[bisect_left(self._starts, context.start) : bisect_left(self._starts, end)]
        return [start - context.start for start in some]

    def _is_beside(self, label: str, table: Table, context: Context) -> bool:
        """Return whether no other number stands between a number and the label of a column."""
        numbers = self._number_starts(context)
        return any(
            one.label == label
            and not any(
                min(one.end, context.position) <= number < max(one.start, context.position)
                for number in numbers
                if number != context.position and not one.start <= number < one.end
            )
            for one in mentions(context.text, table.names_of_columns)
        )

    def statistics(self, context: Context) -> frozenset[str]:
        """Return statistics of which a number surely is one; empty if that is not sure."""
        found = statistic_mentions(context.text)
        if context.is_cell:
            found = (*found, *statistic_mentions(context.column))
            return frozenset(one.label for one in found)
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
        said = self.statistics(context) & self._tables.statistics
        is_row = not place.row.is_statistic
        if is_other_statistic(place.statistic, said - _EXTREMES if is_row else said):
            return True
        label, table = place.key, place.table
        if not is_row:
            return self._is_other_statistic(place, context, said)
        if context.is_cell and table.column_labels.get(normal_label(context.column), place.column) != place.column:
            return True
        if table.is_pivot and context.is_cell and self._is_other_in_transposed(place, context):
            return True
        if table.is_pivot and not context.is_cell:
            columns = owners(context, table.names_of_columns, self._number_starts(context))
            columns = columns if all(self._is_beside(label, table, context) for label in columns) else frozenset()
            if columns and normal_label(table.names[place.column]) in table.names_of_columns - columns:
                return True
        named = self.owners(table, context)
        is_named = label in named or place.row.group in named
        return bool(label) and bool(named) and not is_named and not _follows(label, context)

    def _is_other_in_transposed(self, place: Place, context: Context) -> bool:
        """Return whether the answer's table has the columns of a source as rows, and names another place than this."""
        columns = {one.label for one in mentions(context.text, place.table.names_of_columns)}
        rows = {one.label for one in place.table.mentions(context.column)}
        is_same = normal_label(place.table.names[place.column]) in columns and place.key in rows
        return bool(columns and rows) and not is_same

    def _is_other_statistic(self, place: Place, context: Context, said: frozenset[str]) -> bool:
        """Return whether a statistic belongs to another column or row than those that the words name."""
        table, label = place.table, place.key
        columns = {one.label for one in mentions(f"{context.head} {context.clause}", table.names_of_columns)}
        if table.is_description and len(columns) == 1 and table.column_labels[columns.pop()] != place.column:
            return True
        words = label.split()
        parts = {part for n in range(len(words)) for part in (" ".join(words[n:]), " ".join(words[:n]))}
        named = frozenset().union(*(self.owners(one, context) for one in self._tables.all if one.labels))
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
        column = normal_label(place.table.names[place.column])
        is_named = bool(column) and column in f"{context.text} {context.column}"
        is_statistic = bool(place.statistic) and place.statistic in self.statistics(context)
        return 1 + IS_NAMED * (place.key in self.owners(place.table, context) or is_statistic) + 2 * is_named


def _names_beside(context: Context, names: frozenset[str]) -> frozenset[str]:
    """Return those of some names that stand in the number's clause, or that its sentence or item is about."""
    return frozenset(one.label for one in mentions(f"{context.head}: {context.clause}", names)) | {context.topic}


def _follows(label: str, context: Context) -> bool:
    """Return whether the label of a row follows a number in its clause, also in brackets."""
    start = -1 if label.isdigit() else context.text.find(label, context.position, context.position + _AFTER_CHARS)
    if start < 0:
        return False
    between = context.text[context.position : start].replace("(", "", 1)
    return not CLAUSE_END.search(between)
