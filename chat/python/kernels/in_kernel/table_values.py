"""Runs inside a kernel: decides whether the text of a cell is a number, a date, a missing value or another value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from chat.python.kernels.in_kernel.table_dates import DateReading, is_date, may_be_moment, read_date, time_seconds
from chat.python.kernels.in_kernel.table_numbers import NumberForm, number_form, shape_of
from chat.python.kernels.in_kernel.table_source import INVISIBLE

PANDAS_MISSING = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
        *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)
"""Texts that `read_csv` reads as missing values."""
MISSING = frozenset(map(str.lower, PANDAS_MISSING)) | {
    *("nat", "n.a.", "n. a.", "missing", "(null)", "[null]", "\\n", "k.a.", "k. a.", "keine angabe", "n.d.", "nd"),
    *("n.v.", "s/d", "s.d.", "sin dato", "n.c.", "nr.", "#value!", "#ref!", "#div/0!", "#num!", "#name?", "#null!"),
    *("无", "暂无", "无数据", "不详", "нет данных", "н/д", "該当なし", "なし"),
}
"""Words, in lower case, that mean a missing value."""
MISSING_SIGNS = frozenset({"-", "--", "---", "–", "—", "?", ".", "..", "...", "…", "/", "*"})
"""Signs that mean a missing value in a column whose other texts are not signs."""
BOOLEAN_PAIRS = tuple(
    frozenset(pair.split())
    for pair in (
        *("true false", "yes no", "y n", "t f", "ja nein", "j n", "wahr falsch", "oui non", "vrai faux", "sí no"),
        *("si no", "verdadero falso", "sim não", "sim nao", "да нет", "是 否", "真 假", "有 无", "✓ ✗", "✔ ✘"),
    )
)
INFINITE = frozenset({"inf", "-inf", "+inf", "infinity", "-infinity", "+infinity", "∞", "-∞", "+∞"})
SHAPES_LIMIT = 10_000
TEXT_LIMIT_CHARS = 64
"""A longer text is neither a number nor a date."""

_ZEROS = "\u0660\u06f0\u0966\u09e6\u0e50\uff10"
_PLAIN = str.maketrans(
    {chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)}
    | dict(zip("．，－＋（）／：＄٫٬△", ".,-+()/:$.,-", strict=True))
    | dict.fromkeys(INVISIBLE)
)
_OTHER_SIGN = re.compile(f"[{''.join(map(chr, _PLAIN))}]")
_STARS = re.compile(r"\*{2,}")
"""Stars that programs write in place of a number that is missing or too long."""
_BOOLEANS = frozenset(word for pair in BOOLEAN_PAIRS for word in pair if len(word) > 1)
_DIGIT = re.compile(r"[0-9]")
_NO_PLAIN_NUMBER = re.compile(r"^(?!-?(?:0|[1-9]\d{0,20})(?:\.\d{1,15})?$)", re.MULTILINE | re.ASCII)
_NO_PLAIN_DATE = re.compile(r"^(?!\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$)", re.MULTILINE | re.ASCII)
"""Matches the start of a line that is no date like `2024-03-01`. Finding one exception needs no memory for other lines.
"""
_CERTAIN_POINT = re.compile(r"^-?(?:0|\d{4,})\.|\.(?:\d{1,2}|\d{4,})$", re.MULTILINE | re.ASCII)
"""A point that cannot be a thousands separator."""


def plain_kind(texts: Sequence[str]) -> str:
    """Return `integer`, `number` or `date` if all texts have the simplest form of this kind; empty otherwise.

    Most columns of large files do, and one search in all texts together is ten times as fast as one search in each.
    """
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        return ""
    if not _NO_PLAIN_NUMBER.search(joined):
        if "." not in joined:
            return "integer"
        return "number" if _CERTAIN_POINT.search(joined) else ""
    if _NO_PLAIN_DATE.search(joined):
        return ""
    is_valid = all(is_date(text[:4], text[5:7], text[8:]) for text in texts if text[8:] > "28")
    return "date" if is_valid else ""


def plain_text(text: str) -> str:
    """Return a text with ASCII digits and signs, and without invisible characters such as direction marks."""
    has_others = not text.isascii() and len(text) <= TEXT_LIMIT_CHARS and _OTHER_SIGN.search(text)
    return text.translate(_PLAIN).strip() if has_others else text.strip()


class Reading(NamedTuple):
    """The meaning of a text."""

    kind: str
    """`integer`, `number`, `date`, `datetime`, `time`, `boolean` or `text`."""
    form: NumberForm | None = None
    """How a number is written."""
    date: DateReading | None = None


_TEXT = Reading("text")


def read_text(text: str) -> Reading:
    """Return the meaning of a text that is not a missing value."""
    text = plain_text(text)
    form = number_form(shape_of(text)) if len(text) <= TEXT_LIMIT_CHARS and _DIGIT.search(text) else None
    return Reading("integer" if form.style == "integer" else "number", form) if form else read_other(text)


def read_other(text: str) -> Reading:
    """Return the meaning of a text that is not a number."""
    if len(text) > TEXT_LIMIT_CHARS:
        return _TEXT
    if not _DIGIT.search(text):
        return Reading("boolean") if text.lower() in _BOOLEANS else _TEXT
    if date := read_date(text):
        return Reading("datetime" if date.time else "date", date=date)
    return Reading("time") if time_seconds(text) is not None else _TEXT


class Shapes:
    """Reads the texts of one column, and caches the reading of each shape: many texts differ only in their digits."""

    def __init__(self) -> None:
        self._readings: dict[str, Reading | None] = {}
        """The reading of all texts of a shape; `None` if it depends on the digits, because only some are valid dates.
        """

    def read(self, text: str) -> Reading:
        """Return the meaning of a text, as `read_text` does."""
        shape = shape_of(text) if len(text) <= TEXT_LIMIT_CHARS else ""
        if known := self._readings.get(shape):
            return known
        reading = read_other(text) if shape in self._readings else read_text(text)
        if len(self._readings) < SHAPES_LIMIT:
            is_same = reading.form or (reading.kind == "text" and not may_be_moment(shape))
            self._readings[shape] = reading if is_same else None
        return reading


def is_boolean(texts: Iterable[str]) -> bool:
    """Return whether the texts are a pair such as yes and no, or one word of a pair with more than one letter."""
    words = {text.lower() for text in texts}
    return any(words == pair or (words <= pair and not words.isdisjoint(_BOOLEANS)) for pair in BOOLEAN_PAIRS)


def missing_texts(texts: Collection[str], words: Sequence[str] | None) -> list[str]:
    """Return the texts of a column that mean missing values. `words`: the texts that a person has chosen."""
    if words is not None:
        chosen = {word.strip().lower() for word in words} | {""}
        return [text for text in texts if text.lower() in chosen]
    found = [text for text in texts if text.lower() in MISSING or text in MISSING_SIGNS]
    if stars := [text for text in texts if text[:2] == "**" and _STARS.fullmatch(text)]:
        values = [text for text in texts if text not in stars and text not in found]
        # Stars mean a missing value only among numbers. Among words they are ratings.
        found += stars if values and all(map(_DIGIT.search, values[:100])) else []
    if not any(found):
        return found
    others = [text for text in texts if text not in MISSING_SIGNS and text.lower() not in MISSING]
    if others and not any(any(map(str.isalnum, text)) for text in others[:100]):
        # If all values are signs, such as ratings, then the signs do not mean missing values.
        found = [text for text in found if text not in MISSING_SIGNS]
    if len(others) > 1 and all(len(text) == 2 and text.isupper() for text in others[:1000]):
        # Among two-letter codes, `NA` is Namibia, and `ND` is North Dakota.
        found = [text for text in found if not (len(text) == 2 and text.isupper())]
    return [text for text in found if not (text == "无" and "有" in others)]


def chosen_numbers(words: Sequence[str]) -> set[Decimal | float]:
    """Return the numbers among the words for missing values, to compare them with cells that are numbers."""
    numbers: set[Decimal | float] = set()
    for word in words:
        try:
            numbers |= {Decimal(word.strip()), float(word)}
        except (InvalidOperation, ValueError):
            continue
    return numbers
