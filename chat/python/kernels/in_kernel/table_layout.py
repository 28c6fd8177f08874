"""Runs inside a kernel: finds the names of columns, and the first and last row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_ends import count_after, count_short, describe_totals_within
from chat.python.kernels.in_kernel.table_grid import Grid, excerpt
from chat.python.kernels.in_kernel.table_source import is_present, name_of
from chat.python.kernels.in_kernel.table_words import is_machine_like, is_text_like, is_unit_like

HEADER_ROWS_LIMIT = 3
"""Maximum number of rows of names, except those that pandas wrote. A person can choose more."""


class Layout(NamedTuple):
    """The parts of a table: rows above the names, rows of names, rows below them, body, and rows after it."""

    names: list[str]
    """Names of the columns; empty texts for columns without one."""
    body: Sequence[Sequence[object]]
    """The rows of the table, without totals, footers, units and similar rows."""
    header_rows: int
    """Number of rows that hold the names; 0 if there are none and the columns are numbered."""
    first: int
    """Number of rows above the names, or above the body if there are none."""
    below: int
    """Number of rows between the names and the body, such as units."""
    notes: list[str]
    """Sentences about rows that were left out."""
    after: int = 0
    """Number of rows after the body, such as totals and sources."""
    repeated: Sequence[int] = ()
    """Positions, among all rows, of rows that are left out of the body, such as repeated headers."""
    column_notes: Sequence[str] = ()
    """A note on each of the columns, such as its unit; empty texts for most. May be shorter than `names`."""
    other_header_rows: Sequence[int] = ()
    """Other possible numbers of rows of names, if the number is not certain."""

    @property
    def body_positions(self) -> Sequence[int]:
        """The positions of the rows of the body among all rows."""
        start = self.first + self.header_rows + self.below
        positions = range(start, start + len(self.body) + len(self.repeated))
        left_out = frozenset(self.repeated)
        return [at for at in positions if at not in left_out] if left_out else positions


class Header(NamedTuple):
    """The position of the rows of names: the first row, their number, and the number of rows from them to the body."""

    first: int
    rows: int
    below: int
    others: Sequence[int] = ()


def find_layout(
    rows: Sequence[Sequence[object]],
    header_rows: int | None = None,
    *,
    is_whole: bool = True,
    gaps: Sequence[int] = (),
) -> Layout:
    """Return the layout of `rows`: one row or more, each with a value.

    Cells are Python values, or texts of values.

    `header_rows`: the number that a person has chosen. `is_whole`: whether the rows include the table's last one.
    `gaps`: positions of rows that follow blank lines or other left-out lines.
    """
    grid = Grid(rows)
    header = choose_rows(find_header(grid), header_rows, rows)
    first, count, below, others = header
    start = first + count + below
    names = join_names(rows[first : first + count])
    if not count:
        names = [f"column {number}" for number in range(1, max(grid.extents[start:], default=0) + 1)]
    repeated = find_repeated(rows, start, rows[first : first + count])
    body = rows[start:] if not repeated else [row for at, row in enumerate(rows[start:], start) if at not in repeated]
    short = count_short(rows[start:], [at - start for at in gaps])
    after, end_notes = count_after(body, grid, is_whole=is_whole, short=short)
    end = len(body) - after
    notes = [*describe_above(rows, header, names), *describe_repeated(len(repeated)), *end_notes]
    units = [
        describe_unit([row[at] for row in rows[first + count : start] if at < len(row)]) for at in range(len(names))
    ]
    body = body[:end] if after else body
    notes += describe_totals_within(body)
    kept = sorted(at for at in repeated if at < len(rows) - after)
    return Layout(names, body, count, first, below, notes, after, kept, units if any(units) else (), others)


def find_header(grid: Grid) -> Header:
    """Return the position of the names: above the first row whose values have the kinds of their columns."""
    body = grid.find_body()
    if body is None:
        # All columns are texts, so the names are the first row of full width.
        first = next(at for at, extent in enumerate(grid.extents) if extent >= grid.width)
        first += grid.is_second_of_names(first + 1) if first + 1 < len(grid.rows) else 0
        return add_groups(grid, Header(first, 1, 0))
    if levels := grid.count_levels(body):
        return Header(body - levels, levels, 0)
    last = body - 1
    while last > 0 and is_below_names(grid, last):
        last -= 1
    has_names = last >= 0 and grid.can_be_names(last)
    if grid.has_counted_names(body) and not (has_names and body - 1 == last and grid.is_full(last)):
        return add_groups(grid, Header(body, 1, 0, () if grid.has_years(body) else (0,)))
    if has_names:
        return add_groups(grid, Header(last, 1, body - 1 - last))
    if len(grid.rows) == body + 1 and "text" in grid.kinds[body]:
        return Header(body, 1, 0)
    return Header(body, 0, 0, (1,) if "text" in grid.kinds[body] else ())


def is_below_names(grid: Grid, at: int) -> bool:
    """Return whether a row above the body holds units, kinds of values, descriptions or numbers of the columns."""
    if grid.is_numbering(at):
        return True
    above = at - 1
    if not (grid.is_full(above) and grid.is_text(above) and grid.is_distinct(above)):
        return False
    is_comment = [name_of(grid.rows[row][0]).startswith("#") for row in (above, at)]
    if grid.extents[above] < grid.extents[at] or (is_comment[0] and not is_comment[1]):
        return False
    if is_machine_row(grid, at):
        return True
    cells = [str(cell).strip() for cell in grid.rows[at] if is_present(cell)]
    names = [str(cell).strip() for cell in grid.rows[above] if is_present(cell)]
    is_described = at + 1 < len(grid.rows) and is_machine_row(grid, at + 1)
    return is_described or is_unit_like(cells) or (len(cells) > 1 and is_text_like(cells, names))


def is_machine_row(grid: Grid, at: int) -> bool:
    """Return whether a row is meant for programs, such as `{"ImportId":"QID1"}` in the export of a survey."""
    return is_machine_like([name_of(cell) for cell in grid.rows[at] if is_present(cell)])


def add_groups(grid: Grid, header: Header) -> Header:
    """Add rows of names above the found one, such as years, each of which is above several columns."""
    first = header.first
    while first > 0 and header.first + 1 - first < HEADER_ROWS_LIMIT and grid.is_group_row(first - 1):
        first -= 1
    return header._replace(first=first, rows=header.rows + header.first - first)


def choose_rows(found: Header, header_rows: int | None, rows: Sequence[Sequence[object]]) -> Header:
    """Return the header with the number of rows that a person has chosen.

    If more rows were chosen than found, the rows above the found ones are added if they have several cells, else the
    rows below.
    """
    if header_rows is None or header_rows == found.rows:
        return found
    count = max(0, min(header_rows, len(rows)))
    if count < found.rows:
        return Header(found.first, count, 0)
    first = found.first
    while first > 0 and found.first + found.rows - first < count and sum(map(is_present, rows[first - 1])) > 1:
        first -= 1
    end = min(len(rows), max(found.first + found.rows, first + count))
    return Header(first, end - first, max(0, found.first + found.rows + found.below - end))


def join_names(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the names of columns, joined from top to bottom: `2023 / units`.

    A name in an upper row counts for the columns to its right as well, up to the next one. If the last row names only
    the first column, as pandas writes the name of an index, the cells above it name the rows of names and are left out.
    """
    if len(rows) > 1 and [at for at, cell in enumerate(rows[-1]) if is_present(cell)] == [0]:
        return [name_of(rows[-1][0]), *join_names([["", *row[1:]] for row in rows[:-1]])[1:]]
    width = max(map(len, rows), default=0)
    while width and not any(len(row) >= width and is_present(row[width - 1]) for row in rows):
        width -= 1
    table = [[name_of(cell) for cell in row[:width]] + [""] * (width - len(row)) for row in rows]
    for upper, lower in pairwise(table):
        group = ""
        for at, name in enumerate(upper):
            if name:
                group = name if lower[at] else ""
            elif lower[at]:
                upper[at] = group
    names = [" / ".join(dict.fromkeys(name for name in column if name)) for column in zip(*table, strict=True)]
    # A comment can name the columns: `# time, speed`.
    return [names[0].removeprefix("# ").strip(), *names[1:]] if names else []


def find_repeated(rows: Sequence[Sequence[object]], start: int, header: Sequence[Sequence[object]]) -> frozenset[int]:
    """Return the positions of rows from `start` on that repeat the last row of names, as in concatenated files.

    They may begin with a form feed, which starts a new page.
    """
    if not header:
        return frozenset()
    names = list(header[-1])
    if sum(map(is_present, names)) < 2:
        return frozenset()
    firsts = names[0], f"\f{names[0]}"
    return frozenset(at for at, row in enumerate(rows[start:], start) if row[0] in firsts and [*row[1:]] == names[1:])


def describe_repeated(count: int) -> list[str]:
    """Return a note about repeated headers."""
    if not count:
        return []
    return [f"The names of columns are repeated in {count:,} row{'' if count == 1 else 's'} below, left out here."]


def describe_above(rows: Sequence[Sequence[object]], header: Header, names: Sequence[str]) -> list[str]:
    """Return notes about the rows above the body."""
    first, count, below, _ = header
    notes = []
    where = "names of columns" if count else "table"
    for parts, place, what in (
        (rows[:first], f"above the {where}", "left out"),
        (rows[first + count : first + count + below], f"below the {where}", "read as units or descriptions"),
    ):
        if parts:
            subject = "A row" if len(parts) == 1 else f"{len(parts)} rows"
            notes.append(f"{subject} {place} {'is' if len(parts) == 1 else 'are'} {what}: {excerpt(parts)}.")
    if count > 1:
        joined = next((name for name in names if " / " in name), names[0])
        notes.append(f"The names of columns are joined from {count} rows, such as “{joined[:80]}”.")
    if not count:
        notes.append("The first row holds values and no names, so the columns are numbered.")
    return notes


def describe_unit(cells: Sequence[object]) -> str:
    """Return the note on a column, from the cells below its name, such as `m/s, Avg`."""
    texts = [name for name in map(name_of, cells) if not is_machine_like([name])]
    return ", ".join(dict.fromkeys(text for text in texts if text.strip("-=+|: ") and not text.isdecimal()))[:80]
