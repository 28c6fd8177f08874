"""Runs inside a kernel: describes the columns of a table, and decides doubtful values by all columns together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_dates import DAY_FIRST, date_value, time_seconds
from chat.python.kernels.in_kernel.table_numbers import (
    Number,
    NumberForm,
    decimals_in,
    number_form,
    number_of,
    shape_of,
    show_number,
)
from chat.python.kernels.in_kernel.table_roles import role_of
from chat.python.kernels.in_kernel.table_source import Choices

EXAMPLES_LIMIT = 3
EXAMPLE_LIMIT_CHARS = 40
PANDAS_MARKS = frozenset({",", ".", " ", "'"})
"""Thousands separators that `read_csv` can remove."""
SENTINEL_LIMIT = -99
FLOAT_LIMIT = 1.7976931348623157e308
TYPE_NAMES = {
    "integer": "whole number",
    "datetime": "date and time",
    "boolean": "yes or no",
}
"""The names of kinds as people see them, if they differ."""


def decide_columns(
    columns: Sequence[Column], choices: Choices, *, delimiter: str, is_text: bool
) -> tuple[Choices, dict[str, list[str]]]:
    """Read the values of all columns. Return the decisions, and the candidates for doubtful ones, by keys of `Choices`.

    `is_text`: whether all cells of the file format are texts.
    """
    words = list(dict.fromkeys(word for column in columns for word in column.missing_words))
    candidates: dict[str, list[str]] = {}
    decimal = _decide_decimal(columns, choices, delimiter, candidates)
    order = _decide_order(columns, choices, candidates)
    reading: Choices = {}
    if is_text or words or "missing_words" in choices:
        reading["missing_words"] = choices.get("missing_words", words)
    if is_text or any(column.decimal or column.doubtful_decimal for column in columns):
        reading["decimal"] = decimal
    if "date_order" in choices or any(column.orders for column in columns):
        reading["date_order"] = order
    for column in columns:
        if "decimal" in choices and column.group == "number":
            _obey_decimal(column, decimal)
        column.decide(decimal, order, is_order_chosen="date_order" in choices)
        if column.group == "number":
            column.oddities |= _odd_numbers(column)
        elif column.group == "date":
            column.oddities |= _odd_dates(column)
        if column.words:
            shown = "”, “".join(clip_text(word) for word in column.words[:EXAMPLES_LIMIT])
            column.oddities[f"no {column.group}"] = shown + ("”, “…" if len(column.words) > EXAMPLES_LIMIT else "")
    return reading, candidates


def _decide_decimal(
    columns: Sequence[Column], choices: Choices, delimiter: str, candidates: dict[str, list[str]]
) -> str:
    """Return the decimal mark for columns that do not show it. Add candidates if no column shows it."""
    marks = Counter(column.decimal for column in columns if column.decimal)
    # Files with decimal commas usually separate cells by semicolons.
    likely = max(".,", key=lambda mark: marks[mark]) if marks else "," if delimiter == ";" else "."
    decimal = choices.get("decimal", likely)
    doubtful = [column for column in columns if column.doubtful_decimal] if not marks else []
    if doubtful:
        candidates["decimal"] = sorted(".,", key=lambda mark: mark != decimal)
    for column in doubtful if "decimal" not in choices else ():
        form, texts = next((form, texts) for form, texts in column.forms.items() if form.is_doubtful)
        value = show_number(number_of(texts[0], form, decimal))
        column.oddities["decimal or thousands"] = f"{texts[0]}” is read as “{value}"
    return decimal


def _obey_decimal(column: Column, decimal: str) -> None:
    """Treat numbers that do not fit the decimal mark chosen by a person as texts, as pandas does.

    If they are more than a fifth of the values, the column becomes one of texts.
    """
    if column.plain == "number" and decimal == ",":
        column.plain = ""
        for text in column.texts:
            if form := number_form(shape_of(text)):
                column.forms.setdefault(form, []).append(text)
    wrong = {form: texts for form, texts in column.forms.items() if decimals_in(form, texts) not in ("", decimal)}
    words = [text for texts in wrong.values() for text in texts]
    column.decimal = decimal
    column.forms = {form: texts for form, texts in column.forms.items() if form not in wrong}
    if sum(column.texts[word] for word in words) * 5 > column.kinds.total():
        column.kind, column.forms, column.words = "text", {}, []
        column.oddities["other decimal"] = words[0]
    else:
        column.words += words


def _decide_order(columns: Sequence[Column], choices: Choices, candidates: dict[str, list[str]]) -> str:
    """Return the date order for columns that do not show it. Add candidates if other columns do not show it either."""
    certain = Counter(column.orders[0] for column in columns if len(column.orders) == 1)
    doubtful = [column for column in columns if len(column.orders) > 1 and not set(column.orders) & set(certain)]
    usual = max(certain, key=lambda order: certain[order], default=doubtful[0].orders[0] if doubtful else DAY_FIRST)
    order = choices.get("date_order", usual)
    for column in doubtful:
        candidates.setdefault("date_order", sorted(column.orders, key=lambda one: one != order))
        if "date_order" not in choices:
            text, date = next((text, date) for text, date in column.date_texts if len(date.orders) > 1)
            value = date_value(date, order if order in column.orders else column.orders[0])
            column.oddities["day or month"] = f"{text}” is read as “{value}"
    return order


def _odd_numbers(column: Column) -> dict[str, str]:
    """Return an example for each unusual form of numbers."""
    examples: dict[str, str] = {}
    for form, texts in column.forms.items():
        if not (form.is_doubtful and "decimal or thousands" in column.oddities):
            examples.setdefault(_style_of(form, texts[0], column.decimal), texts[0])
        if form.unit and "measure" not in column.oddities:
            examples.setdefault("unit", texts[0])
        if form.sign:
            examples.setdefault(form.sign, texts[0])
    marks = {form.mark for form in column.forms} - {""}
    if len(marks) > 1 or not marks <= PANDAS_MARKS:
        examples["marks"] = examples.pop("other thousands")
    units = sorted({form.unit for form in column.forms} - {""})
    if len(units) > 1:
        examples["units"] = "” and “".join(units[:2])
    if "comma" in examples and "point" in examples:
        examples["comma and point"] = f"{examples['comma']}” and “{examples['point']}"
    if column.numbers and (low := _find_sentinel(column.numbers)):
        examples["sentinel"] = low
    if column.numbers and not -FLOAT_LIMIT <= min(column.numbers) <= max(column.numbers) <= FLOAT_LIMIT:
        huge = [one for one in column.numbers if not -FLOAT_LIMIT <= one <= FLOAT_LIMIT and not _is_infinite(one)]
        examples |= {"huge": show_number(huge[0])} if huge else {}
    return {code: text for code, text in examples.items() if code not in ("point", "integer")}


def _find_sentinel(numbers: Sequence[Number]) -> str:
    """Return the least number if it is a placeholder such as -999.9, far below all others; else an empty text."""
    least = min(numbers)
    text = show_number(least) if least <= SENTINEL_LIMIT else ""
    if not text or set(text) - set("-9."):
        return ""
    others = [number for number in numbers if number != least]
    return text if others and min(others) * 2 > least else ""


def _style_of(form: NumberForm, text: str, decimal: str) -> str:
    """Return the style of a form, with the decimal mark that was decided for its column."""
    if not form.is_doubtful:
        return form.style
    if text[form.start] == "0":
        return "point" if form.style == "point" else "comma"
    if form.style == "point":
        return "point" if decimal == "." else "dot thousands"
    return "comma" if decimal == "," else "comma thousands"


def _odd_dates(column: Column) -> dict[str, str]:
    """Return an example for each unusual form of dates."""
    found: dict[str, str] = {}
    styles: dict[tuple[str, bool], str] = {}
    for text, date in column.date_texts:
        styles.setdefault((date.style, bool(date.orders) and column.orders[0] not in date.orders), text)
    if len(styles) > 1 or (styles and column.plain):
        found["date formats"] = "” and “".join(list(styles.values())[:2])
    elif styles and "day or month" not in column.oddities and ("iso", False) not in styles:
        found["date form"] = next(iter(styles.values()))
    if len({date.zone for _, date in column.date_texts}) > 1:
        found["zones"] = next(text for text, date in column.date_texts if date.zone)
    return found


def _is_infinite(number: object) -> bool:
    return isinstance(number, float) and math.isinf(number)


def describe_column(column: Column, note: str) -> dict[str, object]:
    """Return the description of a column. All of its parts have a limited size."""
    distinct, examples = _examples(column)
    role = role_of(column, distinct)
    low, high = _range(column)
    is_index = role not in ("year", "code") and _is_index(column)
    return {
        "name": clip_text(column.name, 80),
        "type": TYPE_NAMES.get(column.kind, column.kind),
        "missing": column.missing,
        "distinct": distinct,
        "minimum": low,
        "maximum": high,
        "examples": examples,
        "is_index": is_index,
        "role": role,
        "note": note,
    }


def _range(column: Column) -> tuple[str, str]:
    if column.group == "number" and column.numbers:
        has_infinite = "infinite" in column.oddities
        finite = [one for one in column.numbers if not _is_infinite(one)] if has_infinite else column.numbers
        numbers = finite or column.numbers
        return show_number(min(numbers)), show_number(max(numbers))
    if column.group == "date" and column.days:
        return min(column.days), max(column.days)
    if column.group == "time" and column.times:
        times = sorted(column.times, key=lambda text: (time_seconds(text) or 0.0, text))
        return clip_text(times[0]), clip_text(times[-1])
    return "", ""


def _examples(column: Column) -> tuple[int, list[list[object]]]:
    """Return the number of different values, and examples.

    The examples are the most frequent texts with their counts, or the first numbers or dates.
    """
    if column.group == "number":
        numbers = dict.fromkeys(column.numbers)
        return len(numbers), [[show_number(one), 0] for one in islice(numbers, EXAMPLES_LIMIT)]
    if column.group in ("date", "time"):
        values = dict.fromkeys(column.days or column.times)
        return len(values), [[clip_text(one), 0] for one in islice(values, EXAMPLES_LIMIT)]
    counts = column.texts + column.others if column.others else column.texts
    is_counted = bool(column.texts)
    texts = counts.most_common(EXAMPLES_LIMIT) if is_counted else sorted(counts.items())[:EXAMPLES_LIMIT]
    return len(counts), [[clip_text(text), count if is_counted else 0] for text, count in texts]


def _is_index(column: Column) -> bool:
    """Return whether the column only counts the rows, from any number on."""
    numbers = column.numbers
    if column.kind != "integer" or column.missing or not 3 <= len(numbers) == column.cells:
        return False
    first = int(numbers[0])
    return all(number == position for position, number in enumerate(numbers, first))


def clip_text(text: str, limit_chars: int = EXAMPLE_LIMIT_CHARS) -> str:
    """Return the text on one line, shortened to the limit."""
    line = " ".join(text[: 10 * limit_chars].split())
    return line if len(line) <= limit_chars else line[: limit_chars - 1] + "…"
