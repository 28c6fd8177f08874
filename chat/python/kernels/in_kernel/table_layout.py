"""Runs inside a kernel: find the names of columns, and where the rows of a table begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_source import is_present, name_of
from chat.python.kernels.in_kernel.table_values import read_text


class Layout(NamedTuple):
    """Where the parts of a table are, among its rows: rows above, names, rows below them, body, rows after it."""

    names: list[str]
    """Names of the columns; empty texts for columns without one."""
    body: Sequence[Sequence[object]]
    """The rows of the table, without totals, footers, units and the like."""
    header_rows: int
    """Number of rows that hold the names; 0 if there are none and the columns are numbered."""
    first: int
    """Number of rows above the names, or above the body if there are none."""
    below: int
    """Number of rows between the names and the body, such as units."""
    notes: list[str]
    """Sentences about what was left out."""
    after: int = 0
    """Number of rows after the body, such as totals and sources."""
    repeated: Sequence[int] = ()
    """Positions, among the given rows, of repeated headers within the body, which are left out of it."""
    column_notes: Sequence[str] = ()
    """A note on each of the columns, such as its unit; empty texts for most. May be shorter than `names`."""


def find_layout(rows: Sequence[Sequence[object]], header_rows: int | None = None, *, is_whole: bool = True) -> Layout:
    """Return the layout of rows with a value, at least one. Cells are values of Python, or texts that stand for them.

    `header_rows`: what a person has chosen. `is_whole`: whether the last row is the table's last one.
    """
    notes: list[str] = []
    widths = [max((number for number, cell in enumerate(row, 1) if is_present(cell)), default=0) for row in rows[:200]]
    start = 0
    if max(widths) > 1:
        while widths[start] < 2:
            start += 1
    if start:
        notes.append(f"The table begins after {'a row' if start == 1 else f'{start} rows'} with a single cell.")
    head = rows[start]
    kinds = {read_text(cell.strip()).kind if isinstance(cell, str) else "value" for cell in head if is_present(cell)}
    if "text" in kinds or len(rows) == start + 1:
        return Layout([name_of(cell) for cell in head], rows[start + 1 :], 1, start, 0, notes)
    notes.append("The first row holds values and no names, so the columns are numbered.")
    return Layout([f"column {number}" for number in range(1, len(head) + 1)], rows[start:], 0, start, 0, notes)
