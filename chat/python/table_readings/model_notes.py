"""Describes for a model how a table is read, in one line of JSON. Pure.

The same reading gives the same line each time, so that the caches of providers stay valid.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from attachments.code_files import name_in_code
from attachments.models import Attachment
from chat.answering.code_tools import TableNote
from chat.python.kernels.in_kernel.table_source import pandas_names
from chat.python.kernels.table_code_guard import guard_code
from chat.python.kernels.table_reading import TableReading
from chat.python.table_readings.schema_code import is_schema_code
from chat.python.table_readings.table_json import type_of
from chat.vocabulary.data_json import SPACED, encode_data
from chat.vocabulary.file_labels import file_labels
from chat.vocabulary.parts import JSONObject

LINE_CHARS = 4_000
"""Maximum length of the line for one table: about 1,000 tokens."""
COLUMNS_LIMIT = 60
CODE_CHARS = 1_200
REFUSED = "The server cannot read it as a table."
NOTES_CHARS = 1_200
"""Maximum characters of the notes. Like `CODE_CHARS`, it leaves room for the names of usual columns."""


def read_expression(reading: TableReading, file: Attachment, label: str) -> str:
    """Return the expression that reads the table of an attachment with pandas; empty if none is known.

    `label`: the name of the file in the expression.
    """
    # The kernel that read the table got the file under this name.
    [name_in_kernel] = file_labels([name_in_code(file.name, file.mime_type)])
    return guard_code(reading.code, name_in_kernel, label)


def table_note(reading: TableReading, file: Attachment, label: str, *, is_private: bool = False) -> TableNote:
    """Return the note for a model about the table of an attachment. `label`: the name by which code finds the file.

    `is_private`: whether the note may contain only the schema. Other notes may quote cells.
    """
    if reading.error:
        refused = REFUSED if is_private else reading.error
        return TableNote(label, encode_data({"file": label, "refused": refused}, SPACED))
    # These are the names that pandas makes from the same header.
    names = pandas_names([column.name for column in reading.columns])
    named = list(zip(names, reading.columns, strict=True))
    notes = [*reading.notes, *(f"{name}: {column.note}" for name, column in named if column.note)]
    code = read_expression(reading, file, label)
    if is_private:
        notes, code = [], code if is_schema_code(code, label, names) else ""
    told_code = code if _size(code) <= CODE_CHARS else ""
    told_notes = _fitting(notes, NOTES_CHARS)
    is_cut = len(told_notes) < len(notes) or told_code != code

    def line_of(count: int) -> str:
        told = named[:count]
        return encode_data(
            {
                "file": label,
                "rows": reading.row_count,
                "columns": {name: type_of(column) for name, column in told},
                **({"read_as": told_code} if told_code else {}),
                **_present("roles", {name: column.role for name, column in told if column.role}),
                **({"notes": [*told_notes]} if told_notes else {}),
                **_present("missing", {name: column.missing for name, column in told if column.missing}),
                **({"cut": True} if is_cut or count < reading.column_count else {}),
            },
            SPACED,
        )

    # Try all columns first: a line with fewer columns may be longer, because it has "cut".
    count = min(len(named), COLUMNS_LIMIT)
    if len(line_of(count)) > LINE_CHARS:
        count = bisect_right(range(1, count + 1), LINE_CHARS, key=lambda count: len(line_of(count)))
    return TableNote(label, line_of(count), tuple(name for name, column in named[:count] if column.name))


def _present(key: str, values: JSONObject) -> JSONObject:
    return {key: values} if values else {}


def _size(text: str) -> int:
    """Return the number of characters of a text in the line, where JSON escapes some of them."""
    return len(encode_data({"": text}))


def _fitting(sentences: Sequence[str], limit_chars: int) -> list[str]:
    """Return the first sentences that fit into a number of characters."""
    fitting = []
    for sentence in sentences:
        limit_chars -= _size(sentence)
        if limit_chars < 0:
            break
        fitting.append(sentence)
    return fitting
