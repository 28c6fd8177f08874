"""Runs inside a kernel: read JSON, Excel and Parquet files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chat.python.kernels.in_kernel.table_source import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    Source,
    Unreadable,
    columns_of,
    duplicates_in,
    is_present,
    split_header,
)

if TYPE_CHECKING:
    import python_calamine

UNPACKED_LIMIT_BYTES = 256 * 1024 * 1024
SHEETS_SHOWN = 8

# --- JSON -------------------------------------------------------------------------------------------------------------


def read_json_file(data: bytes, name: str) -> Source:
    """Return the table in a JSON file in UTF-8, or in one with a JSON value on each line. Raises Unreadable."""
    text = data.decode(errors="replace")
    if not text.strip():
        raise Unreadable("it is empty.")
    try:
        value = parse_json(text)
        form = "JSON"
    except ValueError as error:
        value, form = parse_lines(text, error), "JSON lines"
    records, notes = find_records(value)
    names = list(dict.fromkeys(key for record in records for key in record))
    if not names:
        raise Unreadable("its JSON holds no row with a value.")
    limit = max(1, CELLS_LIMIT // len(names))
    examined = records[:limit]
    shown = names[:COLUMNS_LIMIT]
    return Source(
        format=form,
        names=shown,
        columns=[[record.get(key) for record in examined] for key in shown],
        row_count=len(records),
        column_count=len(names),
        examined_rows=len(examined),
        duplicate_rows=duplicates_in([record.get(key) for key in names] for record in examined),
        notes=notes,
    )


def parse_json(text: str) -> object:
    """Return the value. Raises ValueError, Unreadable."""
    try:
        return json.loads(text)
    except RecursionError:
        raise Unreadable("its JSON is nested too deeply.") from None


def parse_lines(text: str, error: ValueError) -> list[object]:
    """Return the values of a file with one JSON value on each line. Raises Unreadable."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        values = [parse_json(line) for line in lines]
    except ValueError:
        values = []
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        raise Unreadable(f"it is not valid JSON ({error}).")
    return values


def find_records(value: object) -> tuple[list[dict[str, object]], list[str]]:
    """Return the rows of a JSON value, and notes about where they are. Raises Unreadable."""
    if isinstance(value, list) and value:
        if all(isinstance(row, dict) for row in value):
            return value, []
        if all(isinstance(row, list) for row in value):
            names, rows, notes = split_header([row for row in value if any(map(is_present, row))] or [[""]])
            width = max(len(names), max(map(len, rows), default=0))
            names = [name or f"column {number}" for number, name in enumerate(names + [""] * (width - len(names)), 1)]
            return [dict(zip(names, row, strict=False)) for row in rows], notes
        if not any(isinstance(row, (dict, list)) for row in value):
            return [{"value": row} for row in value], []
    if isinstance(value, dict) and value:
        lists = {key: each for key, each in value.items() if isinstance(each, list)}
        if len(lists) == len(value) > 1 and len({len(each) for each in lists.values()}) == 1:
            return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)], []
        tables = [key for key, each in lists.items() if each and all(isinstance(row, dict) for row in each)]
        if len(tables) == 1:
            return value[tables[0]], [f"The rows are in the list “{tables[0][:80]}” of the JSON object."]
        if len(value) > 1 and all(isinstance(each, dict) for each in value.values()):
            note = "Each key of the JSON object is a row; the keys are the first column."
            return [{"key": key, **each} for key, each in value.items()], [note]
    raise Unreadable("its JSON holds no list of rows.")


# --- Excel ------------------------------------------------------------------------------------------------------------


def read_excel_file(path: str) -> Source:
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
    names, body, notes = split_header(rows)
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


# --- Parquet ----------------------------------------------------------------------------------------------------------


def read_parquet_file(path: str) -> Source:
    """Return the table in a Parquet file. Raises Unreadable, ImportError."""
    import pyarrow  # only these files need it
    import pyarrow.parquet  # as above

    try:
        file = pyarrow.parquet.ParquetFile(path)
        names = list(file.schema_arrow.names)
        width, row_count = len(names), file.metadata.num_rows
        limit = max(1, CELLS_LIMIT // max(1, min(width, COLUMNS_LIMIT)))
        columns: list[list[object]] = [[] for _ in names[:COLUMNS_LIMIT]]
        wanted = names[:COLUMNS_LIMIT] if width > COLUMNS_LIMIT else None
        for batch in file.iter_batches(batch_size=min(limit, 50_000), columns=wanted):
            for cells, column in zip(columns, batch.columns, strict=True):
                cells.extend(column.to_pylist())
            if len(columns[0]) >= limit:
                break
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Unreadable(f"it is not a valid Parquet file ({str(error)[:100]}).") from None
    if not names:
        raise Unreadable("it has no columns.")
    return Source(
        format="Parquet",
        names=names[:COLUMNS_LIMIT],
        columns=columns,
        row_count=row_count,
        column_count=width,
        examined_rows=len(columns[0]),
        duplicate_rows=duplicates_in(zip(*columns, strict=True)) if 1 < width <= COLUMNS_LIMIT else 0,
        notes=[],
    )
