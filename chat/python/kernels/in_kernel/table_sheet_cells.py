"""Runs inside a kernel: opens a workbook, and reads the cells of its sheets."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple

from chat.python.kernels.in_kernel.table_sheet_parts import (
    Merged,
    OddCells,
    Place,
    Workbook,
    find_merged_cells,
    find_odd_cells,
    has_dotted_targets,
    open_workbook,
    repacked,
)
from chat.python.kernels.in_kernel.table_sheet_regions import Region, column_letters
from chat.python.kernels.in_kernel.table_source import CELLS_LIMIT, is_present

if TYPE_CHECKING:
    import python_calamine

LAST_MICROSECOND = 999_500
"""Larger fractions of a second, in microseconds, are rounded up to the next second."""

LAST_SECOND = datetime(9999, 12, 31, 23, 59, 59)
"""Datetimes in this second are not rounded up, because there is no later one."""


class Sheet(NamedTuple):
    """The cells of a sheet."""

    name: str
    grid: list[list[object]]
    """The first rows, from the first cell with a value; empty cells are `None`."""
    top: int
    left: int
    """`top` and `left`: the row and the column of the first cell on the sheet, counted from 0."""
    further_rows: int
    """Number of rows that were not read."""
    merged: Sequence[Merged]
    odd: OddCells

    @property
    def corner(self) -> Place:
        """The row and the column of the last cell that was read, counted from 0."""
        return self.top + len(self.grid) - 1, self.left + len(self.grid[0]) - 1

    def table_name(self, region: Region) -> str:
        """Return the name of one of several tables on the sheet."""
        return f"{self.name} ({self.place_of(region)})"

    def place_of(self, region: Region) -> str:
        """Return the place of a region on the sheet, such as `A1:C20`."""
        first = f"{column_letters(region.left + self.left)}{region.top + self.top + 1}"
        return f"{first}:{column_letters(region.right + self.left)}{region.bottom + self.top + 1}"


class OpenFile(NamedTuple):
    """A workbook, the calamine object that reads its cells, and what is known about its sheets."""

    workbook: Workbook
    reader: python_calamine.CalamineWorkbook
    visible: list[str]
    """The names of the sheets that are not hidden."""
    hidden: list[str]
    notes: list[str]
    engine: str
    """The `engine` argument with which pandas reads the file."""


def open_sheets(workbook: Workbook) -> OpenFile:
    """Return the workbook with its reader. Raises CalamineError, and OSError or ValueError for a broken file."""
    import python_calamine  # only these files need it

    notes: list[str] = []
    has_dots = has_dotted_targets(workbook)
    try:
        reader = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(workbook.data))
    except python_calamine.PasswordError:
        raise
    except python_calamine.CalamineError:
        if not workbook.parts:
            raise
        notes.append("This is an unusual Excel file, which code may not be able to read: save it again with Excel.")
    if notes or has_dots:
        workbook = open_workbook(repacked(workbook))
        reader = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(workbook.data))
    sheets = [one for one in reader.sheets_metadata if one.typ == python_calamine.SheetTypeEnum.WorkSheet]
    visible = [one.name for one in sheets if one.visible == python_calamine.SheetVisibleEnum.Visible]
    hidden = [one.name for one in sheets if one.name not in visible]
    return OpenFile(workbook, reader, visible, hidden, notes, "openpyxl" if has_dots else "calamine")


def load_sheets(opened: OpenFile, names: Sequence[str]) -> Iterator[Sheet]:
    """Yield the named sheets with values. Raises Unreadable if cells are too far apart, CalamineError if broken."""
    for name in names:
        odd = find_odd_cells(opened.workbook, name)
        cells = opened.reader.get_sheet_by_name(name)
        limit = max(1, CELLS_LIMIT // max(1, cells.width or 1))
        rows = cells.to_python(nrows=limit)
        grid: list[list[object]] = [[sheet_value(cell) for cell in row] for row in rows]
        if any(cell is not None for row in grid for cell in row):
            merged = cells.merged_cell_ranges
            areas = find_merged_cells(opened.workbook, name) if merged is None else merged
            top, left = cells.start or (0, 0)
            yield Sheet(name, grid, top, left, max(0, (cells.height or 0) - len(rows)), areas, odd)


def sheet_value(cell: object) -> object:
    """Return the value of a cell; `None` for an empty one.

    A workbook stores a time as a fraction of a day, with rounding errors, which are removed.
    """
    if isinstance(cell, float):
        return cell
    if isinstance(cell, datetime) and cell.microsecond > LAST_MICROSECOND and cell < LAST_SECOND:
        return cell.replace(microsecond=0) + timedelta(seconds=1)
    if isinstance(cell, time) and cell.microsecond > LAST_MICROSECOND and cell < time(23, 59, 59):
        return (datetime.combine(date.min, cell) + timedelta(seconds=1)).time().replace(microsecond=0)
    return cell if is_present(cell) else None
