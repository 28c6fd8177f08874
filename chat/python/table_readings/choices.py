"""Choices of a person about how a table is read, such as its delimiter. Pure.

The keys are those of `Choices`. A choice is validated before it is stored, and again when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from attachments.chosen_encodings import find_encoding
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from chat.vocabulary.sanitize import sanitize_text

DECIMALS = (".", ",")
DATE_ORDERS = ("DMY", "MDY", "YMD")
HEADER_ROWS_LIMIT = 10
WORDS_LIMIT = 20
WORD_LIMIT_CHARS = 40
NAME_LIMIT_CHARS = 200
KEYS = tuple(Choices.__annotations__)
_KEYS_OF_FORMATS = ("encoding", "delimiter", "sheet", "path")
"""Choices that only some formats have. A reader that has one reports the value that it used."""
_NO_DELIMITERS = '\0\r\n"'
_SHOWN_CHARS = 40


class InvalidChoice(Exception):
    """A choice is not allowed, or the file cannot be read with it. The text is a sentence that says what is allowed."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(sentence)
        self.key = key
        """The key of the choice; empty if the error is about no single choice."""


def change_choices(former: Choices, changes: Mapping[str, object]) -> Choices:
    """Return the former choices with changes. The value `None` removes a choice; empty `changes` remove all.

    Raises InvalidChoice if a key is unknown or a value is not allowed.
    """
    if not changes:
        return {}
    _check_keys(changes)
    return parse_choices({key: value for key, value in {**former, **changes}.items() if value is not None})


def parse_choices(values: Mapping[str, object]) -> Choices:
    """Return valid choices. Encodings get their names for people.

    Raises InvalidChoice if a key is unknown or a value is not allowed.
    """
    _check_keys(values)
    choices: Choices = {}
    if "encoding" in values:
        choices["encoding"] = _encoding(values["encoding"])
    if "delimiter" in values:
        choices["delimiter"] = _delimiter(values["delimiter"])
    if "decimal" in values:
        choices["decimal"] = _one_of("decimal", DECIMALS, values["decimal"])
    if "header_rows" in values:
        choices["header_rows"] = _header_rows(values["header_rows"])
    if "date_order" in values:
        choices["date_order"] = _one_of("date_order", DATE_ORDERS, values["date_order"])
    if "missing_words" in values:
        choices["missing_words"] = _missing_words(values["missing_words"])
    if "sheet" in values:
        choices["sheet"] = _name("sheet", values["sheet"], at_least=1)
    if "path" in values:
        # An empty path is allowed: it means the whole JSON value.
        choices["path"] = _name("path", values["path"], at_least=0)
    return choices


def check_effect(choices: Choices, reading: TableReading) -> None:
    """Raise InvalidChoice if a file could not be read as chosen.

    `reading`: the reading of the file with these choices. Without choices, any reading is accepted.
    """
    if choices and reading.error:
        raise InvalidChoice("", f"The file could not be read in this way: {reading.error}")
    for key in _KEYS_OF_FORMATS:
        if key in choices and key not in reading.reading:
            raise InvalidChoice(key, f"The choice “{key}” has no meaning for this file ({reading.format}).")
    chosen, read = choices.get("sheet", ""), reading.reading.get("sheet", "")
    if chosen.casefold() not in str(read).casefold():
        raise InvalidChoice("sheet", f"The file has no sheet “{chosen}”.")


def _check_keys(values: Mapping[str, object]) -> None:
    for key in values:
        if key not in KEYS:
            shown = sanitize_text(str(key))[:_SHOWN_CHARS]
            raise InvalidChoice(shown, f"There is no choice “{shown}”; known are {', '.join(KEYS)}.")


def _encoding(value: object) -> str:
    name = find_encoding(value) if isinstance(value, str) else None
    if name is None:
        shown = f"“{sanitize_text(value)[:_SHOWN_CHARS]}”" if isinstance(value, str) else "This"
        raise InvalidChoice(
            "encoding", f"{shown} is not a known encoding of text; known are UTF-8, UTF-16, Windows-1252 and others."
        )
    return name


def _delimiter(value: object) -> str:
    if not isinstance(value, str) or len(value) != 1 or value in _NO_DELIMITERS or sanitize_text(value) != value:
        raise InvalidChoice(
            "delimiter", "The choice “delimiter” must be one character, such as “;”, and no quotation mark or line end."
        )
    return value


def _one_of(key: str, allowed: tuple[str, ...], value: object) -> str:
    if value not in allowed or not isinstance(value, str):
        _refuse(key, f"one of {', '.join(f'“{one}”' for one in allowed)}")
    return value


def _header_rows(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HEADER_ROWS_LIMIT:
        _refuse("header_rows", f"a whole number from 0 to {HEADER_ROWS_LIMIT}")
    return value


def _missing_words(value: object) -> list[str]:
    words = value if isinstance(value, list) and len(value) <= WORDS_LIMIT else None
    if words is None or not all(isinstance(word, str) and 0 < len(word.strip()) <= WORD_LIMIT_CHARS for word in words):
        _refuse("missing_words", f"a list of at most {WORDS_LIMIT} texts of 1 to {WORD_LIMIT_CHARS} characters")
    return list(dict.fromkeys(_clean(word).strip() for word in words))


def _name(key: str, value: object, *, at_least: int) -> str:
    if not isinstance(value, str) or not at_least <= len(value) <= NAME_LIMIT_CHARS:
        _refuse(key, f"a text of {at_least} to {NAME_LIMIT_CHARS} characters")
    return _clean(value)


def _clean(text: str) -> str:
    return sanitize_text(text.replace("\0", ""))


def _refuse(key: str, allowed: str) -> NoReturn:
    raise InvalidChoice(key, f"The choice “{key}” must be {allowed}.")
