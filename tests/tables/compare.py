"""Compares the reading of a file with the labels of a case.

A reading is a dictionary as the product gives it for an attached table: state, detail, rows, columns, notes, reading,
candidates and questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import NotRequired, TypedDict

from tests.tables.corpus.case import Case, Column, Name


class ColumnReading(TypedDict):
    """A column as a reader describes it."""

    name: str
    type: str
    role: NotRequired[str | None]
    missing: NotRequired[int]
    summary: NotRequired[str]
    sample: NotRequired[Sequence[str]]
    note: NotRequired[str | None]


class Reading(TypedDict):
    """A file as a reader describes it."""

    state: str
    detail: NotRequired[str]
    rows: NotRequired[int]
    columns: NotRequired[Sequence[ColumnReading]]
    notes: NotRequired[Sequence[str]]
    reading: NotRequired[Mapping[str, object]]
    candidates: NotRequired[Mapping[str, Sequence[object]]]
    questions: NotRequired[Sequence[str]]


RIGHT, ASKED, SAID, WRONG = "right", "asked", "said", "wrong without a word"
VERDICTS = (RIGHT, ASKED, SAID, WRONG)
# What may be wrong in a reading that names candidates for this key.
OPEN_ASPECTS = {
    "encoding": {"names", "text", "range", "type"},
    "delimiter": {"names", "text", "range", "type", "rows", "width", "missing"},
    "decimal": {"range", "type"},
    "date_order": {"range", "type"},
    "header_rows": {"names", "rows", "range", "type", "missing"},
    "missing_words": {"missing", "range", "type"},
    "sheet": {"names", "text", "range", "type", "rows", "width", "missing"},
    "path": {"names", "text", "range", "type", "rows", "width", "missing"},
}
# Words by which a note says that the key was guessed.
GUESS_WORDS = {
    "encoding": ("encod", "125", "8859", "koi8", "866", "gb", "big5", "euc", "shift", "latin", "utf"),
    "delimiter": ("delimiter", "separat"),
    "decimal": ("decimal", "thousand", "comma", "point"),
    "date_order": ("order", "day", "month"),
    "sheet": ("sheet",),
    "path": ("list", "key", "path"),
}
# Words by which a note says what is doubtful. A note that names the column counts for the column's aspects, too.
DOUBT_WORDS = {
    "rows": ("row", "line", "cut", "left out", "skipped", "record"),
    "names": ("header", "name", "encod"),
    "width": ("column", "delimiter", "cell"),
    "text": ("encod", "character", "byte"),
    "missing": ("missing", "empty", "no value"),
}


@dataclass(frozen=True)
class Difference:
    """A label that a reading does not meet."""

    aspect: str
    expected: object
    found: object
    column: str = ""

    def __str__(self) -> str:
        place = f" of {self.column}" if self.column else ""
        return f"{self.aspect}{place}: expected {self.expected!r}, found {self.found!r}"


@dataclass(frozen=True)
class Outcome:
    """The verdict on a reading, with every label that it does not meet."""

    verdict: str
    differences: Sequence[Difference] = ()


def compare(case: Case, reading: Reading) -> Outcome:
    """Return the verdict on a reading of a case's file."""
    if case.refusal or reading["state"] != "read":
        return _compare_refusal(case, reading)
    differences = list(_differences(case, reading))
    candidates = _open_keys(reading)
    if not differences:
        return Outcome(ASKED if candidates else RIGHT)
    allowed = set().union(*(OPEN_ASPECTS.get(key, ()) for key in candidates & case.asks))
    if all(difference.aspect in allowed for difference in differences):
        return Outcome(ASKED, differences)
    said = all(_is_said(difference, reading, candidates) for difference in differences)
    return Outcome(SAID if said else WRONG, differences)


def _compare_refusal(case: Case, reading: Reading) -> Outcome:
    detail = str(reading.get("detail") or "")
    is_sentence = len(detail.split()) >= 3
    if case.refusal is False:
        return Outcome(SAID if is_sentence else WRONG, [Difference("state", "read", f"{reading['state']}: {detail}")])
    if reading["state"] == "read":
        found = f"{reading.get('rows')} rows, notes {list(reading.get('notes', ()))}"
        return Outcome(WRONG, [Difference("state", "refused", found)])
    if not is_sentence:
        return Outcome(WRONG, [Difference("detail", "a sentence", detail)])
    if case.must_note and not any(word in detail.lower() for word in case.must_note):
        return Outcome(SAID, [Difference("detail", case.must_note, detail)])
    return Outcome(RIGHT)


def _open_keys(reading: Reading) -> set[str]:
    """Return the keys for which the reading offers a choice."""
    return {key for key, values in reading.get("candidates", {}).items() if len(values) > 1}


def _notes(reading: Reading) -> str:
    columns = [f"{column['name']}: {column['note']}" for column in reading.get("columns", ()) if column.get("note")]
    return "\n".join([*reading.get("notes", ()), *columns]).lower()


def _is_said(difference: Difference, reading: Reading, candidates: set[str]) -> bool:
    """Tell whether a note or an offered choice says that this part of the reading is doubtful."""
    if any(difference.aspect in OPEN_ASPECTS.get(key, ()) for key in candidates):
        return True
    notes = _notes(reading)
    if difference.column and re.search(rf"(?<!\w){re.escape(difference.column.lower())}(?!\w)", notes):
        return True
    return any(word in notes for word in DOUBT_WORDS.get(difference.aspect, ()))


def _differences(case: Case, reading: Reading) -> Iterator[Difference]:
    rows, columns = reading.get("rows"), reading.get("columns", ())
    allowed = case.rows if isinstance(case.rows, tuple) else (case.rows,)
    if case.rows is not None and rows not in allowed:
        yield Difference("rows", case.rows, rows)
    found_names = [column["name"] for column in columns]
    if case.columns is not None and len(columns) != case.columns:
        yield Difference("width", case.columns, found_names)
    elif case.names is not None and not all(map(_is_name, case.names, found_names)):
        yield Difference("names", list(case.names), found_names)
    by_label = _columns_by_label(case, columns)
    for label in {*case.types, *case.ranges, *case.texts, *case.roles, *case.missing}:
        column = by_label.get(label)
        if column is None:
            yield Difference("names", label, found_names)
        else:
            yield from _column_differences(case, label, column)
    notes = _notes(reading)
    if case.must_note and not any(word in notes for word in case.must_note):
        yield Difference("note", list(case.must_note), list(reading.get("notes", ())))
    guesses = [word for key in case.asks for word in GUESS_WORDS.get(key, ())]
    if case.asks and not case.asks & _open_keys(reading) and not any(word in notes for word in guesses):
        yield Difference("note", f"a choice of {sorted(case.asks)}", list(reading.get("notes", ())))


def _columns_by_label(case: Case, columns: Sequence[ColumnReading]) -> dict[Column, ColumnReading]:
    """Return the columns by position and by label. A label stands for its position if the width is right."""
    found: dict[Column, ColumnReading] = dict(enumerate(columns))
    for column in columns:
        found.setdefault(_tidy(column["name"]), column)
    if case.names is not None and len(case.names) == len(columns):
        found.update({name: columns[n] for n, name in enumerate(case.names) if isinstance(name, str)})
    return found


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _is_name(label: Name, found: str) -> bool:
    if isinstance(label, tuple):
        return all(_tidy(part).lower() in _tidy(found).lower() for part in label)
    return label is None or _tidy(label) == _tidy(found)


def _column_differences(case: Case, label: Column, column: ColumnReading) -> Iterator[Difference]:
    name = column["name"]
    if (types := case.types.get(label)) and column["type"] not in ((types,) if isinstance(types, str) else types):
        yield Difference("type", types, column["type"], name)
    roles = case.roles.get(label)
    if roles and (column.get("role") or "") not in ((roles,) if isinstance(roles, str) else roles):
        yield Difference("role", roles, column.get("role"), name)
    summary = column.get("summary", "")
    if (limits := case.ranges.get(label)) and not has_range(summary, limits):
        yield Difference("range", limits, summary, name)
    if (text := case.texts.get(label)) and not _holds_text(text, column):
        yield Difference(
            "text", text if isinstance(text, str) else text[:5], [summary, *column.get("sample", ())], name
        )
    if (missing := case.missing.get(label)) is not None and column.get("missing", 0) != missing:
        yield Difference("missing", missing, column.get("missing", 0), name)


def _holds_text(label: str | tuple[str, ...], column: ColumnReading) -> bool:
    """Tell whether a text occurs in a column's summary or sample, or whether its sample holds cells of the column only.

    One other cell is allowed, because a damaged file may have one. A long cell may be cut, with an ellipsis.
    """
    sample = [_tidy(cell) for cell in column.get("sample", ())]
    cells = "\n".join([_tidy(column.get("summary", "")), *sample])
    if isinstance(label, str):
        return _tidy(label) in cells
    known = [_tidy(cell) for cell in label]
    others = [cell for cell in sample if cell not in known and not _is_beginning(cell, known)]
    return len(others) <= min(1, len(sample) - 1) if sample else any(cell in cells for cell in known)


def _is_beginning(cell: str, known: Sequence[str]) -> bool:
    start = cell.removesuffix("…").removesuffix("...").rstrip()
    return start != cell and any(full.startswith(start) for full in known)


def has_range(summary: str, limits: tuple[str, str]) -> bool:
    """Tell whether a summary begins with `LEAST to GREATEST` of these limits, or with their only value."""
    least, separator, rest = summary.partition(" to ")
    if not separator:
        return limits[0] == limits[1] and _is_value(limits[0], summary)
    return _is_value(limits[0], least) and _is_value(limits[1], rest)


def _is_value(label: str, found: str) -> bool:
    """Tell whether a text begins with the labelled number or date. Whole numbers must agree in every digit."""
    if re.match(r"\d{4}-\d\d-\d\d", label):
        return found.strip().replace("T", " ").startswith(label)
    match = re.match(r"\D{0,4}?([-−]?\D{0,4}?\d[\d,   '’_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)", found)
    if match is None:
        return False
    digits = re.sub(r"[^\d.eE+-]", "", match[1].replace("−", "-"))
    try:
        expected, value = Decimal(label), Decimal(digits)
    except InvalidOperation:
        return False
    if expected == expected.to_integral_value():
        return value == expected
    return abs(value - expected) <= abs(expected) * Decimal("1e-14")
