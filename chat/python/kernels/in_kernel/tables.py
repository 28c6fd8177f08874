"""Runs inside a kernel: describes the table in a file of the working directory, for a preview.

The modules `table_*` are joined with this one before they are sent to the kernel, see
`chat.python.kernels.kernel_program`. All values in the result have a limited size, because a file of a user can hold
anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_code import read_arguments
from chat.python.kernels.in_kernel.table_columns import decide_columns, describe_column
from chat.python.kernels.in_kernel.table_files import read_table
from chat.python.kernels.in_kernel.table_notes import column_note, describe_names, describe_oddities, describe_size
from chat.python.kernels.in_kernel.table_source import Choices, Source, Unreadable

NOTES_LIMIT = 16


def main(namespace: Mapping[str, object], name: str, choices_json: str) -> dict[str, object]:
    """Return the description of a table file, or `error`, the reason why it cannot be read.

    `choices_json`: the choices of a person, as JSON of `Choices`.
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


def describe(source: Source, name: str, choices: Choices) -> dict[str, object]:
    """Return the description of a table in the file of this name."""
    columns = [
        Column(cells, name=name, is_text_file=source.is_text, missing_words=choices.get("missing_words"))
        for name, cells in zip(source.names, source.columns, strict=True)
    ]
    reading, candidates = decide_columns(
        columns, choices, delimiter=source.reading.get("delimiter", ""), is_text=source.is_text
    )
    notes = [*source.notes, *describe_names(source), *describe_size(source), *describe_oddities(columns)]
    first_notes = [*source.column_notes, *[""] * len(columns)]
    more = read_arguments(columns, is_text_file=source.is_text)
    return {
        "format": source.format,
        "row_count": source.row_count,
        "column_count": source.column_count,
        "columns": [
            describe_column(column, column_note(column, first))
            for column, first in zip(columns, first_notes, strict=False)
        ],
        "notes": notes[:NOTES_LIMIT],
        "reading": {**reading, **source.reading},
        "candidates": {**candidates, **source.candidates},
        "code": filled_code(source.code, ascii(name), more),
    }


def filled_code(code: str, name: str, more: str) -> str:
    """Return the code of a source with the literal of the file's name and further arguments in their places.

    Only the first `NAME` and the last `MORE` are replaced: names of columns between them may contain these words.
    """
    start, place, end = code.rpartition("MORE")
    start, end = (start + more, end) if place else ("", end)
    return (start + end).replace("NAME", name, 1)
