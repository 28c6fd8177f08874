"""Runs inside a kernel: writes sentences about a table and its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_columns import clip_text
from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT, Source

WIDE_COLUMNS = 50
NAMED_COLUMNS = 2
"""Maximum number of columns that a note names. The others are counted."""
COLUMN_NOTE_LIMIT_CHARS = 400
EXCEPTIONS_SHOWN = 3
"""Maximum number of columns with exceptions that each have a note."""
SENTENCES = {
    "mixed": "{columns} mix{s} numbers or dates with other text, such as “{example}”.",
    "decimal or thousands": "Decimals and thousands cannot be told apart in {columns}: “{example}”.",
    "day or month": "Day and month cannot be told apart in {columns}: “{example}”.",
    "comma": "{columns} ha{ve} decimal commas, such as “{example}”.",
    "dot thousands": "{columns} ha{ve} points between thousands, such as “{example}”.",
    "comma thousands": "{columns} ha{ve} commas between thousands, such as “{example}”.",
    "other thousands": "{columns} ha{ve} spaces or other marks between thousands, such as “{example}”.",
    "marks": "{columns} ha{ve} marks between thousands that code must remove, such as “{example}”.",
    "comma and point": "{columns} mix{s} decimal commas and decimal points, such as “{example}”.",
    "unit": "{columns} ha{ve} currency or percent signs, such as “{example}”, which code must remove.",
    "units": "{columns} mix{s} currencies or units, such as “{example}”.",
    "measure": "{columns} ha{ve} numbers with a unit, such as “{example}”, which code must remove.",
    "brackets": "{columns} ha{ve} negative numbers in brackets, such as “{example}”, which code must convert.",
    "trailing": "{columns} ha{ve} negative numbers with the sign at the end, such as “{example}”.",
    "dash": "{columns} ha{ve} amounts with a dash in place of decimals, such as “{example}”, which code must remove.",
    "huge": "{columns} ha{ve} numbers that are too large for code, such as “{example}”.",
    "infinite": "{columns} ha{ve} infinite values, such as “{example}”.",
    "zeros": "{columns} ha{ve} numbers that begin with zeros, such as “{example}”: read as numbers, they lose them.",
    "number as text": "{columns} ha{ve} numbers that are stored as text, such as “{example}”.",
    "date as text": "{columns} ha{ve} dates that are stored as text, such as “{example}”.",
    "date form": "{columns} ha{ve} dates like “{example}”, which are read as text unless their form is named.",
    "date formats": "{columns} ha{ve} dates in several forms, such as “{example}”.",
    "zones": "{columns} ha{ve} times of several time zones, such as “{example}”.",
    "missing word": "Missing values in {columns} are written as “{example}”.",
    "other decimal": "Values of {columns} such as “{example}” are no numbers with the chosen decimal sign.",
    "sentinel": "{columns} may have missing values that are written as “{example}”. They are read as numbers.",
    "signs": "{columns} ha{ve} digits of another script or invisible characters, such as “{example}”,"
    " which code must convert.",
    "spaces": "{columns} ha{ve} spaces around values, such as around “{example}”.",
}
"""The sentence about each oddity of columns, by its code."""


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


def describe_oddities(columns: Sequence[Column]) -> list[str]:
    """Return one note for each kind of oddity."""
    named = [(column.name or f"column {number}", column) for number, column in enumerate(columns, 1)]
    notes = []
    empty = [name for name, column in named if column.kind == "empty" and column.missing]
    if empty:
        notes.append(f"{quote(empty)} {'has' if len(empty) == 1 else 'have'} no value at all.")
    incomplete = [(name, column.missing) for name, column in named if column.missing and name not in empty]
    if incomplete:
        count = sum(missing for _, missing in incomplete)
        notes.append(f"Missing values: {count:,}, in {quote([name for name, _ in incomplete])}.")
    exceptions = [sentence for name, column in named for sentence in describe_exceptions(name, column)]
    notes += exceptions[:EXCEPTIONS_SHOWN]
    nested = [name for name, column in named if column.kinds["nested"]]
    if nested:
        notes.append(f"{quote(nested)} hold{'s' if len(nested) == 1 else ''} lists or objects in its cells.")
    for code in SENTENCES:
        if found := [(name, column.oddities[code]) for name, column in named if code in column.oddities]:
            notes.append(sentence_of(code, [name for name, _ in found], found[0][1]))
    return notes


def describe_exceptions(name: str, column: Column) -> list[str]:
    """Return a list with a sentence about values of another type; an empty list if there are none."""
    shown = column.oddities.get(f"no {column.group}")
    if not shown:
        return []
    return [f"{quote([name])} has {column.group}s, and {count_of(column.word_count, 'other value')}: “{shown}”."]


def column_note(column: Column, first: str) -> str:
    """Return the note on one column. `first`: the beginning, one of `Source.column_notes`."""
    name = column.name or "column"
    sentences = [first] * bool(first) + describe_exceptions(name, column)
    sentences += [sentence_of(code, [name], column.oddities[code]) for code in SENTENCES if code in column.oddities]
    note = ""
    for sentence in sentences:
        longer = f"{note} {sentence}".strip()
        note = longer if len(longer) <= COLUMN_NOTE_LIMIT_CHARS else note
    return note


def sentence_of(code: str, names: Sequence[str], example: str) -> str:
    """Return the sentence about an oddity of these columns."""
    is_one = len(names) == 1
    parts = {"s": "es" if is_one else "", "ve": "s" if is_one else "ve"}
    return SENTENCES[code].format(columns=quote(names), example=clip_text(example), **parts)


def quote(names: Sequence[str]) -> str:
    """Return names in quotes; if there are many, the first ones and a count: “a”, “b” and 3 other columns."""
    shown = [f"“{clip_text(name)}”" for name in names[:NAMED_COLUMNS]]
    rest = len(names) - len(shown)
    if rest:
        shown.append(count_of(rest, "other column"))
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def count_of(number: int, noun: str) -> str:
    """Return a number with a noun: `1 column` or `2 columns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
