"""Finds months, days and weekdays in answers and in the labels of rows, such as `7. März` and `2025-03-07`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple

_MONTHS: Final = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
    "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितम्बर अक्तूबर नवम्बर दिसम्बर",
)
_WEEKDAYS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "周一 周二 周三 周四 周五 周六 周日",
    "星期一 星期二 星期三 星期四 星期五 星期六 星期日",
    "सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार",
)
_NO_SHORT_NAMES: Final = frozenset({"mar", "ago", "jui", "mai"})
"""Beginnings of months that mean something else, or several months."""
_DATE: Final = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?")
_MONTH_NUMBER: Final = re.compile(r"0?[1-9]|1[0-2]")
_IS_MONTH: Final = re.compile(r"\b(?:month|monat|mois|mes|mese)\b|月|महीना|माह", re.IGNORECASE)
_BEGINNING_CHARS: Final = 2


class Day(NamedTuple):
    """A day, a month or a weekday. Parts that are not known are 0."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0


def _numbers(languages: Collection[str], short: int = 0) -> dict[str, int]:
    """Return the names -> their numbers from 1. `short`: the number of first letters that are also a name, if any."""
    some = [(name, n) for names in languages for n, name in enumerate(names.split(), 1)]
    beginnings = {name[:short]: n for name, n in some if short and name[0] < "\u0900"}
    return {name: n for name, n in beginnings.items() if name not in _NO_SHORT_NAMES} | dict(some)


_MONTH_NUMBERS: Final = _numbers(_MONTHS, short=3)
_WEEKDAY_NUMBERS: Final = _numbers(_WEEKDAYS)


def _alternatives(names: Collection[str], plural: str = "") -> str:
    """Return a regular expression for names, the longest first. Only Chinese names may be inside of a word."""
    ordered = sorted(names, key=len, reverse=True)
    words = "|".join(name for name in ordered if name[0] < "\u3400")
    signs = "|".join(name for name in ordered if name[0] >= "\u3400")
    return rf"(?<![\w\u0900-\u0963])(?:{words}){plural}(?![\w\u0900-\u0963])|{signs}"


MONTH: Final = _alternatives(_MONTH_NUMBERS)
"""A regular expression for the names of months."""


def _initials(*names: Collection[str]) -> str:
    """Return the first characters of names."""
    return "".join(sorted({name[0] for some in names for name in some}))


_WRITTEN: Final = re.compile(
    # Other characters begin no day. This test takes a third of the time of the alternatives.
    rf"(?=\d|(?<![\w\u0900-\u0963])[{_initials(_MONTH_NUMBERS, _WEEKDAY_NUMBERS)}]|[\u3400-\u9fff])"
    r"(?:"
    r"(?:(?<![\d.,])(?P<before>\d{1,2})(?:\.|st|nd|rd|th|er|º)? (?:de |of )?)?"
    rf"(?P<month>{MONTH})"
    r"(?:\.? (?P<after>\d{1,2})(?:st|nd|rd|th)?(?![\d.,]?\d))?(?:,? (?:de )?(?P<year>(?:19|20)\d\d)(?!\d))?|"
    r"(?:(?P<in_year>\d{4})年)?(?<!\d)(?P<number>\d{1,2}) ?月(?:(?P<of_month>\d{1,2})[日号])?|"
    rf"(?P<weekday>{_alternatives(_WEEKDAY_NUMBERS, plural='(?:s|en)?')}))"
)


def written_days(text: str) -> dict[str, Day]:
    """Return the days that a text names, by the words for them. `text`: in lower case."""
    found = {}
    for match in _WRITTEN.finditer(text):
        month = _MONTH_NUMBERS[match["month"]] if match["month"] else int(match["number"] or 0)
        day = int(match["before"] or match["after"] or match["of_month"] or 0)
        year = int(match["year"] or match["in_year"] or 0)
        weekday = next((n for one, n in _WEEKDAY_NUMBERS.items() if (match["weekday"] or "").startswith(one)), 0)
        found[" ".join(match[0].split())] = Day(year, month, day, weekday)
    return found


def days_of_labels(labels: Collection[str], text: str) -> Iterator[tuple[str, Day]]:
    """Yield the labels of a table that are days. `text`: the source of the table, which may say that its rows are
    months.
    """
    dates = [(label, match) for label in labels if (match := _DATE.fullmatch(label))]
    if dates:
        yield from (
            (label, Day(int(match["year"]), int(match["month"]), int(match["day"] or 0))) for label, match in dates
        )
        return
    if labels and all(_MONTH_NUMBER.fullmatch(label) for label in labels):
        if len(labels) == 12 or _IS_MONTH.search(text):
            yield from ((label, Day(month=int(label))) for label in labels)
        return
    for names in _MONTHS:
        yield from ((label, Day(month=n)) for label, n in _of_language(labels, names.split()))
    for names in _WEEKDAYS:
        yield from ((label, Day(weekday=n)) for label, n in _of_language(labels, names.split()))


def _of_language(labels: Collection[str], names: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield the labels that are names with the numbers of these names. If each label is the beginning of one name,
    yield all labels.
    """
    found = {}
    beginnings = {name[0] for name in names}
    for label in (one for one in labels if one[:1] in beginnings):
        some = [n for n, name in enumerate(names, 1) if name.startswith(label.strip(". ")) or name == label]
        if len(some) == 1 and len(label) >= _BEGINNING_CHARS:
            found[label] = some[0]
    are_days = len(found) == len(labels) > 1
    yield from (one for one in found.items() if are_days or one[0] in names)


def names_of_days(
    labels: Collection[str], text: str, written: Callable[[], dict[str, Day]]
) -> Iterator[tuple[str, str]]:
    """Yield the words of `written_days` that mean exactly one label of a table, with this label.

    `written` returns the result of `written_days`. It is called only if labels are days, because it takes time. The
    label is empty for a day without a label of its own if its month is a label.
    """
    known: dict[tuple[int, int, int], list[tuple[int, str]]] = {}
    for label, day in dict(days_of_labels(labels, text)).items():
        known.setdefault(day[1:], []).append((day.year, label))
    for name, day in written().items() if known else ():
        found = [label for year, label in known.get(day[1:], ()) if not (day.year and year) or day.year == year]
        if len(found) == 1 and name != found[0]:
            yield name, found[0]
        elif day.day and (day.month, 0, 0) in known:
            yield name, ""
