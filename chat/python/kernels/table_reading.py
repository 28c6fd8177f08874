"""The description that a kernel gives of the table in a file: rows, columns and unusual things. Pure.

A hostile file may take over the kernel that reads it and forge the answer. Every value is therefore validated, cleaned
and bounded here, whatever `in_kernel.tables` promises. `parse_table_reading` also reads stored answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.kernel_program import natural_number
from chat.python.kernels.outputs import clean_text
from chat.python.kernels.table_code_guard import guard_code

ANSWER_LIMIT_CHARS = 256 * 1024
"""Maximum length of an answer in JSON; a longer one is refused. A column has about 900 ASCII characters at most."""
SHEETS_LIMIT_CHARS = 6_000_000
"""Maximum length of the answer of `in_kernel.sheet_texts` in JSON.

The text has at most half a million characters, and JSON writes one character as up to twelve.
"""
COLUMNS_LIMIT = 100
NOTES_LIMIT = 16
EXAMPLES_LIMIT = 3
NAME_LIMIT_CHARS = 80
TEXT_LIMIT_CHARS = 40
CANDIDATES_LIMIT = 20
CHOICE_LIMIT_CHARS = 200
"""Maximum length of a chosen text, such as the name of a sheet."""
WORDS_LIMIT = 20
CHOICE_KEYS = tuple(Choices.__annotations__)
Choice: TypeAlias = str | int | list[str]
"""A value of one choice of how a file is read: see `Choices`."""
SENTENCE_LIMIT_CHARS = 400
_NUMBER_LIMIT = 2**53
_CONTROL_CHARACTERS = dict.fromkeys(range(32), " ") | {0x7F: " "}


@dataclass(frozen=True, slots=True)
class Example:
    """An example of the values of a column."""

    text: str
    count: int
    """Number of cells with this value, or 0 if it is unknown."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table."""

    name: str
    """Empty for a column without a name."""
    type: str
    """`whole number`, `number`, `date`, `date and time`, `time`, `yes or no`, `text`, `nested`, `mixed` or `empty`."""
    missing: int
    """Number of cells without a value."""
    distinct: int
    """Number of different values."""
    minimum: str
    """The smallest number or the earliest date; empty for other types."""
    maximum: str
    examples: tuple[Example, ...]
    """The most frequent values of a column without a minimum."""
    is_index: bool
    """Whether the column only numbers the rows."""
    role: str = ""
    """The meaning of the values: `identifier`, `year`, `code`, `money` or `percent`; empty if none of these."""
    note: str = ""
    """A sentence about this column; empty for none."""


@dataclass(frozen=True, slots=True)
class TableReading:
    """The table in a file, as the page and models are shown it; or the error."""

    format: str = ""
    row_count: int = 0
    column_count: int = 0
    columns: tuple[TableColumn, ...] = ()
    """The first columns, at most `COLUMNS_LIMIT`."""
    notes: tuple[str, ...] = ()
    """Sentences about unusual things in the table."""
    error: str = ""
    """Why the file cannot be read as a table: the end of a sentence. Then everything else is empty."""
    reading: Mapping[str, Choice] = field(default_factory=dict)
    """The choices with which the file was read; the keys are those of `Choices`."""
    candidates: Mapping[str, Sequence[Choice]] = field(default_factory=dict)
    """Other values that would be possible, by the same keys."""
    code: str = ""
    """An expression that reads the same table with pandas, such as `pd.read_csv('a.csv')`; see `guard_code`."""
    is_lasting: bool = True
    """Whether another attempt would give the same result, so the result may be stored."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON object that `parse_table_reading` reads."""
        columns = [
            asdict(column) | {"examples": [[example.text, example.count] for example in column.examples]}
            for column in self.columns
        ]
        return {**asdict(self), "columns": columns, "notes": list(self.notes)}


def parse_table_reading(answer: Mapping[str, object]) -> TableReading:
    """Return the reading in the answer of `in_kernel.tables`. Items of an unexpected shape are left out."""
    is_lasting = answer.get("is_lasting") is not False
    if error := _text(answer.get("error"), SENTENCE_LIMIT_CHARS):
        return TableReading(error=error, is_lasting=is_lasting)
    columns = [_parse_column(item) for item in _list(answer.get("columns"), COLUMNS_LIMIT) if isinstance(item, dict)]
    notes = [_text(note, SENTENCE_LIMIT_CHARS) for note in _list(answer.get("notes"), NOTES_LIMIT)]
    if not columns:
        return TableReading(error="it has no columns.", is_lasting=is_lasting)
    return TableReading(
        format=_text(answer.get("format"), TEXT_LIMIT_CHARS),
        row_count=_count(answer.get("row_count")),
        column_count=max(_count(answer.get("column_count")), len(columns)),
        columns=tuple(columns),
        notes=tuple(filter(None, notes)),
        reading=_parse_choices(answer.get("reading")),
        candidates=_parse_candidates(answer.get("candidates")),
        code=guard_code(clean_text(answer.get("code")), None),
        is_lasting=is_lasting,
    )


def parse_sheet_text(answer: Mapping[str, object]) -> str:
    """Return the text in the answer of `in_kernel.sheet_texts`."""
    return clean_text(answer.get("text"))


def _parse_choices(value: object) -> dict[str, Choice]:
    choices = {key: _choice(value.get(key)) for key in CHOICE_KEYS} if isinstance(value, dict) else {}
    return {key: choice for key, choice in choices.items() if choice is not None}


def _parse_candidates(value: object) -> dict[str, list[Choice]]:
    if not isinstance(value, dict):
        return {}
    found = {key: [_choice(one) for one in _list(value.get(key), CANDIDATES_LIMIT)] for key in CHOICE_KEYS}
    return {key: [one for one in choices if one is not None] for key, choices in found.items() if choices}


def _choice(value: object) -> Choice | None:
    """Return a value of a choice; `None` if it has an unexpected type. A delimiter may be a tab, so control
    characters stay.
    """
    if isinstance(value, str):
        return clean_text(value)[:CHOICE_LIMIT_CHARS]
    if isinstance(value, list):
        return [_text(word, TEXT_LIMIT_CHARS) for word in value[:WORDS_LIMIT]]
    return natural_number(value, _NUMBER_LIMIT)


def _parse_column(item: Mapping[str, object]) -> TableColumn:
    examples = (_list(pair, 2) for pair in _list(item.get("examples"), EXAMPLES_LIMIT))
    return TableColumn(
        name=_text(item.get("name"), NAME_LIMIT_CHARS),
        type=_text(item.get("type"), TEXT_LIMIT_CHARS),
        missing=_count(item.get("missing")),
        distinct=_count(item.get("distinct")),
        minimum=_text(item.get("minimum"), TEXT_LIMIT_CHARS),
        maximum=_text(item.get("maximum"), TEXT_LIMIT_CHARS),
        examples=tuple(
            Example(_text(pair[0], TEXT_LIMIT_CHARS), _count(pair[1])) for pair in examples if len(pair) == 2
        ),
        is_index=item.get("is_index") is True,
        role=_text(item.get("role"), TEXT_LIMIT_CHARS),
        note=_text(item.get("note"), SENTENCE_LIMIT_CHARS),
    )


def _list(value: object, limit: int) -> Sequence[object]:
    return value[:limit] if isinstance(value, list) else []


def _text(value: object, limit_chars: int) -> str:
    """Return the text on one line, or an empty text if the value is not a string."""
    return clean_text(value).translate(_CONTROL_CHARACTERS)[:limit_chars].strip()


def _count(value: object) -> int:
    return natural_number(value, _NUMBER_LIMIT) or 0
