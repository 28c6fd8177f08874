"""Runs inside a kernel: describes which pandas tables a cell has created or changed, and how.

Before a cell, the hook keeps a shallow copy of each table that has a name. pandas copies a column before it is changed
in place, so the copy of an unchanged column needs no memory.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING

from chat.python.kernels.in_kernel.hidden_frames import hide_frame
from chat.python.kernels.in_kernel.import_watch import when_imported
from chat.python.kernels.in_kernel.shell_attributes import CHANGES
from chat.python.kernels.in_kernel.table_differences import (
    differences,
    has_rows_of,
    missing_cells,
    new_table,
    rows_change,
)
from chat.python.kernels.in_kernel.table_memory import is_equal, shared_count, shares_all_cells, size_bytes

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from pandas import DataFrame

_TABLES_LIMIT = 40
_SIZE_LIMIT_BYTES = 64 * 1024 * 1024
"""Maximum total size of the tables that are kept while a cell runs: the cell cannot free their memory. For others, only
the number of rows is compared."""
_LINES_LIMIT = 8
_JOINS_LIMIT = 4
_SORTS_LIMIT = 16
"""Maximum number of sorts of a cell that are noted."""
_TAKES_ALL = frozenset({"outer", "right", "cross"})
"""Kinds of joins for which the number of rows does not show whether rows of the first table were lost."""
MULTIPLIED = "A merge made {result:,} rows of {rows:,}: keys occur more than once in the other table"


class TableChanges:
    """The tables before a cell, and the joins in it."""

    def __init__(self, shell: InteractiveShell) -> None:
        """Add the hooks to IPython, and to pandas as soon as it is imported."""
        self._namespace: Mapping[str, object] = shell.user_ns
        self._shell = shell
        self._before: dict[str, DataFrame] = {}
        self._rows: dict[str, int] = {}
        """The number of rows of each table before the cell."""
        self._words: list[str] = []
        """The words of the cell, in order."""
        self._joins: list[str] = []
        self._sorts: list[tuple[DataFrame, DataFrame]] = []
        """The tables that the cell has sorted, and the results: at most `_SIZE_LIMIT_BYTES` of each."""
        self._sorts_room_bytes = 0
        self._is_joining = False
        vars(shell)[CHANGES] = {}
        shell.events.register("pre_run_cell", lambda info: self._begin(info.raw_cell))
        when_imported("pandas", self._watch)

    def _begin(self, code: str) -> None:
        self._words = re.findall(r"\w+", code)
        self._joins, self._sorts, vars(self._shell)[CHANGES] = [], [], {}
        tables = self._tables()
        self._rows, self._before = {name: len(frame) for name, frame in tables.items()}, {}
        room_bytes = self._sorts_room_bytes = _SIZE_LIMIT_BYTES
        for name, frame in tables.items():
            # Attributes of a table may be objects that cannot be copied.
            with contextlib.suppress(Exception):
                room_bytes -= size_bytes(frame)
                if room_bytes >= 0:
                    self._before[name] = frame.copy(deep=False)

    def end(self) -> None:
        """Store the sentences about the cell that has ended."""
        lines, missing = [], list[str]()
        words = {*self._words}
        for name, frame in self._tables().items():
            # Tables may hold values whose classes raise errors when they are read. The cell itself has worked.
            with contextlib.suppress(Exception):
                if name in self._rows and name in words:
                    missing += [f"`{name}`: {phrase}" for phrase in missing_cells(frame, words)]
                if phrases := self._changes(name, frame):
                    lines.append(f"`{name}`: {'; '.join(phrases)}")
        left_out = len(lines) - _LINES_LIMIT
        more = [f"{left_out} more tables changed"] if left_out > 0 else []
        changes = [*self._joins, *lines[:_LINES_LIMIT], *more]
        vars(self._shell)[CHANGES] = {"changes": changes, "missing_cells": missing[:_LINES_LIMIT]}
        self._before, self._sorts, self._sorts_room_bytes = {}, [], 0

    def _changes(self, name: str, frame: DataFrame) -> list[str]:
        if name in self._rows and name not in self._before:
            return rows_change(self._rows[name], len(frame))
        origin = name if name in self._before else self._origin(frame)
        if not origin:
            return new_table(frame)
        before = self._sorted_like(frame, self._before[origin])
        if is_equal(before, frame):
            return []
        if origin == name:
            return differences(before, frame)
        changes = differences(before, frame, is_same_table=False)
        return [f"made from `{origin}`", *changes] if changes else []

    def _sorted_like(self, frame: DataFrame, before: DataFrame) -> DataFrame:
        """Return `before` with its rows in the order of `frame` and with its labels, if the cell has sorted them.

        The order is that of the sort whose result has the most columns in the memory of `frame`.
        """
        orders = [before]
        for source, result in self._sorts:
            is_from_before = shares_all_cells(before, source) and before.index.equals(source.index)
            if is_from_before or any(shares_all_cells(one, source) for one in orders[1:]):
                orders.append(result)
        if len(orders) == 1:
            return before
        nearest = max(orders, key=lambda one: shared_count(one, frame))
        return before if nearest is before else nearest.set_axis(frame.index)

    def _origin(self, frame: DataFrame) -> str:
        """Return the name of the table from which the rows of `frame` come; empty if there is none.

        The cell must mention that table, and it must have most of the columns of `frame`.
        """
        columns = {*frame.columns}
        shared = {name: len(columns & {*self._before[name].columns}) for name in self._words if name in self._before}
        # If two tables have as many of the columns, as after a join, take the one that the cell mentions first.
        name = max(shared, key=lambda one: shared[one], default="")
        is_like = bool(name) and shared[name] * 2 > len(columns) and frame.index.nlevels == 1
        return name if is_like and has_rows_of(self._before[name], frame) else ""

    def _tables(self) -> dict[str, DataFrame]:
        pandas = sys.modules.get("pandas")
        if pandas is None or not hasattr(pandas, "DataFrame"):
            return {}
        cls = pandas.DataFrame
        namespace = [*self._namespace.items()]
        named = ((name, value) for name, value in namespace if type(value) is cls and not name.startswith("_"))
        # Skip second names of a table, and names with an underscore, which IPython uses.
        names: dict[int, str] = {}
        tables = {name: value for name, value in named if names.setdefault(id(value), name) == name}
        return dict(islice(tables.items(), _TABLES_LIMIT))

    def _watch(self, pandas: ModuleType) -> None:
        frame = pandas.DataFrame
        frame.merge = self._watched(frame.merge)
        frame.join = self._watched(frame.join)
        vars(pandas)["merge"] = self._watched(vars(pandas)["merge"])
        frame.sort_values = self._watched_sort(frame.sort_values)
        frame.sort_index = self._watched_sort(frame.sort_index)

    def _watched_sort(self, sort: Callable[..., DataFrame | None]) -> Callable[..., DataFrame | None]:
        """Wrap a sort method: it notes the result, whose rows then need not be compared with those of the table."""

        @hide_frame
        @wraps(sort)
        def watched(table: DataFrame, *arguments: object, **options: object) -> DataFrame | None:
            source = self._sort_source(table, options.get("axis"))
            result = sort(table, *arguments, **options)
            if source is not None:
                with contextlib.suppress(Exception):
                    self._note_sort(source, table if result is None else result)
            return result

        return watched

    def _sort_source(self, table: DataFrame, axis: object) -> DataFrame | None:
        """Return a shallow copy of a table from before the cell, or of one that the cell has sorted; `None` for others.

        A copy of another table would keep its memory until the cell ends.
        """
        with contextlib.suppress(Exception):
            # Axis 1 sorts columns.
            if not axis and self._sorts_room_bytes > 0 and len(self._sorts) < _SORTS_LIMIT:
                known = [*self._before.values(), *(result for _, result in self._sorts)]
                if any(type(one) is type(table) and shares_all_cells(one, table) for one in known):
                    return table.copy(deep=False)
        return None

    def _note_sort(self, source: DataFrame, result: DataFrame) -> None:
        """Keep shallow copies, because pandas changes the memory of a table in place if no other table has it."""
        if shares_all_cells(source, result):
            return
        self._sorts_room_bytes -= size_bytes(result)
        if self._sorts_room_bytes >= 0:
            self._sorts.append((source, result.copy(deep=False)))

    def _watched(self, join: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
        """Wrap a join function: it notes joins that multiply or lose rows of their first table."""

        @hide_frame
        @wraps(join)
        def watched(left: DataFrame, *arguments: object, **options: object) -> DataFrame:
            is_inner, self._is_joining = self._is_joining, True
            try:
                result = join(left, *arguments, **options)
            finally:
                self._is_joining = is_inner
            if not is_inner and len(self._joins) < _JOINS_LIMIT:
                with contextlib.suppress(Exception):
                    ways = [options.get("how"), *(one for one in arguments if isinstance(one, str))]
                    if _TAKES_ALL.isdisjoint(ways):
                        self._note(len(left), len(result))
            return result

        return watched

    def _note(self, rows: int, result: int) -> None:
        if result > rows:
            self._joins.append(MULTIPLIED.format(result=result, rows=rows))
        elif result < rows:
            self._joins.append(f"A merge kept {result:,} of {rows:,} rows: the others have no partner")
