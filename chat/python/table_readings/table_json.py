"""The JSON of a table's reading in the REST API. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from chat.python.kernels.table_reading import Choice, TableColumn, TableReading
from chat.python.table_readings.suggestions import suggest_questions
from chat.python.table_readings.summaries import summarize

TYPES = {
    "whole number": "number",
    "number": "number",
    "date": "date",
    "date and time": "date",
    "time": "time",
    "yes or no": "boolean",
}
"""Types in the API, by the types of `TableColumn`. All others are `text`."""


REFUSED = "This file could not be read as a table:"
"""Beginning of the sentence about a refused table."""


class ColumnJSON(TypedDict):
    """A column of a table. See the documentation of the API."""

    name: str
    type: str
    role: str
    missing: int
    summary: str
    sample: list[str]
    note: str


class TableJSON(TypedDict):
    """A table's reading. See the documentation of the API."""

    state: str
    detail: str
    rows: int
    columns: list[ColumnJSON]
    notes: list[str]
    reading: dict[str, Choice]
    candidates: dict[str, Sequence[Choice]]
    questions: list[str]


def table_json(reading: TableReading) -> TableJSON:
    """Return the JSON of a reading that has ended."""
    return {
        "state": "refused" if reading.error else "read",
        "detail": f"{REFUSED} {reading.error}" if reading.error else "",
        "rows": reading.row_count,
        "columns": [_column_json(column) for column in reading.columns],
        "notes": list(reading.notes),
        "reading": dict(reading.reading),
        "candidates": dict(reading.candidates),
        "questions": suggest_questions(reading),
    }


def type_of(column: TableColumn) -> str:
    """Return the type of a column in the API: `number`, `text`, `date`, `time` or `boolean`."""
    return TYPES.get(column.type, "text")


def _column_json(column: TableColumn) -> ColumnJSON:
    return {
        "name": column.name,
        "type": type_of(column),
        "role": column.role,
        "missing": column.missing,
        # Not translated: programs get the same text in every language, also for a single value.
        "summary": f"{column.minimum} to {column.maximum}" if column.minimum else summarize(column),
        "sample": [example.text for example in column.examples],
        "note": column.note,
    }
