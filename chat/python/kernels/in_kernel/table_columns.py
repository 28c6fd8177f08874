"""Runs inside a kernel: describe the columns of a table, and decide what they leave in doubt together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from chat.python.kernels.in_kernel.table_cells import NUMBERS, Column
from chat.python.kernels.in_kernel.table_dates import DAY_FIRST, time_seconds
from chat.python.kernels.in_kernel.table_numbers import show_number
from chat.python.kernels.in_kernel.table_roles import PERCENT_SIGNS, Facts, role_of
from chat.python.kernels.in_kernel.table_source import Choices

EXAMPLES_LIMIT = 3
EXAMPLE_LIMIT_CHARS = 40
FACT_TEXTS_LIMIT = 2_000
"""Different texts of a column by which its role is found."""
FLOAT_LIMIT = 1.7976931348623157e308
TYPE_NAMES = {
    "integer": "whole number",
    "datetime": "date and time",
    "boolean": "yes or no",
}
"""The names that people see, by kind of value, where they differ."""


def decide_columns(columns: Sequence[Column], choices: Choices, delimiter: str) -> tuple[Choices, dict[str, list[str]]]:
    """Read the values of all columns. Return what was decided, and the candidates, both by keys of `Choices`."""
    reading: Choices = {"missing_words": choices.get("missing_words", _missing_words(columns))}
    candidates: dict[str, list[str]] = {}
    marks = Counter(column.decimal for column in columns if column.decimal)
    doubtful = [column.doubtful_decimal for column in columns if column.doubtful_decimal]
    # Semicolons separate cells where commas stand before decimals.
    likely = ("," if delimiter == ";" else ".") if not marks else max(".,", key=lambda mark: marks[mark])
    decimal = choices.get("decimal", likely)
    reading["decimal"] = decimal
    if doubtful and not marks:
        candidates["decimal"] = sorted(".,", key=lambda mark: mark != decimal)
    orders = Counter(column.orders[0] for column in columns if len(column.orders) == 1)
    in_doubt = [column.orders for column in columns if len(column.orders) > 1]
    usual = next((order for order, _ in orders.most_common(1)), in_doubt[0][0] if in_doubt else DAY_FIRST)
    order = choices.get("date_order", usual)
    if orders or in_doubt:
        reading["date_order"] = order
    for column in columns:
        if column.doubtful_decimal and not marks and "decimal" not in choices:
            column.oddities["decimal or thousands"] = column.doubtful_decimal
        is_unclear = len(column.orders) > 1 and usual not in (column.orders if orders else ())
        if is_unclear:
            candidates.setdefault("date_order", sorted(column.orders, key=lambda one: one != order))
            if "date_order" not in choices:
                column.oddities["day or month"] = next(text for text, date in column.date_texts if len(date.orders) > 1)
        column.decide(decimal, order, is_order_chosen="date_order" in choices)
        find_oddities(column)
    return reading, candidates


def _missing_words(columns: Sequence[Column]) -> list[str]:
    return list(dict.fromkeys(word for column in columns for word in column.missing_words))


def find_oddities(column: Column) -> None:
    """Add what is unusual in the forms of numbers and dates."""
    examples: dict[str, str] = {}
    units = {form.unit for form in column.forms} - {""}
    for form, texts in column.forms.items():
        style = form.style
        if form.is_doubtful and texts[0][form.start] != "0":
            is_point = style == "point"
            is_decimal = is_point == (column.decimal == ".")
            style = (
                ("point" if is_point else "comma") if is_decimal else ("dot" if is_point else "comma") + " thousands"
            )
        examples.setdefault(style, texts[0])
        if form.unit and "measure" not in column.oddities:
            examples.setdefault("unit", texts[0])
        if form.sign:
            examples.setdefault(form.sign, texts[0])
    if len(units) > 1:
        examples["units"] = "” and “".join(sorted(units)[:3])
    if "comma" in examples and "point" in examples:
        examples["comma and point"] = f"{examples['comma']}” and “{examples['point']}"
    huge = (number for number in column.numbers if abs(number) > FLOAT_LIMIT and not _is_infinite(number))
    if (largest := next(huge, None)) is not None:
        examples["huge"] = show_number(largest)
    column.oddities |= {code: text for code, text in examples.items() if code not in ("point", "integer")}
    styles: dict[str, str] = {}
    for text, date in column.date_texts:
        is_other = bool(date.orders) and column.orders and column.orders[0] not in date.orders
        styles.setdefault(f"{date.style} {is_other}", text)
    if len(styles) > 1 or (styles and column.plain):
        column.oddities["date formats"] = "” and “".join(list(styles.values())[:2])
    elif styles and "day or month" not in column.oddities and "iso False" not in styles:
        column.oddities["date form"] = next(iter(styles.values()))
    if len({date.zone for _, date in column.date_texts}) > 1:
        column.oddities["zones"] = next(text for text, date in column.date_texts if date.zone)
    if column.words:
        shown = "”, “".join(clip_text(word) for word in column.words[:EXAMPLES_LIMIT])
        column.oddities[f"no {column.group}"] = shown + ("”, “…" if len(column.words) > EXAMPLES_LIMIT else "")


def _is_infinite(number: object) -> bool:
    return isinstance(number, float) and math.isinf(number)


def describe_column(column: Column, note: str) -> dict[str, object]:
    """Return the description of a column, of which all parts have a limited size."""
    finite = [number for number in column.numbers if not _is_infinite(number)]
    distinct, examples = _examples(column)
    role = role_of(facts_of(column, distinct))
    low, high = _range(column, finite)
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


def facts_of(column: Column, distinct: int) -> Facts:
    """Return what tells the role of a column."""
    units = frozenset(form.unit for form in column.forms) - {""}
    present = column.cells - column.missing
    return Facts(
        name=column.name,
        group=column.group,
        is_whole=column.kind == "integer",
        present=present,
        distinct=distinct,
        low=min(column.numbers, default=0),
        high=max(column.numbers, default=0),
        units=units,
        is_money=bool(units - PERCENT_SIGNS) and "measure" not in column.oddities,
        has_zeros="zeros" in column.oddities,
        texts=list(islice(column.texts, FACT_TEXTS_LIMIT)),
    )


def _range(column: Column, finite: Sequence[object]) -> tuple[str, str]:
    if column.kind in NUMBERS and column.numbers:
        numbers = finite or column.numbers
        return show_number(min(numbers)), show_number(max(numbers))
    if column.group == "date" and column.days:
        return min(column.days), max(column.days)
    if column.group == "time" and column.times:
        times = sorted(column.times, key=lambda text: (time_seconds(text) or 0.0, text))
        return clip_text(times[0]), clip_text(times[-1])
    return "", ""


def _examples(column: Column) -> tuple[int, list[list[object]]]:
    """Return the number of different values, and the most frequent texts with their counts, or the first values."""
    if column.kind in NUMBERS:
        return len(set(column.numbers)), [[show_number(one), 0] for one in _first(column.numbers)]
    if column.group in ("date", "time"):
        values = column.days or column.times
        return len(set(values)), [[clip_text(one), 0] for one in _first(values)]
    counts = column.texts + column.others
    is_counted = bool(column.texts)
    texts = counts.most_common(EXAMPLES_LIMIT) if is_counted else sorted(counts.items())[:EXAMPLES_LIMIT]
    return len(counts), [[clip_text(text), count if is_counted else 0] for text, count in texts]


def _first(values: Sequence[object]) -> list[object]:
    return list(islice(dict.fromkeys(values), EXAMPLES_LIMIT))


def _is_index(column: Column) -> bool:
    """Return whether the column only numbers the rows."""
    numbers = column.numbers
    if column.kind != "integer" or column.missing or not 3 <= len(numbers) == column.cells:
        return False
    first = int(numbers[0])
    return all(number == position for position, number in enumerate(numbers, first))


def clip_text(text: str, limit_chars: int = EXAMPLE_LIMIT_CHARS) -> str:
    """Return the text on one line, shortened to the limit."""
    line = " ".join(text[: 10 * limit_chars].split())
    return line if len(line) <= limit_chars else line[: limit_chars - 1] + "…"
