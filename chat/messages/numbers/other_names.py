"""Learns by which other names an answer calls the rows of the tables in its sources. Pure.

An answer in another language than its data translates their labels, such as `Kreta` for `Crete`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Final

from chat.messages.numbers.calendar_names import names_of_days, written_days
from chat.messages.numbers.mentions import comparable, mentions
from chat.messages.numbers.parallel_lines import winner
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.rows import normal_label
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.tables import Place, Table
from chat.messages.numbers.words_around_numbers import STATISTIC

_LINE: Final = re.compile(
    r"^[ \t]*(?:\|(?P<cell>[^|\n]{1,80})\||(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
    r"(?:\*\*(?P<bold>[^*\n]{1,60})\*\*|(?P<head>[^\n:：|]{1,40})[:：]))",
    re.MULTILINE,
)
"""The beginning of a line with the name of what the numbers of the line are about."""
_SIGN: Final = re.compile(r"[\u3400-\u9fff]")
_ACCENTED: Final = re.compile(r"\b(?=[a-z]*[à-ɏ])[a-zà-ɏ]+\b")
_LETTER: Final = re.compile(r"[^\W\d_]")
_AND_SIGNS: Final = (" + ", " & ")
_AND_WORDS: Final = ("plus", "and", "mit", "und", "et", "y", "más", "和", "और")
_AND_LIMIT_CHARS: Final = 60
_WEAK_LABELS: Final = 2
"""Maximum number of rows with one vote each between which the first number decides."""


def learn_names(
    tables: SourceTables, text: str, numbers: Sequence[WrittenNumber], places: Sequence[Sequence[Place]]
) -> frozenset[str]:
    """Store in the tables by which other names an answer calls their rows, and return the names that were learned from
    the numbers beside them.

    `places`: the places that contain the value of each number.
    """
    plain = comparable(text)
    days = cache(partial(written_days, plain))
    # The text may write `véga` for the label `vega`.
    accented = [(word, _without_accents(word)) for word in set(_ACCENTED.findall(plain))]
    accented = [(word, label) for word, label in accented if label in tables.labels]
    for table in tables.all:
        for labels in (table.groups, [label for label in table.keys if label not in table.groups]):
            _add_names(tables, table, names_of_days(labels, table.source.text, days))
        _add_names(tables, table, _short_names(table))
        _add_names(tables, table, ((word, label) for word, label in accented if label in table.labels))
    learned = dict(_by_values(text, numbers, places, tables))
    for table in tables.all:
        _add_names(tables, table, learned.items())
    return frozenset(learned)


def _add_names(tables: SourceTables, table: Table, names: Iterable[tuple[str, str]]) -> None:
    """Store other names for rows of a table, unless they are labels, or names of other rows."""
    for name, label in names:
        if (not label or label in table.keys) and name not in tables.labels:
            table.row_names.setdefault(name, label)


def _by_values(
    text: str, numbers: Sequence[WrittenNumber], places: Sequence[Sequence[Place]], tables: SourceTables
) -> Iterator[tuple[str, str]]:
    """Yield the names at the beginning of lines whose numbers are those of one row."""
    starts = [number.start for number in numbers]
    votes: dict[str, Counter[str]] = {}
    known = tables.labels.union(*({*table.column_labels, *table.row_names} for table in tables.all))
    for match in _LINE.finditer(text):
        name = normal_label(comparable(match[match.lastgroup or 0]))
        if not _LETTER.search(name) or STATISTIC.search(name) or mentions(name, known):
            continue
        end = text.find("\n", match.end())
        end = end if end >= 0 else len(text)
        if not match["cell"] and mentions(comparable(text[match.end() : end]), tables.labels):
            # The line compares rows that it names, so its beginning names no row.
            continue
        line = range(bisect_left(starts, match.end()), bisect_left(starts, end))
        found = [{one.key for one in places[n] if one.key} for n in line]
        votes.setdefault(name, Counter()).update(next(iter(keys)) for keys in found if len(keys) == 1)
    sure = {name: label for name, some in votes.items() if (label := winner(some))}
    # Where two rows are swapped in one column, each name has one vote for either row: the first number counts.
    pairs = {name: list(some) for name, some in votes.items() if set(some.values()) == {1}}
    weak = {name: labels[0] for name, labels in pairs.items() if len(labels) <= _WEAK_LABELS}
    names = {**weak, **sure} if sure else {}
    counts = Counter(names.values())
    yield from ((name, label) for name, label in names.items() if len(names) > 1 and counts[label] == 1)


def _without_accents(text: str) -> str:
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in text)


def _short_names(table: Table) -> Iterator[tuple[str, str]]:
    """Yield Chinese labels without the signs with which all labels begin, such as `1班` for `高三1班`, and labels with
    words for `+` and `&`.
    """
    labels = list(table.labels)
    start = next((n for n, signs in enumerate(zip(*labels, strict=False)) if len(set(signs)) > 1), 0)
    if start:
        yield from ((label[start:], label) for label in labels if _SIGN.search(label[start:]))
    for label in labels:
        for sign in _AND_SIGNS if len(label) < _AND_LIMIT_CHARS else ():
            yield from ((label.replace(sign, f" {word} "), label) for word in _AND_WORDS if sign in label)
