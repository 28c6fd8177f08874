"""Runs inside a kernel: builds the arguments with which pandas reads a text file as its columns are described."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_columns import PANDAS_MARKS
from chat.python.kernels.in_kernel.table_dates import date_pattern
from chat.python.kernels.in_kernel.table_numbers import thousands_mark
from chat.python.kernels.in_kernel.table_pandas import literal
from chat.python.kernels.in_kernel.table_values import PANDAS_MISSING

ARGUMENTS_LIMIT_CHARS = 2_500
"""Maximum length of the arguments. An argument that would exceed it is left out."""
WORDS_LIMIT = 20
"""Maximum number of different exceptions of a column that the arguments handle."""
NEED_CODE = frozenset({"marks", "comma and point", "signs"})
"""Oddities of numbers that `read_csv` cannot read."""
EXACT_LIMIT = 2**53
"""Whole numbers beyond this lose digits in a column with missing values, which pandas reads as floats."""


def read_arguments(columns: Sequence[Column], *, is_text_file: bool) -> str:
    """Return further arguments for `read_csv` or `read_excel`, each after a comma.

    `is_text_file`: see `Column`. In workbooks, numbers and dates have their own types.
    """
    counts = Counter(column.name for column in columns)
    named = [column for column in columns if column.name and counts[column.name] == 1]
    numbers = [column for column in columns if column.group == "number" and column.forms and not _needs_code(column)]
    numbers = numbers if is_text_file else []
    marks = Counter(thousands_mark(column.forms, column.decimal) for column in numbers)
    decimals = Counter(column.decimal for column in numbers if any(form.style != "integer" for form in column.forms))
    decimal = "," if decimals[","] > decimals["."] else "."
    thousands = next((mark for mark, _ in marks.most_common() if mark in PANDAS_MARKS and mark != decimal), "")
    if any(_loses_decimals(column, thousands) for column in columns if column not in named):
        thousands = ""
    dates = {column.name: pattern for column in named if is_text_file and (pattern := _date_pattern_of(column))}
    types = {column.name: type_name for column in named if (type_name := _type_of(column, thousands, dates))}
    arguments = [f'decimal="{decimal}"'] if decimal != "." else []
    arguments += [f"thousands={literal(thousands)}"] if thousands else []
    arguments += [f"dtype={literal(types)}"] if types else []
    arguments += _missing_arguments(columns, named)
    if dates:
        arguments.append(f"parse_dates={literal(list(dates))}")
        patterns = set(dates.values())
        arguments.append(f"date_format={literal(patterns.pop() if len(patterns) == 1 else dates)}")
    text = ""
    for argument in arguments:
        longer = f"{text}, {argument}"
        text = longer if len(longer) <= ARGUMENTS_LIMIT_CHARS else text
    return text


def _needs_code(column: Column) -> bool:
    return any(form.unit or form.sign for form in column.forms) or not NEED_CODE.isdisjoint(column.oddities)


def _missing_arguments(columns: Sequence[Column], named: Sequence[Column]) -> list[str]:
    exceptions = {
        column.name: [*column.missing_words, *column.words]
        for column in named
        if column.words and len(column.words) <= WORDS_LIMIT and not _needs_code(column)
    }
    words = dict.fromkeys(word for column in columns for word in column.missing_words)
    keeps_words = any(column.keeps_missing_words for column in columns)
    if not exceptions and not keeps_words:
        added = [word for word in words if word not in PANDAS_MISSING]
        return [f"na_values={literal(added)}"] if added else []
    found = {column.name: exceptions.get(column.name, column.missing_words) for column in named}
    if keeps_words:
        return ["keep_default_na=False", f"na_values={literal({name: ['', *words] for name, words in found.items()})}"]
    added_by_name = {name: [word for word in words if word not in PANDAS_MISSING] for name, words in found.items()}
    return [f"na_values={literal({name: words for name, words in added_by_name.items() if words})}"]


def _date_pattern_of(column: Column) -> str:
    """Return the format of a column of dates, if pandas can read all of them with one format; else an empty text."""
    if column.group != "date" or len(column.words) > WORDS_LIMIT or "signs" in column.oddities:
        return ""
    order = column.orders[0] if column.orders else ""
    patterns = {date_pattern(date, order) for _, date in column.date_texts}
    if column.plain:
        patterns.add("%Y%m%d" if "compact date" in column.oddities else "ISO8601")
    has_one_zone = len({date.zone for _, date in column.date_texts}) < 2
    # pandas cannot read 24:00.
    has_midnight = any(date.time.startswith("24") for _, date in column.date_texts)
    return patterns.pop() if len(patterns) == 1 and has_one_zone and not has_midnight else ""


def _type_of(column: Column, thousands: str, dates: dict[str, str]) -> str:
    if column.kind == "text":
        is_number_for_pandas = all(_is_number(text, thousands) for text in column.texts)
        return "str" if column.texts and is_number_for_pandas else ""
    if (column.group == "date" and thousands == "." and column.name not in dates) or _loses_decimals(column, thousands):
        return "str"
    if column.kind != "integer" or (column.forms and _needs_code(column)) or len(column.words) > WORDS_LIMIT:
        return ""
    low, high = min(column.numbers), max(column.numbers)
    if high >= 2**64 or low < -(2**63) or (low < 0 and high >= 2**63):
        return "str"
    if max(high, -low) > EXACT_LIMIT and (column.missing or column.words):
        return "Int64" if high < 2**63 else "UInt64"
    return ""


def _loses_decimals(column: Column, thousands: str) -> bool:
    """Return whether pandas would read `1.5` as 15, because other columns have this mark between thousands."""
    return column.kind == "number" and column.decimal == thousands != ""


def _is_number(text: str, thousands: str) -> bool:
    """Return whether pandas would read a text as a number."""
    try:
        return math.isfinite(float(text.replace(thousands, "") if thousands else text)) and "_" not in text
    except ValueError:
        return False
