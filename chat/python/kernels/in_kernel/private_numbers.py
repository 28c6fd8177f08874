"""Runs inside a kernel: finds the numbers and dates of a text that identify cells or rows of a private table."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from math import comb, log
from typing import NamedTuple

from chat.python.kernels.in_kernel.private_cells import DATE, Numbers, day_number
from chat.python.kernels.in_kernel.table_dates import (
    DAY_FIRST,
    MONTH_FIRST,
    YEAR_FIRST,
    compact_date,
    date_value,
    read_date,
)

NUMBER = re.compile(
    r"(?<![\d_])(?<!\d\.)(?:(?<!\w)[-−])?(?P<body>\d{1,3}(?P<group>[,.'’\u00a0\u202f ])\d{3}(?:(?P=group)\d{3})*"
    r"(?:(?!(?P=group))[.,]\d+)?(?!\d)|\d+(?:\.\d+|,\d+(?![.,]?\d))?|\.\d+)(?P<exponent>[eE][+-]?\d{1,2})?(?P<percent>\s?%)?"
)
PLACES_IN_CODE = re.compile(r"\bline \d+|\bIn ?\[\d+\]|^-*> *\d+", re.MULTILINE)
"""Matches numbers of lines and of cells in tracebacks."""
QUARTILES = re.compile(r"\b(?:median|n?quantile|percentile|describe|boxplot)\b")
"""Words of code that prints the median or quartiles. These are results, even if a cell has the same value."""
INDEX = re.compile(r"[\s(\[{|'\"]*")
THRESHOLDS = (0.02, 0.02, 0.02, 0.1, 0.2)
"""By significant digits: a number that equals a cell is hidden if a match by chance is less probable than this."""
LONG_THRESHOLD = 0.5
ROW_CHANCE = log(0.001)
"""Log-probability. Numbers that match a row or successive rows are hidden if a match by chance is less probable."""
STARTS_LIMIT = 30
CHAINS_LIMIT = 100
SMALL = 10
FIRST_DAY_OF_UNIX = 719_163
UNITS_OF_UNIX = {10: 86_400, 13: 86_400_000, 16: 86_400_000_000, 19: 86_400_000_000_000}
"""Number of time units in a day, by the number of digits that a time since 1970 has in this unit."""


class Range(NamedTuple):
    """The range of values that a written, perhaps rounded, number may stand for."""

    low: float
    high: float
    unit: float
    is_date: bool = False


class Token:
    """A number or a date in a text."""

    def __init__(self, start: int, end: int, text: str, ranges: list[Range]) -> None:
        """`ranges`: the ranges of values that it may stand for."""
        self.start, self.end, self.text, self.ranges = start, end, text, ranges
        self.is_date = ranges[0].is_date
        self.is_hidden = False
        self.matches: list[list[tuple[Numbers, Range]]] = []
        """For each table, the columns that have a matching cell, and the matching range."""

    @property
    def middle(self) -> float:
        """The middle of the first range of values that it may stand for."""
        return (self.ranges[0].low + self.ranges[0].high) / 2


def read_moment(text: str, parts: str | None) -> Iterator[Range]:
    """Yield the days that a date may stand for. `parts`: the arguments of `datetime.date(2024, 3, 5)`."""
    if parts:
        text = "-".join(part.zfill(2) for part in parts.split(", "))
    reading = read_date(text)
    for order in (DAY_FIRST, MONTH_FIRST, YEAR_FIRST) if reading else ():
        if reading and (not reading.orders or order in reading.orders):
            value = date_value(reading, order)
            # The time may be invalid, such as 25:00.
            with contextlib.suppress(ValueError):
                day = day_number(value)
                if day == int(day):
                    yield Range(day, day + 0.999, 1.0, is_date=True)
                else:
                    unit = 1 / 86_400 if value.count(":") > 1 else 1 / 1440
                    yield Range(day - unit / 100, day + unit * 0.999, unit, is_date=True)


def read_number(match: re.Match[str]) -> Iterator[Range]:
    """Yield the ranges of values that a number may stand for."""
    body, group = match["body"], match["group"] or ""
    decimal = next((mark for mark in body if mark in ".," and mark != group), "")
    readings = [body.replace(group, "").replace(decimal or ".", ".")] if group else [body.replace(",", ".")]
    if group and group in ".," and not decimal and body.count(group) == 1:
        readings.append(body.replace(group, "."))
    sign = -1 if match[0][0] in "-−" else 1
    power = int(match["exponent"][1:]) if match["exponent"] else 0
    for text in readings:
        value = sign * float(f"{text}e{power}")
        unit = 10.0 ** (power - len(text.partition(".")[2]))
        half = unit / 2 + abs(value) * 1e-12
        yield Range(value - half, value + half, unit)
        # The number may be negative, with brackets in place of a minus sign.
        yield Range(-value - half, half - value, unit)
        if unit == 1:
            # The number may be truncated and not rounded.
            yield Range(min(value, value + sign), max(value, value + sign), 0)
        if match["percent"]:
            yield Range((value - half) / 100, (value + half) / 100, unit / 100)
        if text.isdecimal() and (compact := compact_date(text)):
            yield Range(day_number(compact), day_number(compact) + 0.999, 1.0, is_date=True)
        if text.isdecimal() and (per_day := UNITS_OF_UNIX.get(len(text))):
            day = FIRST_DAY_OF_UNIX + value / per_day
            yield Range(day - 1e-6, day + 1e-6, 1 / 86_400, is_date=True)


class NumberFilter:
    """Finds numbers and dates that reveal something about single rows."""

    def __init__(self, tables: Sequence[Sequence[Numbers]], sizes: Iterable[float], known: str) -> None:
        """`sizes`: numbers of rows and columns. `known`: text that the model has written or was sent."""
        self._tables = tables
        self._sizes = {*sizes, *(column.count for table in tables for column in table if column.count)}
        self._height = max((len(column.values) for table in tables for column in table), default=0)
        self._shows_quartiles = QUARTILES.search(known) is not None
        self._matched: dict[tuple[str, float], tuple[list[list[tuple[Numbers, Range]]], bool]] = {}
        """Cache: the matching cells of a token, and whether it identifies one, by its text and its first value."""
        self._known = {match["body"] for match in NUMBER.finditer(known)}

    def find(self, text: str, taken: Sequence[tuple[int, int]]) -> list[Token]:
        """Find numbers and dates of a text, and set `is_hidden` of each. `taken`: parts hidden as texts, in order."""
        tokens = [*self._tokens(text, taken)]
        for token in tokens:
            key = (token.text, token.ranges[0].low)
            if key not in self._matched:
                token.matches = [self._matches(token, columns) for columns in self._tables]
                self._matched[key] = token.matches, self._identifies(token)
            token.matches, token.is_hidden = self._matched[key]
        lines: dict[int, list[Token]] = {}
        at = line = 0
        for token in tokens:
            line += text.count("\n", at, token.start)
            at = token.start
            lines.setdefault(line, []).append(token)
        for number, columns in enumerate(self._tables):
            if columns:
                rows = RowSearch(columns, number)
                rows.hide_indexed([group for group in lines.values() if begins_line(text, group[0])])
                rows.hide_chains(lines.values())
                rows.hide_chains([token] for token in tokens)
        return tokens

    def _tokens(self, text: str, taken: Sequence[tuple[int, int]]) -> Iterator[Token]:
        """Return an iterator over numbers and dates outside of `taken`."""
        free = bytearray(len(text))
        for start, end in [*taken, *(match.span() for match in PLACES_IN_CODE.finditer(text))]:
            free[start:end] = b"\1" * (end - start)
        found = []
        for match in DATE.finditer(text):
            start, end = match.span()
            ranges = [] if any(free[start:end]) else [*read_moment(match[0], match["parts"])]
            if ranges:
                free[start:end] = b"\1" * (end - start)
                found.append(Token(start, end, match[0], ranges))
        for match in NUMBER.finditer(text):
            for part in self._parts(match):
                start, end = part.span()
                is_name = start > 0 and text[start - 1].isalpha() and sum(map(str.isdigit, part[0])) < 4
                if not is_name and not any(free[start:end]):
                    found.append(Token(start, end, part["body"], [*read_number(part)]))
        return iter(sorted(found, key=lambda token: token.start))

    def _parts(self, match: re.Match[str]) -> Iterable[re.Match[str]]:
        """Return a number, or its pieces if no cell has its value: `34,520` may be two cells of a raw row."""
        mark = next((mark for mark in ", " if mark in match["body"]), "")
        columns = [column for table in self._tables for column in table]
        if not mark or any(
            column.chance(one.low, one.high, one.unit) is not None for one in read_number(match) for column in columns
        ):
            return [match]
        pieces = re.compile(r"(?<!\d)-?(?P<body>\d+(?:\.\d+)?)(?P<group>)?(?P<exponent>(?!))?(?P<percent>(?!))?")
        return pieces.finditer(match.string, match.start(), match.end())

    def _matches(self, token: Token, columns: Sequence[Numbers]) -> list[tuple[Numbers, Range]]:
        if token.middle in self._sizes and not token.is_date:
            return []
        return [
            (column, one)
            for column in columns
            for one in token.ranges
            if one.is_date == column.is_date and column.chance(one.low, one.high, one.unit) is not None
        ]

    def _identifies(self, token: Token) -> bool:
        """Return whether the number alone identifies a cell."""
        value = token.middle
        is_count = value.is_integer() and 0 <= value <= self._height
        is_small = value.is_integer() and (abs(value) <= SMALL or value == 100)
        if token.text in self._known or (is_small and not token.is_date):
            return False
        digits = len(re.sub(r"\D", "", token.text).strip("0"))
        limit = THRESHOLDS[digits] if digits < len(THRESHOLDS) and not token.is_date else LONG_THRESHOLD
        limit = THRESHOLDS[0] if is_count else limit
        found = [(column, one) for table in token.matches for column, one in table]
        if self._shows_quartiles and any(column.is_usual(one.low, one.high) for column, one in found):
            return False
        chances = [column.chance(one.low, one.high, one.unit) or 0 for column, one in found]
        return bool(chances) and max(chances) < limit


def begins_line(text: str, token: Token) -> bool:
    """Return whether a number is the first word of its line, as row labels are."""
    start = text.rfind("\n", 0, token.start) + 1
    return INDEX.fullmatch(text, start, token.start) is not None


class TablePlace(NamedTuple):
    """The cells and rows of a table that match one number of the text."""

    cells: Sequence[tuple[Sequence[float], float, float]]
    """For each column that has a match: its values, and the range of the number."""
    log_share: float
    """The logarithm of the share of rows that match."""
    rows: Sequence[int]
    """The matching rows of the column with the fewest matches; empty if they are too many."""


class RowSearch:
    """Finds numbers of a text that are cells of one row of a table, or of successive rows."""

    def __init__(self, columns: Sequence[Numbers], number: int) -> None:
        """`number`: the position of the table among all tables."""
        self._columns = columns
        self._number = number
        self._height = max([1, *(len(column.values) for column in columns)])
        self._known: dict[tuple[str, float], TablePlace] = {}

    def hide_indexed(self, lines: Iterable[list[Token]]) -> None:
        """Hide cells in lines that begin with the number of their row."""
        score = 0.0
        members: list[Token] = []
        for index, *group in lines:
            row = int(index.text) + self._columns[0].first if index.text.isdecimal() and len(index.text) < 9 else -1
            added, found = self._fit(group, row) if group else (0.0, [])
            if not found:
                score, members = 0.0, []
                continue
            score, members = score + added, members + found
            self._hide(score, members)

    def hide_chains(self, groups: Iterable[list[Token]]) -> None:
        """Hide groups of numbers, such as lines, if one matches a row or successive ones match successive rows."""
        chains: dict[tuple[int, int], tuple[float, list[Token]]] = {}
        for group in groups:
            starts: dict[tuple[int, int], tuple[float, list[Token]]]
            starts = {(row, step): (log(self._height), []) for row in self._starts(group) for step in (1, -1)}
            starts[self._columns[0].first, 1] = (log(2), [])
            starts |= {(row + step, step): chain for (row, step), chain in chains.items()}
            chains = {}
            for (row, step), (score, members) in [*starts.items()][-CHAINS_LIMIT:]:
                added, found = self._fit(group, row)
                if found:
                    chains[row, step] = score + added, members + found
                    self._hide(score + added, members + found)

    def _hide(self, score: float, members: list[Token]) -> None:
        if score < ROW_CHANCE:
            for token in members:
                token.is_hidden = True
            members.clear()

    def _starts(self, group: list[Token]) -> Sequence[int]:
        """Return the rows that match the group's rarest number."""
        found = (self._facts(token).rows for token in group)
        return min(filter(None, found), key=len, default=())

    def _fit(self, group: list[Token], row: int) -> tuple[float, list[Token]]:
        """Return the log-probability that a row has as many of these numbers by chance, and those that this row has."""
        found, score = [], 0.0
        for token in group if 0 <= row < self._height else ():
            facts = self._facts(token)
            for values, low, high in facts.cells:
                if low <= values[row] <= high:
                    found.append(token)
                    score += facts.log_share
                    break
        return score + log(comb(len(group), len(found))), found

    def _facts(self, token: Token) -> TablePlace:
        """Return the cells and rows of the table that match a number."""
        key = (token.text, token.ranges[0].low)
        if facts := self._known.get(key):
            return facts
        found = [(column, one) for column, one in token.matches[self._number] if column.count and not column.is_counter]
        spans = [(column.order, *column.rows(one.low, one.high)) for column, one in found]
        share = sum(end - start for _, start, end in spans) / self._height
        order, start, end = min(spans, key=lambda span: span[2] - span[1], default=((), 0, 0))
        rows = order[start:end] if end - start <= STARTS_LIMIT else ()
        cells = [(column.values, one.low, one.high) for column, one in found]
        facts = self._known[key] = TablePlace(cells, log(min(1.0, share) or 1.0), rows)
        return facts
