"""Runs inside a kernel: reads the rows of a table on a sheet, with the value of merged cells in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_layout import Layout, find_layout
from chat.python.kernels.in_kernel.table_sheet_parts import Merged, Place
from chat.python.kernels.in_kernel.table_source import CELLS_LIMIT


class SheetRows(NamedTuple):
    """The rows of a table, and their positions on the sheet."""

    layout: Layout
    head: Sequence[Sequence[object]]
    """The rows that hold the names."""
    numbers: list[int]
    """Positions on the sheet, counted from 0, of the rows with a value."""
    left: int
    """Position on the sheet of the first column."""
    filled: dict[int, bool]
    """For each column whose merged cells were filled: whether each empty cell got the last value above it."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the rows."""
        filled = self.names_of(sorted(self.filled))
        return [*self.layout.notes, *([f"Merged cells in {filled} are filled with their value."] if filled else [])]

    def names_of(self, columns: Sequence[int]) -> str:
        """Return the names of columns in quotes; only the first ones if there are many."""
        names = [self.layout.names[n] if n < len(self.layout.names) else "" for n in columns[:3]]
        shown = [f"“{name[:40] or f'column {number + 1}'}”" for name, number in zip(names, columns, strict=False)]
        return ", ".join(shown) + (", …" if len(columns) > 3 else "")

    def columns_at(self, places: Sequence[Place]) -> str:
        """Return the names of the columns to which these cells of the body belong."""
        rows = {self.numbers[position] for position in self.layout.body_positions}
        width = len(self.layout.names)
        return self.names_of(sorted({c - self.left for r, c in places if r in rows and 0 <= c - self.left < width}))


def read_sheet_rows(
    cells: Sequence[list[object]],
    place: Place,
    merged: Sequence[Merged],
    header_rows: int | None,
    *,
    is_whole: bool,
) -> SheetRows:
    """Return the rows of a table that have a value, with merged cells filled.

    `place`: the position of its first cell on the sheet.
    """
    top, left = place
    numbers = [top + number for number, row in enumerate(cells) if any(cell is not None for cell in row)]
    rows = [cells[number - top] for number in numbers]
    at = dict(zip(numbers, rows, strict=True)) if merged else {}
    fill_across(at, left, merged)
    before, tops = fill_down(at, left, merged)
    layout = find_layout(rows, header_rows, is_whole=is_whole)
    layout = layout._replace(names=layout.names + [""] * (len(rows[0]) - len(layout.names)))
    head = rows[layout.first : layout.first + layout.header_rows]
    found = SheetRows(layout, head, numbers, left, {})
    positions = layout.body_positions
    for column, cells_before in before.items():
        if positions and tops[column] >= numbers[positions[0]]:
            raw = [cells_before[position] for position in positions]
            found.filled[column] = repeats_down(raw, [rows[position][column] for position in positions])
    return found


def fill_across(at: dict[int, list[object]], left: int, merged: Sequence[Merged]) -> None:
    """Write the value of each merged area into its other cells in the first row.

    A title that is merged over its whole row stays one cell.
    """
    for (row, first), (_, last) in merged:
        cells = at.get(row)
        if cells is None or last == first:
            continue
        begin, end = first - left, min(last - left + 1, len(cells))
        if not 0 <= begin < end or cells[begin] is None:
            continue
        if any(cell is not None for cell in (*cells[:begin], *cells[end:])):
            cells[begin:end] = [cells[begin] if cell is None else cell for cell in cells[begin:end]]


def fill_down(
    at: dict[int, list[object]], left: int, merged: Sequence[Merged]
) -> tuple[dict[int, list[object]], dict[int, int]]:
    """Write the value of each merged area of several rows into its cells.

    Return the original cells of the filled columns, and the first row of the last merged area in each. A title that is
    merged over its whole row stays one cell.
    """
    before: dict[int, list[object]] = {}
    tops: dict[int, int] = {}
    budget = CELLS_LIMIT
    last_row = max(at, default=0)
    for (top, first), (bottom, last) in merged:
        cells = at.get(top)
        begin = first - left
        if cells is None or top == bottom or not 0 <= begin < len(cells) or cells[begin] is None:
            continue
        end, bottom = min(last - left + 1, len(cells)), min(bottom, last_row)
        if end - begin > 1 and cells[begin + 1] is None:
            continue
        budget -= (end - begin) * (bottom - top + 1)
        if budget < 0:
            break  # Areas do not overlap, so the file is broken.
        for column in range(begin, end):
            if column not in before:
                before[column] = [row[column] for row in at.values()]
            tops[column] = max(top, tops.get(column, 0))
            for number in range(top, bottom + 1):
                row = at.get(number)
                if row is not None and row[column] is None:
                    row[column] = cells[begin]
    return before, tops


def repeats_down(cells: Sequence[object], filled: Sequence[object]) -> bool:
    """Return whether filling all empty cells with the last value above them gives the same result."""
    last: object = None
    for cell, value in zip(cells, filled, strict=True):
        last = last if cell is None else cell
        if last is not value:
            return False
    return True
