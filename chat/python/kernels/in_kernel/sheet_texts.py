"""Runs inside a kernel: returns the cells of a workbook as text, one line for each row, with tabs between the cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chat.python.kernels.in_kernel.table_sheet_cells import load_sheets, open_sheets
from chat.python.kernels.in_kernel.table_sheet_parts import open_workbook

SHEETS_LIMIT_CHARS = 500_000


def main(namespace: Mapping[str, object], name: str) -> dict[str, object]:
    """Return the `text` of the visible sheets, with an empty line between two sheets; empty if they are too large."""
    with open(name, "rb") as file:
        opened = open_sheets(open_workbook(file.read()))
    blocks: list[str] = []
    for sheet in load_sheets(opened, opened.visible):
        blocks.append("\n".join(lines_of(sheet.grid)))
        if sheet.further_rows or sum(map(len, blocks)) > SHEETS_LIMIT_CHARS:
            return {"text": ""}
    return {"text": "\n\n".join(blocks)}


def lines_of(grid: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the rows that have values."""
    for row in grid:
        if any(cell is not None for cell in row):
            yield "\t".join(map(written, row)).rstrip("\t")


def written(cell: object) -> str:
    """Return a cell as text on one line. Workbooks store all numbers as floats, so whole ones lose their `.0`."""
    if isinstance(cell, float):
        return f"{cell:.15g}"
    return "" if cell is None else " ".join(str(cell).split())
