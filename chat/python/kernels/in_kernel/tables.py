"""Runs inside a kernel: describe the table in a file of the working directory, for a preview.

The modules `table_*` are joined with this one before they are sent to the kernel, see
`chat.python.kernels.kernel_program`. Everything that the answer holds has a limited size: a file of a user can hold
anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from chat.python.kernels.in_kernel.table_arrow import BINARY_SUFFIXES, read_binary_file
from chat.python.kernels.in_kernel.table_columns import Column, clip
from chat.python.kernels.in_kernel.table_json import read_json_file
from chat.python.kernels.in_kernel.table_sheets import read_sheet_file
from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT, Choices, Source, Unreadable
from chat.python.kernels.in_kernel.table_text import read_text_file

NOTES_LIMIT = 16
JSON_SUFFIXES = ("json", "jsonl", "ndjson")
HEAD_BYTES = 16
"""The first bytes of a file name the formats that are not text."""
WIDE_COLUMNS = 50
NAMED_COLUMNS = 2
"""Columns that a note names. It counts the others."""
SENTENCES = {
    "mixed": "{columns} mix{s} numbers or dates with other text, such as “{example}”.",
    "comma": "{columns} ha{ve} decimal commas, such as “{example}”.",
    "dot thousands": "{columns} ha{ve} points between thousands, such as “{example}”.",
    "comma thousands": "{columns} ha{ve} commas between thousands, such as “{example}”.",
    "other thousands": "{columns} ha{ve} spaces or other marks between thousands, such as “{example}”.",
    "comma and point": "{columns} mix{s} decimal commas and decimal points, such as “{example}”.",
    "unit": "{columns} ha{ve} currency or percent signs, such as “{example}”.",
    "zeros": "{columns} ha{ve} numbers that begin with zeros, such as “{example}”: read as numbers, they lose them.",
    "number as text": "{columns} ha{ve} numbers that are stored as text, such as “{example}”.",
    "date as text": "{columns} ha{ve} dates that are stored as text, such as “{example}”.",
    "date form": "{columns} ha{ve} dates like “{example}”, which are read as text unless their form is named.",
    "date formats": "{columns} ha{ve} dates in several forms, such as “{example}”.",
    "day or month": "Day and month cannot be told apart in {columns}, such as in “{example}”.",
    "missing word": "Missing values in {columns} are written as “{example}”.",
    "spaces": "{columns} ha{ve} spaces around values, such as around “{example}”.",
}
"""What is said of an oddity of columns, by its code."""


def main(namespace: Mapping[str, object], name: str, choices_json: str) -> dict[str, object]:
    """Return the description of a table file, or `error`: why it cannot be read.

    `choices_json`: the choices of a person, `Choices` as JSON.
    """
    choices: Choices = json.loads(choices_json)
    try:
        return describe(read_table(name, choices), name, choices)
    except Unreadable as reason:
        return {"error": str(reason)}
    except ImportError:
        return {"error": "packages for this format are missing where code runs.", "is_lasting": False}
    except MemoryError:
        return {"error": "it needs too much memory.", "is_lasting": False}
    except RecursionError:
        return {"error": "it is nested too deeply."}


def read_table(name: str, choices: Choices) -> Source:
    """Read a file, whose format is decided by its content. Raises Unreadable, ImportError."""
    suffix = name.lower().rpartition(".")[2]
    with open(name, "rb") as file:
        if source := read_binary_file(name, file.read(HEAD_BYTES), suffix):
            return source
        file.seek(0)
        data = file.read()
    if data.startswith(b"PK\x03\x04"):
        return read_sheet_file(name, choices)
    if suffix in (*BINARY_SUFFIXES, "xlsx"):
        raise Unreadable(f"its name ends in .{suffix}, but its content has another format.")
    return read_plain_file(data, name, suffix, choices)


def read_plain_file(data: bytes, name: str, suffix: str, choices: Choices) -> Source:
    """Read a text in UTF-8: JSON or delimited text, by its content if its name is wrong. Raises Unreadable."""
    first, is_json = data.lstrip()[:1], suffix in JSON_SUFFIXES
    if not is_json and first not in (b"[", b"{"):
        return read_text_file(data, name, choices)
    try:
        source = read_json_file(data, suffix, choices)
    except Unreadable:
        if is_json and first in (b"[", b"{", b""):
            raise
        if first == b"<":
            raise Unreadable(f"its name ends in .{suffix}, but its content is HTML or XML.") from None
        source = read_text_file(data, name, choices)
        if is_json and source.column_count < 2:
            raise
    if is_json == source.format.startswith("JSON"):
        return source
    note = f"The name of the file ends in .{suffix}, but its content is {source.format}."
    return source._replace(notes=[note, *source.notes])


def describe(source: Source, name: str, choices: Choices) -> dict[str, object]:
    """Return the description of a table in the file of this name."""
    columns = [Column(cells, is_text_file=source.is_text) for cells in source.columns]
    notes = [*source.notes, *describe_names(source), *describe_size(source), *describe_oddities(source.names, columns)]
    return {
        "format": source.format,
        "row_count": source.row_count,
        "column_count": source.column_count,
        "columns": [column.describe(name) for name, column in zip(source.names, columns, strict=True)],
        "notes": notes[:NOTES_LIMIT],
        "reading": source.reading,
        "candidates": source.candidates,
        "code": source.code.replace("NAME", ascii(name)).replace("MORE", ""),
    }


def describe_names(source: Source) -> list[str]:
    """Return notes about names of columns."""
    notes = []
    unnamed = [number for number, name in enumerate(source.names, start=1) if not name.strip()]
    if unnamed:
        listed = ", ".join(map(str, unnamed[:5])) + (", …" if len(unnamed) > 5 else "")
        notes.append(f"{count_of(len(unnamed), 'column')} without a name: {listed}.")
    repeated = [name for name, count in Counter(source.names).items() if count > 1 and name.strip()]
    if repeated:
        notes.append(f"More than one column is named {quote(repeated)}.")
    return notes


def describe_size(source: Source) -> list[str]:
    """Return notes about the numbers of rows and columns."""
    notes = []
    if not source.row_count:
        notes.append("There are names of columns, but no rows.")
    if source.examined_rows < source.row_count and source.examined_rows:
        notes.append(f"Only the first {source.examined_rows:,} rows were examined.")
    if source.column_count > COLUMNS_LIMIT:
        notes.append(f"Only the first {COLUMNS_LIMIT} of {source.column_count:,} columns were examined.")
    elif source.column_count > WIDE_COLUMNS:
        notes.append(f"The table is wide: {source.column_count} columns.")
    if source.duplicate_rows:
        is_one = source.duplicate_rows == 1
        notes.append(f"{source.duplicate_rows:,} row{' equals' if is_one else 's equal'} an earlier row.")
    return notes


def describe_oddities(names: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """Return one note for each kind of oddity."""
    named = [
        (name or f"column {number}", column)
        for number, (name, column) in enumerate(zip(names, columns, strict=True), 1)
    ]
    notes = []
    empty = [name for name, column in named if column.kind == "empty" and column.missing]
    if empty:
        notes.append(f"{quote(empty)} {'has' if len(empty) == 1 else 'have'} no value at all.")
    nested = [name for name, column in named if column.kinds["nested"]]
    if nested:
        notes.append(f"{quote(nested)} hold{'s' if len(nested) == 1 else ''} lists or objects in its cells.")
    for code, sentence in SENTENCES.items():
        found = [(name, column.oddities[code]) for name, column in named if code in column.oddities]
        if found:
            is_one = len(found) == 1
            parts = {"s": "es" if is_one else "", "ve": "s" if is_one else "ve"}
            example = clip(found[0][1])
            notes.append(sentence.format(columns=quote([name for name, _ in found]), example=example, **parts))
    return notes


def quote(names: Sequence[str]) -> str:
    """Return names in quotes, the first of them if they are many: “a”, “b” and 3 other columns."""
    shown = [f"“{clip(name)}”" for name in names[:NAMED_COLUMNS]]
    rest = len(names) - len(shown)
    if rest:
        shown.append(count_of(rest, "other column"))
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def count_of(number: int, noun: str) -> str:
    """Return `1 column` or `2 columns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
