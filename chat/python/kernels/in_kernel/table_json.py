"""Runs inside a kernel: read the table in a JSON file."""

from __future__ import annotations

import json

from chat.python.kernels.in_kernel.table_layout import find_layout
from chat.python.kernels.in_kernel.table_source import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    Choices,
    Source,
    Unreadable,
    duplicates_in,
    is_present,
)


def read_json_file(data: bytes, choices: Choices) -> Source:
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
        reading={},
        candidates={},
        code="",
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
            layout = find_layout([row for row in value if any(map(is_present, row))] or [[""]])
            names, rows, notes = layout.names, layout.body, layout.notes
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
