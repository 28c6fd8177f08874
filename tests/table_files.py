"""Writes small table files for tests: spreadsheets, and archives."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from string import ascii_uppercase

from tests.tables.corpus.workbooks import Formula, Sheet, rewrite, write_ods, write_xlsx

Cell = str | int | float | bool | date | None
"""Value of a cell. Text that begins with `=` is a formula without a stored value, and with `#` an error."""


def excel_file(
    sheets: Mapping[str, Sequence[Sequence[Cell]]],
    *,
    padding_bytes: int = 0,
    states: Mapping[str, str] | None = None,
    merged: Sequence[str] = (),
    far_cell: str = "",
) -> bytes:
    """Return a workbook with these sheets.

    `padding_bytes`: size of a further part, which compresses well. `states`: `hidden` or `veryHidden` by the
    name of a sheet. `merged`: merged areas of each sheet, such as `A1:B2`. `far_cell`: address of one more number.
    """
    data = write_xlsx(
        [
            Sheet(name, [[*map(_cell, row)] for row in rows], merged, (states or {}).get(name, "visible"))
            for name, rows in sheets.items()
        ]
    )
    if far_cell:
        row = f'<row r="{far_cell.strip(ascii_uppercase)}"><c r="{far_cell}"><v>1</v></c></row>'
        data = rewrite(data, [("</sheetData>", f"{row}</sheetData>")], "/")
    file = io.BytesIO(data)
    if padding_bytes:
        with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/padding.bin", "w") as part:
            for _ in range(padding_bytes // 2**20):
                part.write(bytes(2**20))
    return file.getvalue()


def _cell(value: Cell) -> Cell | Formula:
    return Formula(value[1:]) if isinstance(value, str) and value.startswith("=") else value


def rename_parts(data: bytes, rename: Callable[[str], str]) -> bytes:
    """Return a workbook with renamed parts. Parts that mention `xl/workbook.xml` get its new name."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry).replace(b"xl/workbook.xml", rename("xl/workbook.xml").encode())
            new.writestr(rename(entry.filename), content)
    return file.getvalue()


def zip_file(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of files by their names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def opendocument_file(rows: str) -> bytes:
    """Return a spreadsheet of OpenDocument with one sheet, `S`. `rows`: its rows in XML."""
    last = "<table:table-row table:number-rows-repeated"
    return rewrite(write_ods([Sheet("S", [])]), [(last, rows + last)], "/")
