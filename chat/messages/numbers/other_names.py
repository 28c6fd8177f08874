"""Learns by which other names an answer calls the rows of the tables in its sources. Pure.

An answer in another language than its data translates their labels, such as `Kreta` for `Crete`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from chat.messages.numbers.mentions import comparable, mentions
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import normal_label
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.tables import Table
from chat.messages.numbers.words_around_numbers import STATISTIC

_LINE: Final = re.compile(
    r"^[ \t]*(?:\|(?P<cell>[^|\n]{1,80})\||(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
    r"(?:\*\*(?P<bold>[^*\n]{1,60})\*\*|(?P<head>[^\n:：|]{1,40})[:：]))",
    re.MULTILINE,
)
"""The beginning of a line with the name of what the numbers of the line are about."""
_IN_BRACKETS: Final = re.compile(
    r"(?P<name>[^\W\d_]{3,40})[*_`]{0,3}\s?[(（][*_`]{0,3}(?P<label>[^()（）*`\n]{2,40})[*_`]{0,3}[)）]"
)
_SIGN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGITS_LEAST: Final = 2
_SURE_VOTES: Final = 2
_MONTHS: Final = (
    "january januar janvier enero जनवरी 一月 1月 jan",
    "february februar février febrero फ़रवरी 二月 2月 feb",
    "march märz mars marzo मार्च 三月 3月 mar",
    "april avril abril अप्रैल 四月 4月 apr",
    "may mai mayo मई 五月 5月",
    "june juni juin junio जून 六月 6月 jun",
    "july juli juillet julio जुलाई 七月 7月 jul",
    "august août agosto अगस्त 八月 8月 aug",
    "september septembre septiembre सितंबर 九月 9月 sep",
    "october oktober octobre octubre अक्टूबर 十月 10月 oct",
    "november novembre noviembre नवंबर 十一月 11月 nov",
    "december dezember décembre diciembre दिसंबर 十二月 12月 dec",
)
_MONTHS_OF_YEAR: Final = {str(number): names.split() for number, names in enumerate(_MONTHS, 1)}
_IS_MONTH: Final = re.compile(r"\b(?:month|monat|mois|mes|mese)\b|月|महीना|माह", re.IGNORECASE)


def learn_names(
    tables: SourceTables, text: str, numbers: Sequence[WrittenNumber], keys_of: Callable[[int], frozenset[str]]
) -> None:
    """Store in the tables by which other names an answer calls their rows.

    `keys_of`: returns the labels of the rows that contain a number, by the index of the number.
    """
    learned = dict(_by_values(text, numbers, keys_of, tables))
    for match in _IN_BRACKETS.finditer(comparable(text)):
        name, label = (normal_label(match[group]) for group in ("name", "label"))
        if label in tables.labels and name not in tables.labels:
            learned[name] = label
    for table in tables.all:
        names = {**learned, **dict(_short_names(table)), **dict(_months(table))}
        others = {name: label for name, label in names.items() if label in table.keys and name not in tables.labels}
        table.row_names.update(others)


def _by_values(
    text: str, numbers: Sequence[WrittenNumber], keys_of: Callable[[int], frozenset[str]], tables: SourceTables
) -> Iterator[tuple[str, str]]:
    """Yield the names at the beginning of lines whose numbers are those of one row."""
    starts = [number.start for number in numbers]
    votes: dict[str, Counter[str]] = {}
    known = tables.labels.union(*(table.column_labels for table in tables.all))
    for match in _LINE.finditer(text):
        name = normal_label(comparable(match[match.lastgroup or 0]))
        if not _LETTER.search(name) or STATISTIC.search(name) or mentions(name, known):
            continue
        end = text.find("\n", match.end())
        line = range(bisect_left(starts, match.end()), bisect_left(starts, end if end >= 0 else len(text)))
        found = [keys_of(n) for n in line if numbers[n].digits >= _DIGITS_LEAST]
        votes.setdefault(name, Counter()).update(next(iter(keys)) for keys in found if len(keys) == 1)
    sure = {name: label for name, some in votes.items() if (label := _winner(some))}
    # Where two rows are swapped in one column, each name has one vote for either row: the first number counts.
    weak = {name: next(iter(some)) for name, some in votes.items() if some.values() and max(some.values()) == 1}
    names = {**weak, **sure} if sure else {}
    counts = Counter(names.values())
    yield from ((name, label) for name, label in names.items() if len(names) > 1 and counts[label] == 1)


def _winner(votes: Counter[str]) -> str:
    """Return the label with most votes, if it has at least two and more than half; empty otherwise."""
    label, count = next(iter(votes.most_common(1)), ("", 0))
    return label if count >= _SURE_VOTES and 2 * count > votes.total() else ""


def _short_names(table: Table) -> Iterator[tuple[str, str]]:
    """Yield Chinese labels without the signs with which all labels begin, such as `1班` for `高三1班`."""
    labels = list(table.labels)
    start = next((n for n, signs in enumerate(zip(*labels, strict=False)) if len(set(signs)) > 1), 0)
    if start:
        yield from ((label[start:], label) for label in labels if _SIGN.search(label[start:]))


def _months(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the names of months, if the rows are numbered by months."""
    keys = table.keys.keys()
    if keys == _MONTHS_OF_YEAR.keys() or (keys <= _MONTHS_OF_YEAR.keys() and _IS_MONTH.search(table.source.text)):
        yield from ((name, label) for label in keys for name in _MONTHS_OF_YEAR[label])
