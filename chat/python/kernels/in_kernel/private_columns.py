"""Runs inside a kernel: sorts the cells of a column into numbers, dates and texts."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Decimal
from itertools import repeat
from typing import NamedTuple

from chat.python.kernels.in_kernel.private_cells import DATE, Numbers, Texts, day_number, moment_number
from chat.python.kernels.in_kernel.table_dates import DAY_FIRST, DateReading, date_value
from chat.python.kernels.in_kernel.table_numbers import NumberForm, decimals_in, number_of
from chat.python.kernels.in_kernel.table_values import MISSING, TEXT_LIMIT_CHARS, Reading, Shapes

NAN = float("nan")
DIGIT = re.compile(r"\d")
NUMBER_IN_TEXT = re.compile(r"(?<![\w-])\d(?:[\d.,'’]*\d)?(?![\w-])")
PLAIN_NUMBER = re.compile(r"^-?\d{1,21}(?:\.\d{1,15})?$", re.MULTILINE | re.ASCII)
"""A number that has the same value in every column, except in one with decimal commas."""
PLAIN_DATE = re.compile(r"^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?$", re.MULTILINE | re.ASCII)
NO_DIGIT = re.compile(r"^[^\d\n]+$", re.MULTILINE)
MAY_BE_DATE = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)|\d[./-] ?\d")


class PlainCells(NamedTuple):
    """The different cells of a column, by kind.

    They are found by one search in all cells, several times as fast as one search in each.
    """

    numbers: Sequence[str]
    days: Mapping[str, float]
    """Dates, with their days since year 1."""
    texts: Sequence[str]
    """Texts without digits."""
    others: Set[object]


def index_column(cells: Sequence[object], first: int, texts: Texts) -> Iterator[Numbers]:
    """Add the texts of a column to `texts`, and yield its numbers, its dates, and those inside its texts."""
    numbers: dict[object, float] = {}
    days: dict[object, float] = {}
    others: set[float] = set()
    try:
        different = {*cells}
    except TypeError:
        different = {cell if isinstance(cell, (str, int, float)) else str(cell) for cell in cells}
        cells = [cell if isinstance(cell, (str, int, float, date, Decimal)) else None for cell in cells]
    # If many cells are repeated, searching among the different ones is faster.
    if len(different) * 2 > len(cells) and (plain := read_plain_column(cells, first)):
        texts.add(read_cells({*cells[:first]}, {}, {}, set()))
        yield plain
        return
    found = read_cells(different, numbers, days, others)
    texts.add(found)
    for values in (numbers, days):
        if values:
            rows = [*map(values.get, cells, repeat(NAN))]
            yield Numbers(rows, others if values is days else (), first, is_date=values is days)
    numbers, days, others = {}, {}, set()
    within = [text for text in found if DIGIT.search(text)]
    read_cells({*NUMBER_IN_TEXT.findall("\n".join(within))}, numbers, days, others)
    dated = "\n".join(text for text in within if MAY_BE_DATE.search(text))
    read_cells({match[0] for match in DATE.finditer(dated)}, {}, days, others)
    for is_date, inner in enumerate((numbers, days)):
        if inner:
            yield Numbers((), [*inner.values(), *(others if is_date else ())], is_date=bool(is_date))


def read_plain_column(cells: Sequence[object], first: int) -> Numbers | None:
    """Return the column if its cells, without empty ones, are all plain numbers or all plain dates; else None.

    The names above them must have no digits.
    """
    rows = [cell for cell in cells[first:] if isinstance(cell, str)]
    joined = "\n".join(rows)
    is_whole = len(rows) == len(cells) - first == joined.count("\n") + 1
    if not is_whole or any(DIGIT.search(str(name)) for name in cells[:first]):
        return None
    empty_count, names = rows.count(""), [NAN] * first
    if len(PLAIN_NUMBER.findall(joined)) + empty_count == len(rows) > empty_count:
        return Numbers(names + [float(cell) if cell else NAN for cell in rows], (), first)
    if len(PLAIN_DATE.findall(joined)) + empty_count == len(rows) > empty_count:
        # A date may not exist, such as 2023-02-30.
        with contextlib.suppress(ValueError):
            days = [moment_number(datetime.fromisoformat(cell)) if cell else NAN for cell in rows]
            return Numbers(names + days, (), first, is_date=True)
    return None


def find_plain(cells: Set[object]) -> PlainCells:
    """Find plain numbers, plain dates and texts without digits among different cells."""
    others, found = {*cells}, list[list[str]]()
    for pattern in (PLAIN_NUMBER, NO_DIGIT, PLAIN_DATE):
        lines = [cell for cell in others if isinstance(cell, str) and "\n" not in cell]
        found.append(pattern.findall("\n".join(lines)))
        others.difference_update(found[-1])
    numbers, texts, dates = found
    try:
        days = {text: moment_number(datetime.fromisoformat(text)) for text in dates}
    except ValueError:
        # One of the dates does not exist, such as 2023-02-30.
        return PlainCells(numbers, {}, texts, others.union(dates))
    return PlainCells(numbers, days, texts, others)


def read_cells(
    cells: Set[object], numbers: dict[object, float], days: dict[object, float], others: set[float]
) -> list[str]:
    """Sort different cells into numbers and dates, and return the texts."""
    forms: dict[NumberForm, list[str]] = {}
    dates: list[tuple[str, DateReading]] = []
    shapes = Shapes()
    plain = find_plain(cells)
    days.update(plain.days)
    texts = [text for text in map(str.strip, plain.texts) if is_value(text)]
    for cell in plain.others:
        if isinstance(cell, str):
            text = cell.strip()
            if text.isdecimal() and text.isascii():
                numbers[cell] = float(text)
            elif not DIGIT.search(text) or len(text) > TEXT_LIMIT_CHARS:
                texts += [text] if is_value(text) else []
            else:
                add_reading(cell, shapes.read(text), forms, dates, texts)
        elif isinstance(cell, date):
            days[cell] = moment_number(cell)
        elif isinstance(cell, (int, float, Decimal)) and not isinstance(cell, bool):
            numbers[cell] = float(cell)
        elif cell is not None and not isinstance(cell, bool):
            texts += re.findall(r"[^\"',:\[\]{}()]+", str(cell))
    marks = {decimals_in(form, [text.strip() for text in group]) for form, group in forms.items()}
    if "," in marks:
        for number in plain.numbers:
            add_reading(number, shapes.read(number), forms, dates, texts)
    else:
        numbers.update(zip(plain.numbers, map(float, plain.numbers), strict=True))
    for form, group in forms.items():
        for cell in group:
            numbers[cell] = float(number_of(cell.strip(), form, "," if "," in marks else "."))
    add_dates(dates, days, others, texts)
    return texts


def is_value(text: str) -> bool:
    """Return whether a text is neither a word for a missing value nor `True` or `False`."""
    return text.casefold() not in MISSING and text not in ("True", "False")


def add_dates(
    dates: Sequence[tuple[str, DateReading]], days: dict[object, float], others: set[float], texts: list[str]
) -> None:
    """Add dates, read in the most frequent order of their column, and their other possible readings.

    Invalid dates become texts.
    """
    orders = Counter(order for _, reading in dates for order in reading.orders)
    [(usual, _)] = orders.most_common(1) or [(DAY_FIRST, 0)]
    for cell, moment in dates:
        try:
            days[cell] = day_number(date_value(moment, usual))
            others.update(
                day_number(date_value(moment, order)) for order in moment.orders if orders[order] == orders[usual]
            )
        except ValueError:
            texts.append(cell)


def add_reading(
    cell: str,
    reading: Reading,
    forms: dict[NumberForm, list[str]],
    dates: list[tuple[str, DateReading]],
    texts: list[str],
) -> None:
    """Add a text with a digit to the numbers, the dates or the texts."""
    if reading.form:
        forms.setdefault(reading.form, []).append(cell)
    elif reading.date:
        dates.append((cell, reading.date))
    else:
        texts.append(cell)
