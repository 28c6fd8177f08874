"""Runs inside a kernel: describe the columns of a table, whose cells are texts or values of Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from chat.python.kernels.in_kernel.table_values import (
    DAY_FIRST,
    MISSING,
    Reading,
    date_value,
    number_value,
    order_of,
    plain_kind,
    read_text,
)

EXAMPLES_LIMIT = 3
EXAMPLE_LIMIT_CHARS = 40
NUMBERS = ("integer", "number")
DATES = ("date", "datetime")
TYPE_NAMES = {
    "integer": "whole number",
    "number": "number",
    "date": "date",
    "datetime": "date and time",
    "time": "time",
    "boolean": "yes or no",
    "text": "text",
    "nested": "nested",
    "other": "other",
}
"""The names that people see, by kind of value."""


class Column:
    """What the cells of one column are. `describe` returns it for the answer, `oddities` names what is unusual."""

    def __init__(self, cells: Sequence[object], *, is_text_file: bool) -> None:
        """`is_text_file`: numbers and dates are texts in every file of this format, which is then not unusual."""
        self.missing = 0
        self.kinds: Counter[str] = Counter()
        self.oddities: dict[str, str] = {}
        """Code of an oddity -> an example of it."""
        self._cells = len(cells)
        self._texts: Counter[str] = Counter()
        self._numbers: list[float | int | Decimal] = []
        self._dates: list[str] = []
        self._others: set[str] = set()
        self._sort(cells)
        self._read_texts(is_text_file=is_text_file)

    def _sort(self, cells: Sequence[object]) -> None:
        texts: list[str] = []
        for cell in cells:
            if cell is None:
                self.missing += 1
            elif isinstance(cell, str):
                texts.append(cell)
            elif isinstance(cell, bool):
                self.kinds["boolean"] += 1
                self._others.add(str(cell).lower())
            elif isinstance(cell, (int, float, Decimal)):
                if cell != cell:
                    self.missing += 1
                else:
                    self._numbers.append(cell)
            else:
                self._add_other(cell)
        for text, count in Counter(texts).items():
            self._texts[text.strip()] += count
            if text != text.strip() and text.strip():
                self.oddities["spaces"] = text.strip()
        for number in self._numbers:
            self.kinds["integer" if is_whole(number) else "number"] += 1

    def _add_other(self, cell: object) -> None:
        if isinstance(cell, datetime):
            is_day = not (cell.hour or cell.minute or cell.second or cell.microsecond)
            self.kinds["date" if is_day else "datetime"] += 1
            self._dates.append(cell.strftime("%Y-%m-%d" if is_day else "%Y-%m-%d %H:%M:%S").zfill(10))
        elif isinstance(cell, date):
            self.kinds["date"] += 1
            self._dates.append(cell.isoformat())
        elif isinstance(cell, (time, timedelta)):
            self.kinds["time"] += 1
            self._others.add(str(cell))
        else:
            self.kinds["nested" if isinstance(cell, (dict, list, tuple)) else "other"] += 1
            if len(self._others) < EXAMPLES_LIMIT:
                self._others.add(clip(str(cell)))

    def _read_texts(self, *, is_text_file: bool) -> None:
        words = {text: count for text, count in self._texts.items() if text.lower() in MISSING}
        self.missing += sum(words.values())
        if spelled := [text for text in words if text]:
            self.oddities["missing word"] = spelled[0]
        for word in words:
            del self._texts[word]
        if not self._read_plain():
            self._read_each([(text, read_text(text)) for text in self._texts])
        if self._texts and not is_text_file and "mixed" not in self.oddities:
            for code, kinds in (("number as text", NUMBERS), ("date as text", DATES)):
                if self.kind in kinds:
                    self.oddities[code] = next(iter(self._texts))

    def _read_plain(self) -> bool:
        """Read numbers and dates that need no decision; return whether all texts are such."""
        kind = plain_kind(list(self._texts))
        if kind:
            self.kinds[kind] += sum(self._texts.values())
            if kind == "date":
                self._dates += self._texts
            else:
                self._numbers += map(float, self._texts)
        return bool(kind)

    def _read_each(self, readings: Sequence[tuple[str, Reading]]) -> None:
        for text, reading in readings:
            self.kinds[reading.kind] += self._texts[text]
        if self.kind == "integer" and (codes := [text for text, reading in readings if reading.style == "zeros"]):
            # Such as postal codes. Read as numbers, they would lose their zeros.
            self.kinds["text"] = self.kinds.pop("integer")
            self.oddities["zeros"] = codes[0]
            return
        self._others.update(reading.body for _, reading in readings if reading.kind in ("time", "boolean"))
        if self.kind == "mixed" and self.kinds["text"]:
            self.oddities["mixed"] = next(text for text, reading in readings if reading.kind == "text")
        if self._is_one_of(NUMBERS):
            self._add_numbers([(text, reading) for text, reading in readings if reading.kind in NUMBERS])
        if self._is_one_of(DATES):
            self._add_dates([(text, reading) for text, reading in readings if reading.kind in DATES])

    def _is_one_of(self, kinds: Iterable[str]) -> bool:
        return self.kind in kinds or (self.kind == "mixed" and any(self.kinds[kind] for kind in kinds))

    def _add_numbers(self, readings: Sequence[tuple[str, Reading]]) -> None:
        examples: dict[str, str] = {}
        for text, reading in readings:
            examples.setdefault(reading.style, text)
            if reading.has_unit:
                examples.setdefault("unit", text)
        has_commas = "comma" in examples or "dot thousands" in examples
        if not has_commas and "comma thousands" not in examples and "ambiguous" in examples:
            examples["comma thousands"] = examples["ambiguous"]
        for style in ("comma", "dot thousands", "comma thousands", "other thousands", "unit"):
            if style in examples:
                self.oddities[style] = examples[style]
        if "comma" in examples and "point" in examples:
            self.oddities["comma and point"] = f"{examples['comma']}” and “{examples['point']}"
        self._numbers += [number_value(reading, has_decimal_commas=has_commas) for _, reading in readings]

    def _add_dates(self, readings: Sequence[tuple[str, Reading]]) -> None:
        examples: dict[str, str] = {}
        orders: set[str] = set()
        for text, reading in readings:
            examples.setdefault(reading.style, text)
            orders.add(order_of(reading))
        found = orders - {""}
        order = found.pop() if len(found) == 1 else DAY_FIRST
        if len(examples) > 1 or len(orders - {""}) > 1:
            self.oddities["date formats"] = "” and “".join(list(examples.values())[:2])
        elif "slashes" in examples and orders == {""}:
            self.oddities["day or month"] = examples["slashes"]
        elif "iso" not in examples and examples:
            self.oddities["date form"] = next(iter(examples.values()))
        self._dates += [date_value(reading, order_of(reading) or order) for _, reading in readings]

    @property
    def kind(self) -> str:
        """The kind of all values, the wider one of two that fit together, `mixed`, or `empty` without a value."""
        kinds = {kind for kind, count in self.kinds.items() if count}
        for wide, narrow in (("number", "integer"), ("datetime", "date"), ("text", "boolean"), ("text", "time")):
            if kinds == {wide, narrow}:
                return wide
        if len(kinds) == 1:
            return kinds.pop()
        present = sum(self.kinds.values())
        # A text with a few numbers in it is a text, such as the names of streets.
        if "text" in kinds and self.kinds["text"] * 2 > present and "nested" not in kinds:
            return "text"
        return "mixed" if kinds else "empty"

    def describe(self, name: str) -> dict[str, object]:
        """Return the description of the column, of which all parts have a limited size."""
        low, high = self._range()
        distinct, examples = self._examples()
        return {
            "name": clip(name, 80),
            "type": TYPE_NAMES.get(self.kind, self.kind),
            "missing": self.missing,
            "distinct": distinct,
            "minimum": low,
            "maximum": high,
            "examples": examples,
            "is_index": self._is_index(),
            "role": "",
            "note": "",
        }

    def _range(self) -> tuple[str, str]:
        if self._numbers and self.kind in (*NUMBERS, "mixed"):
            return show_number(min(self._numbers)), show_number(max(self._numbers))
        if self._dates and self.kind in DATES:
            return min(self._dates), max(self._dates)
        return "", ""

    def _examples(self) -> tuple[int, list[list[object]]]:
        """Return the number of different values, and the most frequent texts with their counts."""
        if self.kind in NUMBERS:
            return len(set(self._numbers)), []
        if self.kind in DATES:
            return len(set(self._dates)), []
        texts: list[list[object]] = [[clip(text), count] for text, count in self._texts.most_common(EXAMPLES_LIMIT)]
        others: list[list[object]] = [[text, 0] for text in sorted(self._others)]
        return len(self._texts) or len(self._others), (texts or others)[:EXAMPLES_LIMIT]

    def _is_index(self) -> bool:
        """Return whether the column only numbers the rows."""
        if self.kind != "integer" or self.missing or len(self._numbers) < 3 or len(self._numbers) != self._cells:
            return False
        return len(set(self._numbers)) == self._cells == int(max(self._numbers)) - int(min(self._numbers)) + 1


def is_whole(number: float | Decimal) -> bool:
    """Return whether a number has no decimals. Spreadsheets store every number with decimals."""
    return isinstance(number, int) or (math.isfinite(number) and number % 1 == 0)


def show_number(number: float | Decimal) -> str:
    """Return a number with at most six digits after the point, and with commas between the thousands of large ones."""
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    if is_whole(number) and -(10**15) < number < 10**15:
        whole = int(number)
        return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)
    try:
        return f"{float(number):.6g}"
    except OverflowError:
        return "more than 1e+308" if number > 0 else "less than -1e+308"


def clip(text: str, limit_chars: int = EXAMPLE_LIMIT_CHARS) -> str:
    """Return the text on one line, shortened to the limit."""
    line = " ".join(text[: 10 * limit_chars].split())
    return line if len(line) <= limit_chars else line[: limit_chars - 1] + "…"
