"""Runs inside a kernel: reads the table in a workbook."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.python.kernels.in_kernel.table_sheet_cells import OpenFile, Sheet, load_sheets, open_sheets
from chat.python.kernels.in_kernel.table_sheet_code import sheet_code
from chat.python.kernels.in_kernel.table_sheet_merges import SheetRows, read_sheet_rows
from chat.python.kernels.in_kernel.table_sheet_parts import find_odd_cells, has_cells, is_locked, open_workbook
from chat.python.kernels.in_kernel.table_sheet_regions import Region, column_number, find_regions, region_cells
from chat.python.kernels.in_kernel.table_source import (
    COLUMNS_LIMIT,
    Choices,
    Source,
    Unreadable,
    columns_of,
    duplicates_in,
)

SHEETS_SHOWN = 8
CANDIDATES_SHOWN = 50
LOCKED = "it is protected by a password. Save it without the password, and attach it again."
UNSAVED = "its formulas have no values in the file. Open it in Excel and save it, and attach it again."
PLACE_IN_SHEET = re.compile(r"(.*) \(([A-Z]{1,3})([1-9]\d{0,6}):([A-Z]{1,3})([1-9]\d{0,6})\)", re.DOTALL)


def read_sheet_file(path: str, choices: Choices) -> Source:
    """Return the chosen table, or the largest one in the first sheet that has a table: visible sheets come first.

    Raises Unreadable if there is none, ImportError without the library.
    """
    import python_calamine  # only these files need it

    with open(path, "rb") as file:
        workbook = open_workbook(file.read())
    try:
        opened = open_sheets(workbook)
        sheet, regions, region = choose_table(opened, choices.get("sheet"))
    except python_calamine.PasswordError:
        raise Unreadable(LOCKED) from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        invalid = f"it is not a valid Excel file ({str(error)[:100]})."
        raise Unreadable(LOCKED if is_locked(workbook) else invalid) from None
    except BaseException as error:
        # The library is written in Rust, whose panics are not subclasses of `Exception`.
        if type(error).__name__ != "PanicException":
            raise
        raise Unreadable("it is a broken Excel file. Save or download it again.") from None
    return read_region(opened, sheet, regions, region, choices)


def read_region(opened: OpenFile, sheet: Sheet, regions: Sequence[Region], region: Region, choices: Choices) -> Source:
    """Return the table in a region of a sheet. `regions`: all tables of the sheet."""
    is_whole = not sheet.further_rows or region.bottom < len(sheet.grid) - 1
    place = (sheet.top + region.top, sheet.left + region.left)
    cells = region_cells(sheet.grid, region)
    rows = read_sheet_rows(cells, place, sheet.merged, choices.get("header_rows"), is_whole=is_whole)
    layout = rows.layout
    width = len(layout.names)
    name = sheet.name if len(regions) == 1 else sheet.table_name(region)
    others = regions_of_others(opened, sheet, regions, name)
    doubts = () if "header_rows" in choices else layout.other_header_rows
    candidates = {"sheet": others if len(others) > 1 else (), "header_rows": doubts}
    notes = [*opened.notes, *sheet_notes(opened, sheet), *region_notes(sheet, regions, region), *rows.notes]
    return Source(
        format="OpenDocument" if "content.xml" in opened.workbook.parts else "Excel",
        names=layout.names[:COLUMNS_LIMIT],
        columns=columns_of(layout.body, width, None),
        row_count=len(layout.body) + (0 if is_whole else sheet.further_rows),
        column_count=width,
        reading=Choices(sheet=name, header_rows=layout.header_rows),
        candidates={key: values for key, values in candidates.items() if values},
        code="" if opened.notes else sheet_code(sheet.name, rows, sheet.corner, opened.engine, is_whole=is_whole),
        duplicate_rows=duplicates_in(layout.body) if width > 1 else 0,
        notes=[*notes, *odd_notes(sheet, rows)],
        column_notes=layout.column_notes,
    )


def choose_table(opened: OpenFile, chosen: str | None) -> tuple[Sheet, list[Region], Region]:
    """Return a sheet, the regions of its tables, and the region that is read: the chosen or the largest one.

    Raises Unreadable if there is none.

    `chosen`: the name of a sheet, or of a table on it.
    """
    if chosen is not None:
        return choose_place(opened, chosen)
    fallback: tuple[Sheet, list[Region]] | None = None
    for names in (opened.visible, opened.hidden):
        for sheet in load_sheets(opened, names):
            regions = find_regions(sheet.grid)
            if len(regions) > 1 or has_table(sheet.grid):
                return sheet, regions, max(regions, key=lambda one: one.size)
            fallback = fallback or (sheet, regions)
        if fallback:
            return *fallback, fallback[1][0]
    is_unsaved = any(find_odd_cells(opened.workbook, name).unsaved for name in opened.visible)
    raise Unreadable(UNSAVED if is_unsaved else "its sheets are empty.")


def choose_place(opened: OpenFile, chosen: str) -> tuple[Sheet, list[Region], Region]:
    """Return the sheet, its regions, and the region that a person has chosen.

    Raises Unreadable if it does not exist.
    """
    names = [*opened.visible, *opened.hidden]
    place = PLACE_IN_SHEET.fullmatch(chosen) if chosen not in names else None
    name = place[1] if place else chosen
    if name not in names:
        raise Unreadable(f"it has no sheet “{name[:40]}”.")
    sheet = next(load_sheets(opened, [name]), None)
    if sheet is None:
        raise Unreadable(f"its sheet “{name[:40]}” is empty.")
    regions = find_regions(sheet.grid)
    if place is None:
        return sheet, regions, max(regions, key=lambda one: one.size)
    top, left = int(place[3]) - 1 - sheet.top, column_number(place[2]) - sheet.left
    bottom, right = int(place[5]) - 1 - sheet.top, column_number(place[4]) - sheet.left
    region = Region(max(top, 0), max(left, 0), min(bottom, len(sheet.grid) - 1), min(right, len(sheet.grid[0]) - 1))
    rows = sheet.grid[region.top : region.bottom + 1]
    if not any(cell is not None for row in rows for cell in row[region.left : region.right + 1]):
        raise Unreadable(f"its sheet “{name[:40]}” has no values there.")
    return sheet, regions if region in regions else [region, *regions], region


def has_table(grid: Sequence[Sequence[object]]) -> bool:
    """Return whether a sheet has two rows of several cells, which a cover sheet or a list does not have."""
    count = 0
    for row in grid:
        count += sum(cell is not None for cell in row) > 1
        if count > 1:
            return True
    return False


def sheet_notes(opened: OpenFile, sheet: Sheet) -> list[str]:
    """Return sentences about the sheets of a file."""
    notes = []
    visible, hidden = opened.visible, opened.hidden
    if len(visible) > 1 or (visible and sheet.name in hidden):
        notes.append(
            f"The file has {len(visible)} sheet{'s' if len(visible) > 1 else ''}: {listed(visible)}."
            f" This is “{sheet.name[:40]}”."
        )
    if len(hidden) > 1:
        notes.append(f"{len(hidden)} sheets are hidden: {listed(hidden)}.")
    elif hidden:
        notes.append(f"A sheet is hidden: {listed(hidden)}.")
    return notes


def listed(names: Sequence[str]) -> str:
    """Return the first names in quotes."""
    more = ", …" if len(names) > SHEETS_SHOWN else ""
    return ", ".join(f"“{name[:40]}”" for name in names[:SHEETS_SHOWN]) + more


def region_notes(sheet: Sheet, regions: Sequence[Region], region: Region) -> list[str]:
    """Return a list with a sentence if a sheet has several tables; else an empty list."""
    if len(regions) < 2:
        return []
    places = [sheet.place_of(one) for one in (*regions, region)]
    more = ", …" if len(regions) > SHEETS_SHOWN else ""
    return [
        f"The sheet has {len(regions)} tables: {', '.join(places[:-1][:SHEETS_SHOWN])}{more}. This is {places[-1]}."
    ]


def odd_notes(sheet: Sheet, rows: SheetRows) -> list[str]:
    """Return sentences about formulas without values, and about errors, in the columns of a table."""
    notes = []
    unsaved = rows.columns_at(sheet.odd.unsaved)
    if unsaved:
        notes.append(
            f"{unsaved} has formulas whose values are not stored in the file."
            " Open it in Excel and save it, and attach it again."
        )
    faults = rows.columns_at([place for place, _ in sheet.odd.faults])
    if faults:
        example = next(text for place, text in sheet.odd.faults if rows.columns_at([place]))
        notes.append(f"{faults} has errors such as “{example}”, which count as missing.")
    return notes


def regions_of_others(opened: OpenFile, sheet: Sheet, regions: Sequence[Region], name: str) -> list[str]:
    """Return the names of a table and of what can replace it: other tables of its sheet, other visible sheets.

    Hidden sheets are not offered: a person does not see them. They can be chosen by their names.
    """
    tables = sorted(regions, key=lambda one: -one.size) if len(regions) > 1 else []
    others = [*map(sheet.table_name, tables)]
    for other in opened.visible:
        if other != sheet.name and len(others) < CANDIDATES_SHOWN and has_cells(opened.workbook, opened.reader, other):
            others.append(other)
    return [name, *(other for other in others if other != name)]
