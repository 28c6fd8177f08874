"""Tables as data: header, rows, types of columns and size.

`html_tables` reads such tables from HTML, and the template `chat/displays/_table.jinja` renders them. In this form, a
table holds only text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chat.people.account.number_format import format_count

ROWS_SHOWN = 20
"""Number of rows that a page shows before the reader opens the whole table."""
ROWS_LIMIT = 1_000
CELLS_LIMIT = 4_000
"""Maximum number of cells of one output. They take about 20 ms to read and render. Later rows are left out."""
COLUMNS_LIMIT = 100
"""Maximum number of columns of one table. Later columns are left out."""
HEADER_ROWS_LIMIT = 10

_NUMBER = re.compile(
    r"[-+−]?[$€£¥]?(?:(?:\d{1,3}(?>(?:,\d{3})+)|\d++)(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?\s?%?|[-+−]?inf(?:inity)?",
    re.IGNORECASE | re.ASCII,
)
MISSING = frozenset({"", "nan", "nat", "none", "null", "<na>", "n/a", "-", "–", "—", "...", "…"})
"""Texts, in lower case, that represent a missing value. They are ignored when the type of a column is determined."""
GAPS = frozenset({"...", "…"})
"""Texts that pandas and polars put in place of rows and columns that they leave out."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceCell:
    """A cell as its source describes it. Equality is identity, so that a spanning cell is recognized by itself."""

    text: str
    is_header: bool = False
    columns: int = 1
    """Number of columns that the cell spans."""
    rows: int = 1
    """Number of rows that the cell spans."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table as its source describes it, with rows of different lengths and with spanning cells."""

    caption: str
    header: Sequence[Sequence[SourceCell]]
    body: Sequence[Sequence[SourceCell]]
    left_out_rows: int = 0
    """Number of rows of the source that are not in `body`."""
    left_out_columns: int = 0
    """Number of columns of the source that are not in `header` and `body`."""


@dataclass(frozen=True, slots=True)
class HeaderCell:
    """A cell of the table's header."""

    text: str
    is_header: bool
    """False for a cell below a column's name that is no header, such as the data type that polars writes there."""
    column: int
    """The index of the first column that the cell covers."""
    columns: int
    rows: int
    sorts_column: int | None
    """The column that this cell names and sorts."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table to be shown. All rows have one length, and no cell of the body spans several rows or columns."""

    kind: ClassVar[str] = "table"

    caption: str
    header: tuple[tuple[HeaderCell, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    index_columns: int
    """Number of columns at the left that name their row, such as the index of a DataFrame."""
    number_columns: frozenset[int]
    """Columns whose values are numbers."""
    gap_rows: frozenset[int]
    """Rows of `…`, which show where rows were left out."""
    total_rows: int
    """Number of rows of the data that the output describes."""
    total_columns: int
    """Number of columns of the data, without index columns."""
    gap_columns: int
    """Number of columns of `…`, which show where columns were left out."""

    @property
    def right_columns(self) -> frozenset[int]:
        """Columns that are aligned to the right."""
        return self.number_columns.difference(range(self.index_columns))

    @property
    def is_long(self) -> bool:
        """Whether the page shows only the first rows at first."""
        return len(self.rows) > ROWS_SHOWN

    @property
    def size(self) -> str:
        """The size in words, such as `100 rows × 3 columns, of which 10 rows are here`."""
        shown = {
            "row": (len(self.rows) - len(self.gap_rows), self.total_rows),
            "column": (self._width - self.index_columns - self.gap_columns, self.total_columns),
        }
        size = " × ".join(format_count(total, noun) for noun, (_, total) in shown.items())
        parts = [format_count(number, noun) for noun, (number, total) in shown.items() if number < total]
        return f"{size}, of which {' and '.join(parts)} are here" if parts else size

    @property
    def column_names(self) -> list[str]:
        """The name of each column. Names of several levels are joined by ` / `. Empty for a column without a name."""
        levels: list[list[str]] = [[] for _ in range(self._width)]
        for row in self.header:
            for cell in row:
                for column in range(cell.column, cell.column + cell.columns):
                    if cell.is_header and cell.text:
                        levels[column].append(cell.text)
        return [" / ".join(texts) for texts in levels]

    @property
    def _width(self) -> int:
        return len(self.rows[0]) if self.rows else sum(cell.columns for cell in self.header[0]) if self.header else 0

    def column_name(self, column: int) -> str:
        """Return a substitute name for a column that has no text in the header."""
        return "Index" if column < self.index_columns else f"Column {column + 1}"


def is_number(text: str) -> bool:
    """Return whether the text is one number. `static/js/tables.js` must read the same texts as numbers."""
    return _NUMBER.fullmatch(text) is not None


def build_table(source: SourceTable, *, total_rows: int = 0, total_columns: int = 0) -> Table | None:
    """Return the table to be shown; `None` if it has no cell.

    `total_rows` and `total_columns`: the size of the data, if the output names it; otherwise the cells are counted.
    """
    header_lines = _expand(source.header)
    body_lines = _expand(source.body)
    width = max((max(line) + 1 for line in [*header_lines, *body_lines] if line), default=0)
    if not width:
        return None
    header_grid = _merge_index_names([_pad(line, width) for line in header_lines])
    rows = tuple(_texts(line, width) for line in body_lines)
    index_columns = _count_index_columns(body_lines, width)
    gap_rows = frozenset(number for number, row in enumerate(rows) if GAPS.issuperset(row))
    leaves = _find_leaves(header_grid, width)
    gap_columns = sum(leaf is not None and leaf.text in GAPS for leaf in leaves)
    counted_rows = len(rows) - len(gap_rows) + len(source.body) - len(body_lines) + source.left_out_rows
    return Table(
        caption=source.caption,
        header=tuple(_header_row(header_grid, number, leaves) for number in range(len(header_grid))),
        rows=rows,
        index_columns=index_columns,
        number_columns=_find_number_columns(rows, gap_rows, width),
        gap_rows=gap_rows,
        total_rows=max(total_rows, counted_rows),
        total_columns=max(total_columns, width - index_columns - gap_columns + source.left_out_columns),
        gap_columns=gap_columns,
    )


def _expand(rows: Sequence[Sequence[SourceCell]]) -> list[dict[int, SourceCell]]:
    """Return for each row a map of column -> cell, spanning cells repeated. Stop before `CELLS_LIMIT` is exceeded."""
    lines: list[dict[int, SourceCell]] = []
    carried: dict[int, tuple[SourceCell, int]] = {}
    total = 0
    for row in rows:
        line = {column: cell for column, (cell, _) in carried.items()}
        carried = {column: (cell, left - 1) for column, (cell, left) in carried.items() if left > 1}
        column = 0
        for cell in row:
            while column in line:
                column += 1
            end = min(column + cell.columns, COLUMNS_LIMIT)
            while column < end and column not in line:
                line[column] = cell
                if cell.rows > 1:
                    carried[column] = cell, cell.rows - 1
                column += 1
        total += len(line)
        if total > CELLS_LIMIT and lines:
            break
        lines.append(line)
    return lines


def _pad(line: Mapping[int, SourceCell], width: int) -> list[SourceCell]:
    return [line[column] if column in line else SourceCell("", is_header=True) for column in range(width)]


def _texts(line: Mapping[int, SourceCell], width: int) -> tuple[str, ...]:
    """Return the texts of a row of the body. A cell that spans columns has its text in the first of them."""
    texts: list[str] = []
    previous: SourceCell | None = None
    for column in range(width):
        cell = line.get(column)
        texts.append("" if cell is None or cell is previous else cell.text)
        previous = cell
    return tuple(texts)


def _count_index_columns(lines: Sequence[Mapping[int, SourceCell]], width: int) -> int:
    """Return the number of columns at the left that consist of header cells; 0 if all cells are header cells."""
    for column in range(width if lines else 0):
        if not all(column in line and line[column].is_header for line in lines):
            return column
    return 0


def _merge_index_names(grid: list[list[SourceCell]]) -> list[list[SourceCell]]:
    """Merge the last two rows of a header if no column has a text in both.

    pandas writes the names of the index into a row of their own, below the names of the columns.
    """
    if len(grid) < 2:
        return grid
    *others, upper, lower = grid
    for above, below in zip(upper, lower, strict=True):
        are_single = above.columns == above.rows == below.columns == below.rows == 1
        if not (are_single and above.is_header and below.is_header) or (above.text and below.text):
            return grid
    return [*others, [above if above.text else below for above, below in zip(upper, lower, strict=True)]]


def _find_leaves(grid: Sequence[Sequence[SourceCell]], width: int) -> list[SourceCell | None]:
    """Return for each column the lowest cell that names it, preferably one with a text."""
    leaves: list[SourceCell | None] = []
    for column in range(width):
        names = [row[column] for row in reversed(grid) if row[column].is_header]
        leaves.append(next((cell for cell in names if cell.text), names[0] if names else None))
    return leaves


def _header_row(
    grid: Sequence[Sequence[SourceCell]], number: int, leaves: Sequence[SourceCell | None]
) -> tuple[HeaderCell, ...]:
    """Return the cells that begin in a row of the header."""
    row = grid[number]
    cells: list[HeaderCell] = []
    column = 0
    while column < len(row):
        cell = row[column]
        end = column + 1
        while end < len(row) and row[end] is cell:
            end += 1
        if not number or grid[number - 1][column] is not cell:
            rows = next((below for below in range(number, len(grid)) if grid[below][column] is not cell), len(grid))
            sorts_column = column if leaves[column] is cell and end == column + 1 else None
            cells.append(HeaderCell(cell.text, cell.is_header, column, end - column, rows - number, sorts_column))
        column = end
    return tuple(cells)


def _find_number_columns(rows: Sequence[Sequence[str]], gap_rows: frozenset[int], width: int) -> frozenset[int]:
    """Return the columns that have a number and no other value besides missing ones."""
    found: set[int] = set()
    for column in range(width):
        values = [row[column] for number, row in enumerate(rows) if number not in gap_rows]
        present = [value for value in values if value.lower() not in MISSING]
        if present and all(map(is_number, present)):
            found.add(column)
    return frozenset(found)
