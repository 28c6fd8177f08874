"""Runs inside a kernel: finds the tables on a sheet, which empty rows or columns separate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_values import read_text

SheetGrid = Sequence[list[object]]
"""The cells of a sheet, in rows of equal length. Empty cells are `None`."""
NAMES_SEARCH_ROWS = 20
"""Number of rows of a block that are examined to decide whether its first row holds names."""
REGIONS_LIMIT = 50
BLOCKS_LIMIT = 1_000
"""Maximum number of blocks between empty rows. If there are more, they are one table with empty rows in it."""


class Region(NamedTuple):
    """A rectangle of cells, by the positions of its first and last rows and columns."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def size(self) -> int:
        """The number of cells."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)


def find_regions(grid: SheetGrid) -> list[Region]:
    """Return the regions of the tables on a sheet.

    If there are not several tables, return one region with all cells.
    """
    whole = Region(0, 0, len(grid) - 1, len(grid[0]) - 1)
    tables: list[Region] = []
    for band in _split_columns(grid, whole):
        for block in _split_rows(grid, band):
            for part in _split_columns(grid, block):
                heads = _rows_of_several(grid, part)
                if len(heads) > 1:
                    tables.append(part._replace(top=heads[0]))
    return tables[:REGIONS_LIMIT] if len(tables) > 1 else [whole]


def _split_columns(grid: SheetGrid, region: Region) -> list[Region]:
    """Return the parts of a region between empty columns. A single column is joined with the table beside it."""
    rows = region_cells(grid, region)
    has_values = (any(cell is not None for cell in column) for column in zip(*rows, strict=True))
    parts: list[Region] = []
    for first, last in _runs(has_values):
        part = _without_empty_rows(grid, region._replace(left=region.left + first, right=region.left + last))
        if parts and _is_one_table(parts[-1], part):
            before = parts.pop()
            part = Region(min(before.top, part.top), before.left, max(before.bottom, part.bottom), part.right)
        parts.append(part)
    return parts


def _is_one_table(left: Region, right: Region) -> bool:
    """Return whether an empty column is inside a table: one side is a single column, not longer than the other side."""
    is_within = right.top >= left.top and right.bottom <= left.bottom
    holds = right.top <= left.top and right.bottom >= left.bottom
    return (is_within and right.left == right.right) or (holds and left.left == left.right)


def region_cells(grid: SheetGrid, region: Region) -> SheetGrid:
    """Return the rows of a region. If it has all columns, the rows are the grid's own lists, not copies."""
    rows = grid if region.bottom - region.top + 1 == len(grid) else grid[region.top : region.bottom + 1]
    if region.right - region.left + 1 == len(grid[0]):
        return rows
    return [row[region.left : region.right + 1] for row in rows]


def _split_rows(grid: SheetGrid, region: Region) -> list[Region]:
    """Return the tables of a region from top to bottom, each with its title and its notes."""
    rows = (any(_cells(grid, region, number)) for number in range(region.top, region.bottom + 1))
    bands = [region._replace(top=region.top + first, bottom=region.top + last) for first, last in _runs(rows)]
    if len(bands) > BLOCKS_LIMIT:
        return [region._replace(top=bands[0].top, bottom=bands[-1].bottom)]
    tables: list[Region] = []
    current, titles = bands[0], 0
    names = _first_of_several(grid, current)
    for number, band in enumerate(bands[1:], 1):
        if _first_of_several(grid, band) is None:
            titles += 1
            continue
        if names is not None and _starts_table(grid, band, names, is_titled=titles > 0):
            tables.append(current)
            # The last line before a table is its title.
            current = band._replace(top=bands[number - 1].top) if titles else band
            names = _first_of_several(grid, band)
        else:
            current = current._replace(bottom=band.bottom)
            names = names if names is not None else _first_of_several(grid, band)
        titles = 0
    return [*tables, current._replace(bottom=bands[-1].bottom)]


def _starts_table(grid: SheetGrid, band: Region, old_first: int, *, is_titled: bool) -> bool:
    """Return whether the rows after an empty row are another table, with its own names.

    `old_first`: the row that may hold the names of the table above. `is_titled`: whether a line of one cell is between
    them.
    """
    first, *rest = _rows_of_several(grid, band)
    names = {number: cell for number, cell in enumerate(grid[first][band.left : band.right + 1]) if cell is not None}
    if not rest or (len(rest) < 2 and len(names) < 3):
        return False
    is_titled = is_titled or first > band.top
    if any(_is_value(cell) for cell in names.values()):
        return False
    used = {n for row in rest for n, cell in enumerate(grid[row][band.left : band.right + 1]) if cell is not None}
    if len(used - names.keys() - {min(used)}) > 0:
        return False
    old_names = {n: cell for n, cell in enumerate(grid[old_first][band.left : band.right + 1]) if cell is not None}
    if names == old_names:
        return is_titled
    has_values = any(_is_value(grid[row][band.left + column]) for row in rest for column in names)
    return has_values or names.keys() != old_names.keys()


def _first_of_several(grid: SheetGrid, region: Region) -> int | None:
    return next(iter(_rows_of_several(grid, region)), None)


def _rows_of_several(grid: SheetGrid, region: Region) -> list[int]:
    """Return the first rows of a region that have several cells. Titles and notes have one cell."""
    found: list[int] = []
    for number in range(region.top, region.bottom + 1):
        if sum(cell is not None for cell in grid[number][region.left : region.right + 1]) > 1:
            found.append(number)
            if len(found) > NAMES_SEARCH_ROWS:
                break
    return found


def _is_value(cell: object) -> bool:
    """Return whether a cell is a value such as a number or a date, or the text of one."""
    return cell is not None and not (isinstance(cell, str) and read_text(cell.strip()).kind == "text")


def _without_empty_rows(grid: SheetGrid, region: Region) -> Region:
    top, bottom = region.top, region.bottom
    while top < bottom and not any(_cells(grid, region, top)):
        top += 1
    while bottom > top and not any(_cells(grid, region, bottom)):
        bottom -= 1
    return region._replace(top=top, bottom=bottom)


def _cells(grid: SheetGrid, region: Region, row: int) -> Iterable[bool]:
    """Return an iterator that says for each cell of a row in a region whether it has a value."""
    return (cell is not None for cell in grid[row][region.left : region.right + 1])


def _runs(flags: Iterable[bool]) -> list[tuple[int, int]]:
    """Return the first and last positions of the runs of true flags."""
    runs: list[tuple[int, int]] = []
    for number, flag in enumerate(flags):
        if not flag:
            continue
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def column_letters(number: int) -> str:
    """Return the letters of a column: `A` for 0, `AA` for 26."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the position of a column: 0 for `A`."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
