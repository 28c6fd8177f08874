"""Runs inside a kernel: find the names of columns, and where the rows of a table begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_source import is_present, name_of
from chat.python.kernels.in_kernel.table_values import read_text


class Layout(NamedTuple):
    """Where the parts of a table are, among its rows."""

    names: list[str]
    """Names of the columns; empty texts for columns without one."""
    body: Sequence[Sequence[object]]
    """The rows below the names, without totals, footers, units and the like."""
    header_rows: int
    """Number of rows that hold the names."""
    first: int
    """Number of rows above the names, or above the body if there are none."""
    below: int
    """Number of rows between the names and the body, such as units."""
    notes: list[str]
    """Sentences about what was left out."""


def find_layout(rows: Sequence[Sequence[object]], header_rows: int | None = None) -> Layout:
    """Return the layout of rows with a value, at least one. `header_rows`: what a person has chosen.

    Rows above the table, such as a title, are left out. A cell that is a text in the first row of the table is a name.
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
