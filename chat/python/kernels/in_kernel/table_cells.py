"""Runs inside a kernel: finds the kind of values in a column, whose cells are texts or Python values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from chat.python.kernels.in_kernel.table_dates import DateReading, are_seasons, compact_date, date_value
from chat.python.kernels.in_kernel.table_numbers import (
    SCALES,
    Number,
    NumberForm,
    decimals_in,
    is_whole,
    measure_form,
    number_of,
    number_of_digits,
    shape_of,
    show_number,
)
from chat.python.kernels.in_kernel.table_values import (
    INFINITE,
    PANDAS_MISSING,
    TEXT_LIMIT_CHARS,
    Shapes,
    chosen_numbers,
    is_boolean,
    missing_texts,
    plain_kind,
    plain_text,
)

FEW_WORDS = 3
"""Maximum number of different texts that count as exceptions among numbers or dates even if they are frequent."""
DATE_ORDERS = ("YMD", "DMY", "MDY")
WIDER_KINDS = {"integer": "number", "datetime": "date"}
"""The wider kind to which a kind belongs: whole numbers are numbers, and dates with a time are dates."""


class Column:
    """The cells of one column, in the examined rows.

    A column is read in two steps: first alone, then (`decide`) with the decimal mark and the order of dates that were
    found for the whole table.
    """

    def __init__(
        self, cells: Sequence[object], *, name: str, is_text_file: bool, missing_words: Sequence[str] | None = None
    ) -> None:
        """`is_text_file`: all cells of this file format are texts, so that numbers and dates as texts are not unusual.

        `missing_words`: the texts that a person has chosen to mean a missing value.
        """
        self.name = name
        self.cells = len(cells)
        self.missing = 0
        self.kinds: Counter[str] = Counter()
        """Number of cells with a value, by kind."""
        self.oddities: dict[str, str] = {}
        """An example for each unusual property of the column, by the code of the property."""
        self.missing_words: list[str] = []
        self.keeps_missing_words = False
        """Whether a text counts as a value here that pandas would read as missing."""
        self.texts: Counter[str] = Counter()
        self.plain = ""
        """The kind of all texts, if they are numbers or dates in their plainest form."""
        self.forms: dict[NumberForm, list[str]] = {}
        self.date_texts: list[tuple[str, DateReading]] = []
        self.decimal = ""
        """The decimal mark, `.` or `,`; empty if the column does not show which."""
        self.doubtful_decimal = ""
        """A number such as `1.234`, if the column does not show whether its mark is a decimal mark."""
        self.orders: tuple[str, ...] = ()
        """The orders of day, month and year that fit the dates of three numbers."""
        self.numbers: list[Number] = []
        self.days: list[str] = []
        self.times: list[str] = []
        self.others: Counter[str] = Counter()
        self.words: list[str] = []
        """The exceptions: different values of another type, such as words among numbers."""
        self._by_group: dict[str, list[str]] = {}
        self._sort(cells, chosen_numbers(missing_words or ()))
        self._drop_missing(missing_words)
        self._read_texts()
        self.kind = self._find_kind()
        self._compare(is_text_file=is_text_file)

    def _sort(self, cells: Sequence[object], missing_numbers: Iterable[Number]) -> None:
        texts = [cell for cell in cells if isinstance(cell, str)]
        self._shapes = Shapes()
        for text, count in Counter(texts).items():
            stripped, plain = text.strip(), "" if text.isascii() else plain_text(text)
            if plain and text.strip(" ") != plain and self._shapes.read(plain).kind != "text":
                self.oddities["signs"], stripped = text, plain
            elif stripped and len(text) != len(stripped):
                self.oddities["spaces"] = stripped
            self.texts[stripped] += count
        for cell in cells if len(texts) < len(cells) else ():
            if isinstance(cell, (int, float, Decimal)) and not isinstance(cell, bool) and cell == cell:
                self.numbers.append(cell)
            elif cell is None or cell != cell:
                self.missing += 1
            elif not isinstance(cell, str):
                self._add_other(cell)
        if missing_numbers:
            present = [number for number in self.numbers if number not in missing_numbers]
            self.missing += len(self.numbers) - len(present)
            self.numbers = present
        if infinite := [number for number in self.numbers if isinstance(number, float) and math.isinf(number)]:
            self.oddities["infinite"] = show_number(infinite[0])
        self.kinds.update("integer" if is_whole(number) else "number" for number in self.numbers)

    def _add_other(self, cell: object) -> None:
        kind = "nested" if isinstance(cell, (dict, list, tuple)) else "other"
        if isinstance(cell, bool):
            kind = "boolean"
            self.others[str(cell).lower()] += 1
        elif isinstance(cell, datetime):
            text = cell.replace(tzinfo=None).isoformat(" ", "seconds")
            kind = "datetime" if cell.time() > time.min else "date"
            self.days.append(text if kind == "datetime" else text[:10])
        elif isinstance(cell, date):
            kind = "date"
            self.days.append(cell.isoformat())
        elif isinstance(cell, (time, timedelta)):
            kind = "time"
            self.times.append(str(cell))
        elif len(self.others) < FEW_WORDS:
            self.others[str(cell)[:400]] += 1
        self.kinds[kind] += 1

    def _drop_missing(self, words: Sequence[str] | None) -> None:
        found = missing_texts(self.texts, words)
        self.missing += sum(self.texts.pop(text) for text in found)
        self.missing_words = [text for text in found if text]
        if self.missing_words:
            self.oddities["missing word"] = "”, “".join(self.missing_words[:FEW_WORDS])
        self.keeps_missing_words = not PANDAS_MISSING.isdisjoint(self.texts)

    def _read_texts(self) -> None:
        texts = list(self.texts)
        if not texts:
            return
        is_alone = not self.kinds.total()
        kind = plain_kind(texts)
        if kind == "integer" and is_alone and all(map(compact_date, texts)):
            self.plain = kind = "date"
            self.oddities["compact date"] = self.oddities["date form"] = texts[0]
        elif kind:
            self.plain = kind
            self.decimal = "." if kind == "number" else ""
        elif is_alone and (is_boolean(texts) or are_seasons(texts)):
            kind = "boolean" if is_boolean(texts) else "text"
        else:
            self._read_each()
            return
        self.kinds[kind] += self.texts.total()
        self._by_group[WIDER_KINDS.get(kind, kind)] = texts

    def _read_each(self) -> None:
        """Sort the texts by their kind. Texts that differ only in their digits have the same form."""
        for text, count in self.texts.items():
            kind, form, date_reading = self._shapes.read(text)
            if date_reading:
                self.date_texts.append((text, date_reading))
            if form:
                self.forms.setdefault(form, []).append(text)
            self.kinds[kind] += count
            self._by_group.setdefault(WIDER_KINDS.get(kind, kind), []).append(text)
        if self.forms and (self._has_leading_zeros() or self._are_references()):
            self.kinds["text"] += self.kinds.pop("integer", 0) + self.kinds.pop("number", 0)
            self._by_group.setdefault("text", []).extend(self._by_group.pop("number"))
            self.forms = {}
        elif self.kinds["text"] * 2 > self.kinds.total():
            self._read_measures()

    def _has_leading_zeros(self) -> bool:
        """Return whether all numbers are whole, and some begin with 0, or with `+` before more than six digits."""
        if any(form.decimal or form.is_doubtful or form.unit or form.sign for form in self.forms):
            return False
        for form, texts in self.forms.items():
            if form.end - form.start > 1 and (zeros := [text for text in texts if text[form.start] == "0"]):
                # Read as numbers, they would lose their zeros.
                self.oddities["zeros"] = zeros[0]
                return True
            if texts[0][0] == "+" and form.end - form.start > 6:
                return True
        return False

    def _are_references(self) -> bool:
        """Return whether all numbers are references such as `(1)`, whose brackets are not a minus sign."""
        return all(form.sign == "brackets" and form.style == "integer" and not form.unit for form in self.forms)

    def _read_measures(self) -> None:
        """Read the texts as numbers if all have the same unit, but no factor such as K. Note a few different units."""
        forms: dict[NumberForm, list[str]] = {}
        units: dict[str, str] = {}
        for text in self.texts:
            form = measure_form(shape_of(text)) if len(text) <= TEXT_LIMIT_CHARS and len(units) <= FEW_WORDS else None
            if form is None:
                return
            units.setdefault(form.unit, text)
            forms.setdefault(form, []).append(text)
        if len(units) > 1 or not SCALES.isdisjoint(units):
            if 1 < len(units) <= len(self.texts) / 2:
                self.oddities["units"] = "” and “".join([*units.values()][:2])
            return
        self.forms = forms
        is_integer = all(form.style == "integer" for form in forms)
        self.kinds = Counter({"integer" if is_integer else "number": self.texts.total()})
        self._by_group = {"number": list(self.texts)}
        self.oddities["measure"] = next(iter(self.texts))

    @property
    def group(self) -> str:
        """The kind, with `number` for whole numbers, and `date` for dates with a time."""
        return WIDER_KINDS.get(self.kind, self.kind)

    def _find_kind(self) -> str:
        """Return the kind of all values except for a few; else `text` or `mixed`; `empty` if there are no values."""
        groups: Counter[str] = Counter()
        for kind, count in self.kinds.items():
            groups[WIDER_KINDS.get(kind, kind)] += count
        [(group, count)] = groups.most_common(1) or [("", 0)]
        present = groups.total()
        if not present:
            return "empty"
        if groups["nested"]:
            return "nested" if count == present else "mixed"
        words = sum(len(texts) for other, texts in self._by_group.items() if other != group)
        is_clear = (present - count) * 5 <= present or ((present - count) * 2 < present and words <= FEW_WORDS)
        if count < present and not (is_clear and group in ("number", "date", "time")):
            return "text"
        if group == "number":
            return "number" if self.kinds["number"] else "integer"
        return "datetime" if group == "date" and self.kinds["datetime"] else group

    def _compare(self, *, is_text_file: bool) -> None:
        """Find the exceptions among the values, and the decimal mark or the order of dates that the others show."""
        numbers = [] if self.group == "number" else [*map(show_number, self.numbers)]
        cells = {"number": numbers, "date": self.days, "time": self.times}
        is_mixed = self.kind in ("text", "mixed") and self.kinds["text"] * 2 <= self.kinds.total()
        if is_mixed and (texts := self._by_group.get("text") or list(self.texts)):
            self.oddities["mixed"] = texts[0]
        strange = [text for group, texts in cells.items() if group != self.group for text in texts]
        if self.group not in cells:
            self.others.update(strange)
            return
        if WIDER_KINDS.get(self.plain, self.plain) != self.group:
            self.plain = ""
        strange += [text for group, texts in self._by_group.items() if group != self.group for text in texts]
        self.words = list(dict.fromkeys([*strange, *self.others]))
        if self.group == "number":
            marks = {decimals_in(form, texts) for form, texts in self.forms.items()} - {""}
            doubtful = [texts[0] for form, texts in self.forms.items() if form.is_doubtful]
            self.decimal = "," if "," in marks else "." if "." in marks else self.decimal
            self.doubtful_decimal = doubtful[0] if doubtful and not self.decimal else ""
            if infinite := [word for word in self.words if word.lower() in INFINITE]:
                self.oddities["infinite"] = infinite[0]
                self.words = [word for word in self.words if word not in infinite]
        elif self.date_texts and self.group == "date":
            # The order that fits most dates is taken. Other dates are exceptions.
            counts = Counter(order for _, reading in self.date_texts for order in reading.orders)
            firsts, _, lasts = (set(part) for part in zip(*(date.parts for _, date in self.date_texts), strict=True))
            if len(counts) > 1 and len(firsts) >= len(lasts):
                # The last number repeats at least as often as the first, so it is the year: days repeat less often.
                del counts["YMD"]
            most = max(counts.values(), default=0)
            self.orders = tuple(order for order in DATE_ORDERS if counts[order] == most > 0)
        if self.texts and not is_text_file and not self.words and self.group != "time":
            self.oddities[f"{self.group} as text"] = next(iter(self.texts))

    def decide(self, decimal: str, order: str, *, is_order_chosen: bool = False) -> None:
        """Read the values. `decimal`, `order`: those of the table, for a column that does not show its own."""
        if self.group == "number":
            self.decimal = decimal if self.doubtful_decimal or not self.decimal else self.decimal
            if self.plain:
                self.numbers += map(int if self.plain == "integer" else number_of_digits, self.texts)
            for form, texts in self.forms.items():
                self.numbers += [number_of(text, form, self.decimal) for text in texts]
        elif self.group == "date":
            if is_order_chosen:
                self.words += [text for text, date in self.date_texts if date.orders and order not in date.orders]
                self.date_texts = [(text, date) for text, date in self.date_texts if text not in self.words]
            if order in self.orders or is_order_chosen or not self.orders:
                self.orders = (order,) if self.orders else ()
            if self.plain:
                self.days += map(compact_date, self.texts) if "compact date" in self.oddities else self.texts
            self.days += [date_value(date, self.orders[0] if self.orders else order) for _, date in self.date_texts]
        elif self.group == "time":
            self.times += [text for text in self._by_group.get("time", ()) if text not in self.times]

    @property
    def word_count(self) -> int:
        """The number of cells that are exceptions."""
        return sum(self.texts[word] or 1 for word in self.words)
