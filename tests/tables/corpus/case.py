"""One file of the corpus with its labels, and how labels are derived from the values that a file was made of."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal

# A value of a file's table. None is a missing value.
Value = str | int | float | bool | Decimal | date | time | None
Rows = Sequence[Sequence[Value]]
# A column's name, or its position from 0 where the file gives no plain name.
Column = str | int
# A name that must be equal, several parts that must all occur in it, or None where any name will do.
Name = str | tuple[str, ...] | None
# Least and greatest: numbers as they are written in Python, dates in ISO 8601.
Range = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """A file and what a right reading of it says. A label that is absent is not checked.

    `rows` holds every number of rows that is defensible. `texts` holds a text that must occur in a column's cells, or
    all its cells. `asks` names what the file alone does not decide: candidates or a note must be given for one of these
    keys. One of the words in `must_note` (lower case) must occur in the notes. `refusal` means that the file holds no
    table: a reader must say in a sentence what is wrong. If it is None, a reading and a sentence are both right. One of
    the words in `must_note` must occur in such a sentence, too.
    """

    kind: str
    name: str
    data: bytes = field(repr=False)
    rows: int | tuple[int, ...] | None = None
    names: Sequence[Name] | None = None
    width: int | None = None
    types: Mapping[Column, str | tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[Column, Range] = field(default_factory=dict)
    texts: Mapping[Column, str | tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[Column, str | tuple[str, ...]] = field(default_factory=dict)
    missing: Mapping[Column, int] = field(default_factory=dict)
    asks: frozenset[str] = frozenset()
    must_note: Sequence[str] = ()
    refusal: bool | None = False

    @property
    def columns(self) -> int | None:
        """Return the number of columns, or None if it is not labelled."""
        return self.width if self.names is None else len(self.names)

    def without(self, *columns: Column) -> Case:
        """Return the case with no label for these columns, but for their names."""
        return replace(
            self,
            types={column: found for column, found in self.types.items() if column not in columns},
            ranges={column: found for column, found in self.ranges.items() if column not in columns},
            texts={column: found for column, found in self.texts.items() if column not in columns},
            missing={column: found for column, found in self.missing.items() if column not in columns},
        )

    def changed(self, types: Mapping[Column, str | tuple[str, ...]]) -> Case:
        """Return the case with other types for some columns."""
        return replace(self, types={**self.types, **types})


def label(kind: str, name: str, data: bytes, header: Sequence[Name] | None, rows: Rows) -> Case:
    """Return a case with the labels that follow from the values of its rows.

    The labels' keys are names where all names are plain, otherwise positions.
    """
    plain = header is not None and len(set(header)) == len(header) and all(isinstance(part, str) for part in header)
    keys: list[Column] = [str(part) for part in header] if plain and header else [*range(len(rows[0]))]
    case = Case(kind, name, data, len(rows), header, len(rows[0]), {}, {}, {}, {}, {})
    types, ranges, texts, missing = dict(case.types), dict(case.ranges), dict(case.texts), dict(case.missing)
    for position, key in enumerate(keys):
        cells = [row[position] for row in rows]
        values = [cell for cell in cells if cell is not None]
        missing[key] = len(cells) - len(values)
        if values:
            types[key] = _type(values[0])
            if isinstance(values[0], str):
                texts[key] = tuple({str(value): None for value in values})
            elif not isinstance(values[0], bool | time):
                ranges[key] = _span(values)
    return replace(case, types=types, ranges=ranges, texts=texts, missing=missing)


def _type(value: Value) -> str | tuple[str, ...]:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, datetime):
        return ("date", "time")
    return {str: "text", date: "date", time: "time"}.get(type(value), "number")


def _span(values: Sequence[Value]) -> Range:
    ordered = sorted(values, key=_order)
    return _limit(ordered[0]), _limit(ordered[-1])


def _order(value: Value) -> tuple[Decimal, str]:
    return (Decimal(value), "") if isinstance(value, int | float | Decimal) else (Decimal(0), str(value))


def _limit(value: Value) -> str:
    # Seconds are not labelled: a reader may leave out those of whole minutes.
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


def text_of(
    header: Sequence[str] | None,
    rows: Rows,
    delimiter: str = ",",
    end: str = "\n",
    write: Mapping[int, Callable[..., str]] | None = None,
) -> str:
    """Return a table as delimited text, with quotes only where they are needed. `write` formats a column's values."""
    target, formats = io.StringIO(), write or {}
    writer = csv.writer(target, delimiter=delimiter, lineterminator=end)
    if header is not None:
        writer.writerow(header)
    writer.writerows([formats.get(n, _plain)(value) for n, value in enumerate(row)] for row in rows)
    return target.getvalue()


def _plain(value: Value) -> str:
    return "" if value is None else str(value)


def csv_case(
    kind: str,
    name: str,
    header: Sequence[str],
    rows: Rows,
    write: Mapping[int, Callable[..., str]] | None = None,
    delimiter: str = ",",
) -> Case:
    """Return a case whose file is delimited text in UTF-8 with a header."""
    return label(kind, name, text_of(header, rows, delimiter, write=write).encode(), header, rows)
