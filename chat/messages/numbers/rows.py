"""Reads lines in the outputs of code as rows: of tables and series of pandas, `total: 12`, `n = 5, p = 0.1`, `{'a':
1}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from chat.messages.numbers.aligned_columns import aligned_numbers, texts_in, word_ends
from chat.messages.numbers.caches import cache_short_texts
from chat.messages.numbers.numerals import RUN_IN_SOURCE, YEAR, read_run
from chat.messages.numbers.sources import GREATEST
from chat.messages.numbers.statistic_words import MINUTES, label_statistic, quantile_label, statistic_mentions

VALUE: Final = rf"(?P<sign>-)?[$€£₹¥]?(?P<run>{RUN_IN_SOURCE})(?P<e>e[-+]?\d+)?%?(?![\w]|[.,]\d|-[^\W\d])"
_CELL: Final = re.compile(
    r"(?P<date>(?<![\w.])\d{4}-\d\d(?:-\d\d)?(?![\w.]))|"
    rf"(?<![\w.,])(?<!\w-)(?<![^\W\d]/){VALUE}|"
    r"(?<!\S)(?P<none>NaN|None|<NA>|NaT)(?!\S)"
)
"""A date, a number or a missing value. The digit of a name such as `HTTP/2` is no number."""
_PAIR: Final = re.compile(
    r"(?:(?P<quote>['\"])(?P<quoted>[^'\"\n]{1,60})(?P=quote)|"
    r"(?P<bare>(?<![\w.,%])(?:[^\W\d][^\n:=,;{}\[\]'\"]{0,40}?|\d+(?:\.\d+)?%?)))"
    rf"\s{{0,3}}[:=]\s{{0,8}}(?:np\.\w{{1,10}}\()?(?:{VALUE}|(?P<none>nan|None)(?!\w))"
)
"""A key and its value. A line may hold several pairs, or a dictionary."""
_PAIRS_LIMIT_CHARS: Final = 4_000
_LETTER: Final = re.compile(r"[^\W\d_]")
_LABEL_END: Final = re.compile(r": |\s{2,}")
_AFTER_ROW_NUMBER: Final = re.compile(r"[.):]\s|\s{2}|\t")
_INTERVAL: Final = re.compile(
    r"\s*([(\[]-?\d[\d.]*, ?-?\d[\d.]*[)\]]|(?!\d{4}-\d\d)\d[\d.]*(?:[-–]\d[\d.]*|\+)|[<>]=? ?\d[\d.]*)(?=\s)"
)
"""A range of numbers that is the label of a row."""
_NUMBER: Final = re.compile(r"[0-9]+\.[0-9]+")
TOTALS: Final = frozenset({"count", "sum", "total", "all", "n", "gesamt", "summe", "合计", "कुल"})
_STATISTICS: Final = TOTALS | {"mean", "std", "min", "max", "median", "mittel", "q1", "q3", "ci", "se"}
QUARTERS: Final = frozenset({"q1", "q2", "q3"})
_STATISTICS_OF_MODELS: Final = frozenset({"slope", "intercept", "stderr", "r2", "r", "weighted", "simple"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a table."""

    start: int
    end: int
    value: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line that contains numbers."""

    start: int
    label: str
    """The label in the form of `normal_label`; empty if the row has none."""
    cells: tuple[Cell | None, ...]
    """`None`: a missing value."""
    names: tuple[str, ...] = ()
    """The names of the cells if the line itself contains them; otherwise empty."""
    group: str = ""
    """The label in the first column, if the row has two columns of labels."""
    texts: tuple[str, ...] = ()
    """The texts in the columns of labels, in the form of `normal_label`."""
    is_quarter: bool = False
    """True if a label such as Q1 means a quarter of a year and not a quartile."""

    @property
    def is_statistic(self) -> bool:
        """Return whether the row holds a statistic of the other rows, or of a column."""
        if self.is_quarter and self.label in QUARTERS:
            return False
        are_statistics = any(self.names) and all(map(label_statistic, self.names))
        return are_statistics or _names_statistic(self.label)

    def is_like(self, other: Row) -> bool:
        """Return whether both rows may belong to the same table. Quantiles below a series are a table of their own."""
        is_alike = (len(self.cells), self.names) == (len(other.cells), other.names)
        return is_alike and (other.is_statistic or not self.label.endswith("%"))

    def may_be_row(self, other: Row) -> bool:
        """Return whether this row may hold the deviation of a value of `other`: it is equal, or holds a statistic."""
        return self == other or self.is_statistic or bool(statistic_mentions(self.label))


@cache_short_texts(maxsize=4096)
def _names_statistic(label: str) -> bool:
    words = re.split(r"[\W_]+", MINUTES.sub("", label))
    return label in _STATISTICS_OF_MODELS or label.endswith("%") or not _STATISTICS.isdisjoint(words)


@cache_short_texts(maxsize=4096)
def normal_label(text: str) -> str:
    """Return a label in the form in which labels are compared: in lower case, with single spaces."""
    words = re.split(r"[_\s]+", text.strip(" *`'\"#.:|=,;()[]{}/\t-").lower())
    return " ".join(filter(None, words))


def read_line(line: str, position: int, *, is_first: bool, header: str) -> tuple[list[Row], list[str]]:
    """Return the rows of a line, or the names of columns if the line contains those instead.

    `position`: the position of the line in its source. `is_first`: no row comes before the line. `header`: the line
    above the rows.
    """
    rows = _named_cells(line, position) if not (header or "{" in line) else []
    if rows and rows[0].names:
        return rows, []
    if line.count("=") + line.count(":") > 1 or line[:1] == "{":
        matches = _PAIR.finditer(line[:_PAIRS_LIMIT_CHARS])
        pairs = [_pair(match, position) for match in matches if (match["bare"] or "").count(" ") <= 1]
        if len(pairs) > 1:
            return pairs, []
    if rows:
        return rows, []
    interval = _INTERVAL.match(line)
    inner = " " * interval.end() + line[interval.end() :] if interval else line
    row, names = _row(inner, position, header, is_first=is_first)
    if row and interval:
        row = replace(row, label=interval[1])
    return [row] if row else [], names


def _pair(match: re.Match[str], position: int) -> Row:
    key = match["quoted"] or match["bare"]
    cell = read_cell(match, position)
    # The key of a pair is no part of its cell.
    cell = cell and replace(cell, start=position + match.end("quoted" if match["quoted"] else "bare"))
    return Row(position + match.start(), quantile_label(key) or normal_label(key), (cell,))


def _named_cells(line: str, position: int) -> list[Row]:
    """Return the rows of a line that has a name before each of its numbers, as in `Ulm: mean 3.5, max 7`."""
    matches = list(_CELL.finditer(line))
    ends = [0, *(match.end() for match in matches)]
    leads = [line[end : match.start()] for end, match in zip(ends, matches, strict=False)]
    names = [lead.rpartition(", ")[2].strip(" \t|=:(+") for lead in leads]
    have_names = all(map(_LETTER.search, names)) and all(match["run"] for match in matches)
    if len(matches) < 2 or not have_names:
        return []
    *label, names[0] = _LABEL_END.split(names[0])
    cells = [read_cell(match, position) for match in matches]
    if not label and leads[0].rstrip().endswith(":") and not any(mark in lead for lead in leads[1:] for mark in ":="):
        # The first number has no name of its own, as in `Ulm: 3 km, height 7`.
        label, names[0] = [names[0]], ""
    if label:
        return [Row(position, normal_label(label[0]), tuple(cells), tuple(names))]
    starts = [position + end + len(lead) - len(lead.lstrip()) for end, lead in zip(ends, leads, strict=False)]
    return [Row(one, normal_label(name), (cell,)) for one, name, cell in zip(starts, names, cells, strict=True)]


def _row(line: str, position: int, header: str, *, is_first: bool) -> tuple[Row | None, list[str]]:
    """Return the row of a line, or the names of columns if the line contains those instead."""
    matches = [match for match in _CELL.finditer(line) if match[0].count(".") < 2 or read_run(match["run"], ".")]
    matches = aligned_numbers(header, line, matches) if header else matches
    numbers = [match for match in matches if match["run"]]
    names = [one for one in (line.split("\t") if "\t" in line else re.split(r"[\s|]+", line)) if one.strip()]
    if "[0.025" in line:
        # The line is the header of a table of coefficients: its numbers are the bounds of confidence intervals.
        return None, re.split(r"\s{2,}", line.strip())
    are_names = all(YEAR.fullmatch(match["run"]) or match[0].endswith("%") for match in numbers)
    if not numbers or (is_first and are_names and len(names) > len(numbers)):
        return None, names
    label, first = _label(line, matches, header)
    label = f"{float(label):.15g}" if _NUMBER.fullmatch(label) else label
    cells = tuple(read_cell(match, position) for match in matches[first:] if not match["date"])
    texts = map(normal_label, _texts(line, matches, first, header)) if label else ()
    return (Row(position, label, cells, texts=tuple(texts)), []) if cells else (None, names)


def _texts(line: str, matches: Sequence[re.Match[str]], first: int, header: str) -> tuple[str, ...]:
    """Return the texts in the columns of labels of a row. `first`: the index of the first cell."""
    is_numbered = first and not line[: matches[0].start()].strip() and matches[0].end() not in word_ends(header)
    start = matches[0].end() if is_numbered else 0
    return texts_in(line[start : matches[first].start()]) if first < len(matches) else ()


def _label(line: str, matches: Sequence[re.Match[str]], header: str) -> tuple[str, int]:
    """Return the label of a line, and the index of the number that is its first cell."""
    lead = line[: matches[0].start()].strip(" \t|")
    first = matches[0]
    if lead and len(matches) > 1 and _is_of_name(line, first) and not _is_in_column(line, matches, header):
        return normal_label(f"{lead} {first['run']}"), 1
    if lead:
        return normal_label(lead.partition("\t")[0].rstrip(": ")), 0
    if first["date"]:
        return first["date"], 1
    if len(matches) == 1:
        return "", 0
    if first.start() == 0 and quantile_label(first[0]) and len(matches) == max(2, len(header.split()) + 1):
        return quantile_label(first[0]), 1
    if matches[1]["date"] and len(matches) > 2:
        # A row number comes before the date.
        return matches[1]["date"], 2
    between = line[first.end() : matches[1].start()].strip(" \t|")
    if any(map(str.isalpha, between)):
        # A row number comes before the label, as in `0  Ulm  76993.3`. Other columns of text may follow.
        is_number = first[0].isdigit() and _AFTER_ROW_NUMBER.match(line, first.end())
        return normal_label(between.partition("\t")[0]), 1 if is_number else 0
    if YEAR.fullmatch(first[0]) or first[0].endswith("%"):
        return first[0], 1
    return "", 0


def _is_of_name(line: str, match: re.Match[str]) -> bool:
    """Return whether a number is the end of the label of its line, as in `Ring 2   426649`."""
    is_near = line[match.start() - 1 : match.start()] == " " and line[match.start() - 2 : match.start() - 1].isalpha()
    return is_near and match[0].isdigit() and line[match.end() : match.end() + 2] in ("  ", ": ", "\t")


def _is_in_column(line: str, matches: Sequence[re.Match[str]], header: str) -> bool:
    """Return whether the first number of a line is in a named column, so that it is not part of the label."""
    start = len(header) - len(header.lstrip())
    is_below = len(line[: matches[0].start()].rstrip()) < start < matches[0].end()
    return is_below or len(header.split()) == len(matches) + 1


def read_cell(match: re.Match[str], position: int) -> Cell | None:
    """Return the number of a match of `VALUE`; `None` if it is missing, or too great. `position`: that of the text."""
    if match["none"]:
        return None
    readings = read_run(match["run"], ".")
    value = float(readings[0].value if readings else 0) * (float(f"1{match['e']}") if match["e"] else 1)
    if not abs(value) < GREATEST:
        # This is also true for zero times infinity, as in `0e999`.
        return None
    return Cell(position + match.start(), position + match.end(), -value if match["sign"] else value)
