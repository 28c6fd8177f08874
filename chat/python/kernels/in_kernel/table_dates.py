"""Runs inside a kernel: reads dates and times as people write them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "DMY", "MDY", "YMD"

_MONTH_NAMES = (
    "january januar janvier enero jänner",
    "february februar février fevrier febrero",
    "march märz maerz mars marzo",
    "april avril abril",
    "may mai mayo",
    "june juni juin junio",
    "july juli juillet julio",
    "august août aout agosto",
    "september septembre septiembre",
    "october oktober octobre octubre",
    "november novembre noviembre",
    "december dezember décembre decembre diciembre",
)
_TIME = (
    r"(?:,?(?:T|[ ]{1,2})(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?)"
    r"\s?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2}|CES?T|MES?Z|[ECMP][SD]T)?)?"
)
_YEAR_FIRST = re.compile(rf"(?P<y>\d{{4}})(?P<mark>[-/.])(?P<m>\d{{1,2}})(?:(?P=mark)(?P<d>\d{{1,2}}){_TIME})?")
_CHINESE = re.compile(rf"(?P<y>\d{{4}})年(?P<m>\d{{1,2}})月(?:(?P<d>\d{{1,2}})日{_TIME})?")
_YEAR_LAST = re.compile(
    rf"(?P<a>\d{{1,2}})(?P<mark>[./-])[ ]?(?P<b>\d{{1,2}})(?P=mark)[ ]?(?P<c>\d{{4}}|\d{{2}}){_TIME}"
)
_NAMED = re.compile(
    r"(?:(?:[^\W\d_]{2,10}\.?,? )?(?P<d>\d{1,2})(?:\.|er|st|nd|rd|th)?[ -]?(?:de )?)?(?P<name>[^\W\d_]{3,10})\.?"
    rf"(?: (?P<later>\d{{1,2}})(?:st|nd|rd|th)?,?)?(?: del?)?(?P<mark>[ -])(?P<y>\d{{4}}|\d{{2}}){_TIME}"
)
_CLOCK = re.compile(r"(?P<h>\d{1,4}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:[.,]\d{1,9})?))?\s?(?P<half>[AaPp]\.?[Mm]\.?)?")
_DURATION = re.compile(
    r"(?=\d)(?:(?P<d>\d{1,4}) ?d(?:ays?)?[ ,]*)?(?:(?P<h>\d{1,4}) ?(?:h|hrs?|hours?|Std\.?) ?)?"
    r"(?:(?P<m>\d{1,4}) ?(?:m|min\.?|minutes?|Min\.) ?)?(?:(?P<s>\d{1,4}) ?(?:s|sec|seconds?|Sek\.))?"
)
_SEASON = re.compile(r"\d\d(\d\d)[-/–](\d\d)")
_MOMENTS = (_YEAR_FIRST, _CHINESE, _YEAR_LAST, _NAMED, _CLOCK, _DURATION)


def _month_prefixes() -> dict[str, int]:
    """Return the number of a month by its names and their first letters, without abbreviations that fit two months."""
    found: dict[str, set[int]] = {}
    for number, names in enumerate(_MONTH_NAMES, start=1):
        for name in names.split():
            for length in range(3, len(name) + 1):
                found.setdefault(name[:length], set()).add(number)
    return {name: numbers.pop() for name, numbers in found.items() if len(numbers) == 1}


_MONTHS = _month_prefixes()


class DateReading(NamedTuple):
    """A date as it is written."""

    style: str
    """`iso`, `year first`, `dots`, `slashes` (also with hyphens) or `named`."""
    parts: tuple[str, str, str]
    """Day, month and year. For dates that may end with the year, the three numbers as they are written, because the
    order is not known yet."""
    time: str
    zone: str
    orders: tuple[str, ...]
    """The orders in which the numbers are a valid date; empty for styles that have only one order."""
    separator: str


def may_be_moment(shape: str) -> bool:
    """Return whether a text of this shape, with zeros for all digits, may be a date or a time."""
    return any(pattern.fullmatch(shape) for pattern in _MOMENTS)


def read_date(text: str) -> DateReading | None:
    """Return the date in a text; `None` if it is not a valid date in any order."""
    begins_with_digit = text[0].isdigit()
    if begins_with_digit and (match := _YEAR_FIRST.fullmatch(text) or _CHINESE.fullmatch(text)):
        mark = match.groupdict().get("mark") or "年"
        if not is_date(match["y"], match["m"], match["d"] or "1"):
            return None
        parts = (match["d"] or "", match["m"], match["y"])
        return DateReading("iso" if mark == "-" else "year first", parts, *_time_of(match), (), mark)
    if begins_with_digit and (match := _YEAR_LAST.fullmatch(text)):
        first, second, third = match.group("a", "b", "c")
        orders = [DAY_FIRST] * is_date(third, second, first) + [MONTH_FIRST] * is_date(third, first, second)
        if match["mark"] == "." and orders:
            orders = [DAY_FIRST] if DAY_FIRST in orders else []
        if len(first) == len(third) == 2 and is_date(first, second, third):
            orders.append(YEAR_FIRST)
        style = "dots" if match["mark"] == "." else "slashes"
        parts = (first, second, third)
        return DateReading(style, parts, *_time_of(match), tuple(orders), match["mark"]) if orders else None
    if (match := _NAMED.fullmatch(text)) and (month := _MONTHS.get(match["name"].lower())):
        day = match["d"] or match["later"] or ""
        is_short = len(match["y"]) == 2
        if (match["d"] and match["later"]) or (is_short and match["mark"] != "-"):
            return None
        if is_date(match["y"], str(month), day or "1"):
            return DateReading("named", (day, str(month), match["y"]), *_time_of(match), (), " ")
    return None


def _time_of(match: re.Match[str]) -> tuple[str, str]:
    return match["time"] or "", match["zone"] or ""


@lru_cache(maxsize=50_000)
def is_date(year: str, month: str, day: str) -> bool:
    """Return whether this day exists in the calendar."""
    if not 1 <= int(month) <= 12:
        return False
    return 1 <= int(day) <= monthrange(int(_full_year(year)) or 4, int(month))[1]


def _full_year(year: str) -> str:
    return f"{19 if int(year) > 68 else 20}{year}" if len(year) == 2 else year


def are_seasons(texts: Collection[str]) -> bool:
    """Return whether all texts are pairs of successive years, such as `2004/05`, and not months."""
    seasons = map(_SEASON.fullmatch, texts)
    return len(texts) > 1 and all(one and (int(one[1]) + 1) % 100 == int(one[2]) for one in seasons)


def date_value(reading: DateReading, order: str) -> str:
    """Return a date as a text that sorts by time: `2024-05-31`, `2024-05` or `2024-05-31 13:00`.

    `order`: the order of the column. A date that is invalid in this order is read in its own order.
    """
    if reading.orders and order not in reading.orders:
        order = reading.orders[0]
    first, second, third = reading.parts
    if reading.orders and order == MONTH_FIRST:
        first, second = second, first
    elif reading.orders and order == YEAR_FIRST:
        first, third = third, first
    text = f"{_full_year(third)}-{int(second):02}" + (f"-{int(first):02}" if first else "")
    return f"{text} {clock_text(reading.time)}" if reading.time else text


def compact_date(text: str) -> str:
    """Return `2024-03-01` for a text such as `20240301`; empty if it is not a date of the years 1800 to 2199."""
    if len(text) != 8 or not "1800" <= text[:4] < "2200" or not is_date(text[:4], text[4:6], text[6:]):
        return ""
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def date_pattern(reading: DateReading, order: str) -> str:
    """Return the format with which pandas reads a date of this style; empty if there is none."""
    if reading.style == "iso":
        return "ISO8601" if reading.time[-1:] not in ("m", "M", ".") else ""
    if reading.style == "named" or reading.zone or not reading.parts[0] or reading.separator == "年":
        return ""
    order = YEAR_FIRST if reading.style == "year first" else order
    if reading.orders and order not in reading.orders:
        return ""
    year = reading.parts[0] if reading.orders and order == YEAR_FIRST else reading.parts[2]
    codes = {"D": "%d", "M": "%m", "Y": "%Y" if len(year) == 4 else "%y"}
    pattern = reading.separator.join(codes[letter] for letter in order)
    if not reading.time:
        return pattern
    if reading.time[-1:] in ("m", "M", ".") or "," in reading.time:
        return ""
    return f"{pattern} " + ("%H:%M", "%H:%M:%S")[reading.time.count(":") - 1] + (".%f" if "." in reading.time else "")


def clock_text(time: str) -> str:
    """Return a time of day in 24-hour form: `3:04 PM` becomes `15:04`."""
    hour, _, rest = time.upper().replace(".M.", "M").partition(":")
    if rest.endswith("M"):
        return f"{int(hour) % 12 + (12 if 'P' in rest else 0):02}:{rest[:-2].strip()}"
    return f"{int(hour):02}:{rest}"


def time_seconds(text: str) -> float | None:
    """Return the seconds of a time or duration such as `9:05`, `3:04 PM`, `27:15:00` or `1h 30min`; else `None`."""
    if match := _CLOCK.fullmatch(text):
        if match["half"] and not 1 <= int(match["h"]) <= 12:
            return None
        hour, _, rest = clock_text(text).partition(":")
        minutes, _, seconds = rest.partition(":")
        return int(hour) * 3600 + int(minutes) * 60 + float(seconds.replace(",", ".") or 0)
    if (match := _DURATION.fullmatch(text)) and sum(part is not None for part in match.groups()) > 1:
        parts = zip((86_400, 3_600, 60, 1), match.groups(), strict=True)
        return float(sum(seconds * int(part or 0) for seconds, part in parts))
    return None
