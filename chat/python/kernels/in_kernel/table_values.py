"""Runs inside a kernel: what the text of a cell stands for, such as a number with a decimal comma, or a date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

MISSING = frozenset(
    {"", "-", "–", "—", "?", "n/a", "na", "nan", "nat", "null", "none", "<na>", "#n/a", "#value!", "missing", "k.a."}
)
"""Texts, in lower case, that stand for a missing value."""
TEXT_LIMIT_CHARS = 64
"""A longer text is neither a number nor a date."""
DAY_FIRST, MONTH_FIRST = "day first", "month first"

_SIGN = r"[$€£¥₹]|EUR|USD|GBP|CHF"
_NUMBER = re.compile(rf"([+−-]?)\s?({_SIGN})?\s?([+−-]?)(\.?\d[^a-df-zA-DF-Z$€£¥₹%]*?)\s?({_SIGN}|%)?")
_INTEGER = re.compile(r"\d+")
_POINT = re.compile(r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d{1,3})?")
_COMMA_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DOT_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_COMMA = re.compile(r"\d+,\d+")
_OTHER_THOUSANDS = re.compile(r"\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d+)?")
_THREE_DECIMALS = re.compile(r"\d{1,3}\.\d{3}")

_TIME = r"(?:,?[T ]\s?(\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AP]M)?)\s?(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})(?:\2(\d{{1,2}}){_TIME})?", re.IGNORECASE)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_TIME}", re.IGNORECASE)
_NAMED = re.compile(rf"(?:(\d{{1,2}})\.?[ -])?{_MONTH}(?:[ -](\d{{1,2}}),?)?[ -](\d{{4}})", re.IGNORECASE)
_CLOCK = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?")
_BOOLEANS = frozenset({"true", "false", "yes", "no", "ja", "nein", "wahr", "falsch"})


_NO_PLAIN_NUMBER = re.compile(r"^(?!-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$)", re.MULTILINE)
_NO_PLAIN_DATE = re.compile(r"^(?!\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$)", re.MULTILINE)
"""The beginning of a line that is something else. A search for one needs no memory for the lines before it."""
_MAYBE_VALUE = re.compile(rf"[\d.+−$€£¥₹-]|{_SIGN}|{'|'.join(_MONTHS)}|{'|'.join(sorted(_BOOLEANS))}", re.IGNORECASE)
"""The beginning of a text that can be anything else than a text."""


class Reading(NamedTuple):
    """The meaning of a cell's text."""

    kind: str
    """`integer`, `number`, `date`, `datetime`, `time`, `boolean` or `text`."""
    body: str = ""
    """The digits of a number with their separators; a date as `day|month|year`, in the order of the text."""
    style: str = ""
    """How a number or a date is written: see `_number` and `_date`."""
    has_unit: bool = False
    """Whether a number has a currency sign or a percent sign."""


_TEXT = Reading("text")


def plain_kind(texts: Sequence[str]) -> str:
    """Return `integer`, `number` or `date` if all texts are so in their plainest form; empty otherwise.

    Most columns of large files are like this, and one search in all texts is ten times as fast as one in each.
    """
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        return ""
    if not _NO_PLAIN_NUMBER.search(joined):
        return "number" if "." in joined else "integer"
    return "" if _NO_PLAIN_DATE.search(joined) else "date"


def read_text(text: str) -> Reading:
    """Return what a text that is not missing stands for."""
    if len(text) <= TEXT_LIMIT_CHARS and _MAYBE_VALUE.match(text):
        if reading := _number(text) or _date(text):
            return reading
        if _CLOCK.fullmatch(text):
            return Reading("time", text)
        if text.lower() in _BOOLEANS:
            return Reading("boolean", text.lower())
    return _TEXT


def _number(text: str) -> Reading | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    minus = "-" if {match[1], match[3]} & {"-", "−"} else ""
    body, has_unit = match[4], bool(match[2] or match[5])
    if _INTEGER.fullmatch(body):
        has_zeros = len(body) > 1 and body[0] == "0"
        return Reading("integer", minus + body, "zeros" if has_zeros else "", has_unit)
    styles = (
        ("point", _POINT),
        ("comma thousands", _COMMA_THOUSANDS),
        ("dot thousands", _DOT_THOUSANDS),
        ("comma", _COMMA),
        ("other thousands", _OTHER_THOUSANDS),
    )
    for style, pattern in styles:
        if pattern.fullmatch(body):
            is_ambiguous = style == "comma thousands" and body.count(",") == 1 and "." not in body
            return Reading("number", minus + body, "ambiguous" if is_ambiguous else style, has_unit)
    return None


def number_value(reading: Reading, *, has_decimal_commas: bool) -> float:
    """Return the value of a number. `has_decimal_commas`: whether its column has decimal commas."""
    body = reading.body
    is_comma = reading.style in ("comma", "dot thousands") or (reading.style == "ambiguous" and has_decimal_commas)
    if reading.style == "other thousands":
        body = re.sub(r"[ '’\u00a0\u202f]", "", body).replace(",", ".")
    elif is_comma:
        body = body.replace(".", "").replace(",", ".")
    elif reading.style == "point" and has_decimal_commas and _THREE_DECIMALS.fullmatch(body.lstrip("-")):
        body = body.replace(".", "")
    else:
        body = body.replace(",", "")
    return float(body)


def _date(text: str) -> Reading | None:
    if match := _YEAR_FIRST.fullmatch(text):
        year, separator, month, day, time = match.groups()
        if _is_day(day or "1", month):
            kind = "datetime" if time else "date"
            return Reading(
                kind, f"{day or ''}|{month}|{year}|{time or ''}", "iso" if separator == "-" else "year first"
            )
    elif match := _YEAR_LAST.fullmatch(text):
        first, separator, second, year, time = match.groups()
        if _is_day(first, second) or _is_day(second, first):
            style = "dots" if separator == "." else "slashes"
            return Reading("datetime" if time else "date", f"{first}|{second}|{year}|{time or ''}", style)
    elif match := _NAMED.fullmatch(text):
        day = match[1] or match[3] or ""
        month = _MONTHS.index(match[2].lower()) + 1
        if _is_day(day or "1", str(month)) and not (match[1] and match[3]):
            return Reading("date", f"{day}|{month}|{match[4]}|", "named")
    return None


def _is_day(day: str, month: str) -> bool:
    return 1 <= int(day) <= 31 and 1 <= int(month) <= 12


def order_of(reading: Reading) -> str:
    """Return whether day or month comes first in a date with its year last; empty if it can be both."""
    if reading.style not in ("dots", "slashes"):
        return ""
    first, second = reading.body.split("|")[:2]
    if reading.style == "dots" or int(first) > 12:
        return DAY_FIRST
    return MONTH_FIRST if int(second) > 12 else ""


def date_value(reading: Reading, order: str) -> str:
    """Return a date as `2024-05-31`, `2024-05` or with a time, which sorts like the date."""
    first, second, year, time = reading.body.split("|")
    day, month = (second, first) if order == MONTH_FIRST else (first, second)
    if len(year) == 2:
        year = f"{19 if int(year) > 68 else 20}{year}"
    text = f"{year}-{int(month):02}" + (f"-{int(day):02}" if day else "")
    return f"{text} {_clock(time)}" if time else text


def _clock(time: str) -> str:
    """Return a time of the day with 24 hours: `3:04 PM` becomes `15:04`."""
    hour, _, rest = time.upper().partition(":")
    if rest.endswith("M"):
        return f"{int(hour) % 12 + (12 if 'P' in rest else 0):02}:{rest[:-2].strip()}"
    return f"{int(hour):02}:{rest}"
