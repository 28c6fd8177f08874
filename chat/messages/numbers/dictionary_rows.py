"""Reads dictionaries in the outputs of code as rows, and names of columns that take two lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chat.messages.numbers.rows import VALUE, Row, normal_label, read_cell
from chat.messages.numbers.sources import with_spaces

_RECORD: Final = re.compile(
    r"(?:(?:['\"](?P<key>[^'\"\n{}]{1,60})['\"]|(?P<number>\d{1,6}))\s{0,9}:\s{0,9})?\{(?P<body>[^{}]{1,4000})\}"
)
_FIELD: Final = re.compile(
    r"['\"](?P<name>[^'\"\n]{1,60})['\"]\s{0,9}:\s{0,9}(?:(?:np\.\w{1,10}\()?"
    rf"(?:{VALUE}|(?P<none>nan|NaN|None|null)(?!\w))|['\"](?P<text>[^'\"\n]{{1,60}})['\"])"
)


def read_records(text: str) -> list[Row]:
    """Return the dictionaries in a text as rows if there are several, as in `{"Ulm": {"n": 1}, "Bonn": {"n": 2}}`."""
    rows: list[Row] = []
    for match in _RECORD.finditer(text):
        fields = list(_FIELD.finditer(text, match.start("body"), match.end("body")))
        numbers = [field for field in fields if not field["text"]]
        label = match["key"] or match["number"] or next((field["text"] for field in fields if field["text"]), "")
        if label and numbers:
            names = tuple(field["name"] for field in numbers)
            rows.append(Row(match.start(), normal_label(label), tuple(read_cell(one, 0) for one in numbers), names))
    return rows if len(rows) > 1 else []


def without_records(text: str, records: Sequence[Row]) -> str:
    """Return a text in which spaces replace the records. Other characters keep their positions."""
    parts: list[str] = []
    end = 0
    for row in records:
        parts.append(text[end : row.start])
        end = text.index("}", row.start) + 1
        parts.append(with_spaces(text[row.start : end]))
    return "".join([*parts, text[end:]])


def names_below(upper: Sequence[str], line: str, names: Sequence[str]) -> list[str]:
    """Return full names of columns from two header lines, of which the upper one names groups of columns.

    The result is empty if the groups are not of one size. `line`: the lower header line, which may begin with the name
    of the labels.
    """
    lower = names if line[:1].isspace() else names[1:]
    width, rest = divmod(len(lower), len(upper) or 1)
    return [f"{upper[n // width]} {name}" for n, name in enumerate(lower)] if width > 1 and not rest else []
