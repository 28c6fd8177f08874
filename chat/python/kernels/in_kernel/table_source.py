"""Runs inside a kernel: types and helpers that the modules for all kinds of table files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypedDict

CELLS_LIMIT = 2_000_000
"""Maximum number of cells that are examined. Later rows are only counted."""
COLUMNS_LIMIT = 100
"""Maximum number of columns that are described. Later columns are only counted."""

INVISIBLE = (
    "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
"""Characters that people do not see, such as those of writing directions."""


class Unreadable(Exception):
    """The file cannot be read as a table; the message is the end of a sentence that says why."""


class Choices(TypedDict, total=False):
    """How a table is read, as a person chose or as the program decided; see the contract of the REST API.

    The program decides about keys that are absent.
    """

    encoding: str
    """The name of the encoding for people. It is decided, and applied, before the file is in the kernel."""
    delimiter: str
    """The character between two cells."""
    decimal: str
    """The decimal mark, `.` or `,`."""
    header_rows: int
    """Number of rows that hold the names of columns; 0 for none."""
    date_order: str
    """The order of day, month and year: `DMY`, `MDY` or `YMD`."""
    missing_words: list[str]
    """Texts that mean a missing value, like empty cells."""
    sheet: str
    """The name of a sheet, or of one of several tables on it."""
    path: str
    """The path of the rows in a JSON value: keys, separated by points."""


class Source(NamedTuple):
    """A table as it was read."""

    format: str
    """The name of the format that people see."""
    names: Sequence[str]
    """Names of the first `COLUMNS_LIMIT` columns; empty texts for columns without one."""
    columns: Sequence[Sequence[object]]
    """The cells of these columns, in the examined rows."""
    row_count: int
    column_count: int
    reading: Choices
    """How the file was read."""
    candidates: Mapping[str, Sequence[object]]
    """Values that fit the file, by the keys of `reading`, the most probable first; some lists lack the value in use."""
    code: str
    """An expression that reads the same table with pandas: `pd.read_csv(NAME, sep=";"MORE)`.

    `NAME` is replaced by the file's name as a literal, `MORE` by the arguments that the values of the columns need.
    `import json, pandas as pd` comes before it. Empty if there is no such expression, such as for JSON with comments.
    """
    duplicate_rows: int = 0
    notes: Sequence[str] = ()
    """Sentences about the file."""
    is_text: bool = False
    """Whether all cells of the format are texts, because it has no types for numbers and dates."""
    column_notes: Sequence[str] = ()
    """A note on each column, such as its unit; empty texts for most. May be shorter than `names`."""

    @property
    def examined_rows(self) -> int:
        """The number of rows in `columns`. Later rows are only counted."""
        return len(self.columns[0])


def duplicates_in(rows: Iterable[Sequence[object]]) -> int:
    """Return the number of rows that equal an earlier row; 0 if rows hold values that cannot be compared."""
    seen: set[tuple[object, ...]] = set()
    count = 0
    try:
        for row in rows:
            count += 1
            seen.add(tuple(row))
    except TypeError:
        return 0
    return count - len(seen)


def columns_of(rows: Sequence[Sequence[object]], width: int, missing: str | None) -> list[Sequence[object]]:
    """Return the first columns of rows, which may have different lengths."""
    limit = min(width, COLUMNS_LIMIT)
    # Add a row with all columns, so that no column is missing.
    columns = zip_longest([missing] * limit, *(row[:limit] for row in rows), fillvalue=missing)
    return [column[1:] for column in columns] if rows else [() for _ in range(limit)]


def pandas_names(names: Sequence[str]) -> list[str]:
    """Return the names that pandas gives columns: `Unnamed: 1` for an empty one, `a.1` for a repeated one."""
    shown = [name or f"Unnamed: {at}" for at, name in enumerate(names)]
    taken = set(shown)
    counts: Counter[str] = Counter()
    for at in sorted(range(len(names)), key=lambda at: not names[at]):
        name = stem = shown[at]
        count = counts[stem]
        while count:
            counts[stem] = count + 1
            name = f"{stem}.{count}"
            count = count + 1 if name in taken else counts[name]
        shown[at] = name
        taken.add(name)
        counts[name] = count + 1
    return shown


def is_present(cell: object) -> bool:
    """Return whether a cell has a value."""
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def name_of(cell: object) -> str:
    """Return the text of a cell of the header. Spreadsheets store the year 2024 as 2024.0."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip().strip(INVISIBLE).strip() if is_present(cell) else ""
