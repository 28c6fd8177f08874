"""Runs inside a kernel: read spreadsheets."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chat.python.kernels.in_kernel.table_layout import find_layout
from chat.python.kernels.in_kernel.table_source import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    Choices,
    Source,
    Unreadable,
    columns_of,
    duplicates_in,
    is_present,
)

if TYPE_CHECKING:
    import python_calamine

UNPACKED_LIMIT_BYTES = 256 * 1024 * 1024
SHEETS_SHOWN = 8


def read_sheet_file(path: str, choices: Choices) -> Source:
    """Return the table in the first sheet that has one. Raises Unreadable, ImportError."""
    import python_calamine  # only these files need it

    check_archive(path)
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
        sheets = list(workbook.sheet_names)
        sheet, rows, row_count = next(read_sheets(workbook, sheets), ("", [], 0))
    except python_calamine.PasswordError:
        raise Unreadable("it is protected by a password.") from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise Unreadable(f"it is not a valid Excel file ({str(error)[:100]}).") from None
    if not rows:
        raise Unreadable("its sheets are empty.")
    layout = find_layout(rows)
    names, body, notes = layout.names, layout.body, layout.notes
    width = max(len(names), max(map(len, body), default=0))
    if len(sheets) > 1:
        more = ", …" if len(sheets) > SHEETS_SHOWN else ""
        listed = ", ".join(f"“{name[:40]}”" for name in sheets[:SHEETS_SHOWN]) + more
        notes = [f"The file has {len(sheets)} sheets: {listed}. This is “{sheet[:40]}”.", *notes]
    return Source(
        format="Excel",
        names=(names + [""] * (width - len(names)))[:COLUMNS_LIMIT],
        columns=columns_of(body, width, None),
        row_count=len(body) + row_count - len(rows),
        column_count=width,
        examined_rows=len(body),
        reading={},
        candidates={},
        code="",
        duplicate_rows=duplicates_in(body) if width > 1 else 0,
        notes=notes,
    )


def check_archive(path: str) -> None:
    """Refuse a file that unpacks to too much, or is no archive. Raises Unreadable."""
    try:
        with zipfile.ZipFile(path) as archive:
            size_bytes = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise Unreadable("it is not an Excel file.") from None
    if size_bytes > UNPACKED_LIMIT_BYTES:
        raise Unreadable(f"it unpacks to more than {UNPACKED_LIMIT_BYTES // 1024**2} MB.")


def read_sheets(
    workbook: python_calamine.CalamineWorkbook, names: Sequence[str]
) -> Iterator[tuple[str, list[list[object]], int]]:
    """Yield each sheet that has values: its name, its first rows, and its number of rows."""
    for name in names:
        sheet = workbook.get_sheet_by_name(name)
        limit = max(1, CELLS_LIMIT // max(1, sheet.width or 1))
        rows = sheet.to_python(nrows=limit)
        present = [[cell if is_present(cell) else None for cell in row] for row in rows if any(map(is_present, row))]
        if present:
            yield name, present, max(0, (sheet.height or 0) - len(rows)) + len(present)
