"""Reads runs of digits and separators as decimal numbers. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

SPACES: Final = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
APOSTROPHES: Final = "'\N{RIGHT SINGLE QUOTATION MARK}_"
RUN: Final = rf"\d+(?:[.,{APOSTROPHES}]\d+|[{SPACES}]\d{{3}}(?!\d))*"
"""Digits with separators. A space separates groups of three digits only."""
RUN_IN_SOURCE: Final = r"\d+(?:[.,]\d+)*|\.\d+"

YEAR: Final = re.compile(r"(?:19|20)\d\d")

_FORMS = {ord(character): "-" for character in "\N{MINUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{SMALL HYPHEN-MINUS}"}
_FORMS |= {
    ord("．"): ".",
    ord("，"): ",",
    ord("％"): "%",
    ord("："): ":",
    ord("（"): "(",
    ord("）"): ")",
    ord("＋"): "+",
}
_FORMS |= {
    code: str(unicodedata.decimal(chr(code)))
    for start in (0x660, 0x6F0, 0x966, 0x9E6, 0xFF10)
    for code in range(start, start + 10)
}
_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}")
"""Groups of thousands, or the Indian groups lakh and crore. Other separators have been replaced by commas."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """One possible reading of a run of digits."""

    value: Decimal
    decimals: int


def with_ascii_digits(text: str) -> str:
    """Return the text with digits and signs of other scripts replaced by those of ASCII. Each character keeps its
    position.
    """
    return text if text.isascii() else text.translate(_FORMS)


def read_run(run: str, decimal_mark: str = "") -> tuple[Numeral, ...]:
    """Return the possible readings of a run, the most likely first; none for a version, a date or an address.

    `1.234` may be more than a thousand, or a little more than one. `decimal_mark`: `.` or `,` if it is known.
    """
    marks = [one for one in run if not one.isdigit()]
    if not marks:
        return (Numeral(Decimal(run), 0),)
    others = {one for one in marks if one not in ".,"}
    if others:
        return _read_spaced(run, others)
    if len(set(marks)) == 2:
        return _read_mixed(run, marks[-1])
    mark = marks[0]
    whole, _, fraction = run.rpartition(mark)
    grouped = _grouped(run, mark)
    if len(marks) > 1:
        return grouped
    decimal = (Numeral(Decimal(f"{whole}.{fraction}"), len(fraction)),)
    if not grouped or whole.startswith("0"):
        return decimal
    if decimal_mark:
        return decimal if decimal_mark == mark else grouped
    return (*decimal, *grouped) if mark == "." else (*grouped, *decimal)


def sure_decimal_mark(run: str) -> str:
    """Return the decimal mark that a run with only one reading shows; empty if it shows none."""
    readings = read_run(run)
    marks = [one for one in run if not one.isdigit()]
    if len(readings) != 1 or not marks:
        return ""
    if readings[0].decimals:
        return marks[-1]
    return {".": ",", ",": "."}.get(marks[-1], "")


def _grouped(run: str, mark: str) -> tuple[Numeral, ...]:
    is_grouped = _GROUPS.fullmatch(run.replace(mark, ","))
    return (Numeral(Decimal(run.replace(mark, "")), 0),) if is_grouped else ()


def _read_mixed(run: str, mark: str) -> tuple[Numeral, ...]:
    """Return the reading of a run with points and commas. `mark`: the last separator in the run."""
    if run.count(mark) > 1:
        return ()
    whole, _, fraction = run.partition(mark)
    grouped = _grouped(whole, "," if mark == "." else ".")
    return tuple(Numeral(Decimal(f"{one.value}.{fraction}"), len(fraction)) for one in grouped)


def _read_spaced(run: str, separators: set[str]) -> tuple[Numeral, ...]:
    """Return the reading of a run whose groups are separated by spaces or apostrophes."""
    last = max(run.rfind("."), run.rfind(","))
    whole, fraction = (run[:last], run[last + 1 :]) if last >= 0 else (run, "")
    for separator in separators:
        whole, fraction = whole.replace(separator, ","), fraction.replace(separator, "")
    if "." in whole or not _GROUPS.fullmatch(whole):
        return ()
    digits = whole.replace(",", "")
    return (Numeral(Decimal(f"{digits}.{fraction}" if fraction else digits), len(fraction)),)
