"""Runs inside a kernel: finds the layout of a table from the kinds of cells in its first rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import pairwise

from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT, is_present, name_of
from chat.python.kernels.in_kernel.table_values import MISSING, read_text
from chat.python.kernels.in_kernel.table_words import LABEL_LIMIT_CHARS, is_summary_word

HEAD_ROWS = 80
"""Number of first rows in which the names of columns are searched."""
PROFILE_ROWS = 120
"""Approximate maximum number of rows, in the second half of a table, from which the kinds of columns are found."""
FAMILIES = {"integer": "number", "datetime": "date"}
_ALMOST_VALUE = re.compile(r"[-+(<>~≈ ]{0,3}[$€£]? ?[.,]?\d[\d.,:/ -]*[^\W\d]{0,4}[)*%]?$")
_YEAR_START = re.compile(r"(?:1[89]|20|21)\d\d")


def kind_of(cell: object) -> str:
    """Return `number`, `date`, `time`, `boolean`, `text` or `other`; empty if the cell has no value."""
    if isinstance(cell, str):
        text = cell.strip()
        if not text or text.lower() in MISSING:
            return ""
        kind = read_text(text).kind
        return FAMILIES.get(kind, kind)
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return "boolean"
    if isinstance(cell, (int, float, Decimal)):
        return "number"
    if isinstance(cell, date):
        return "date"
    return "time" if isinstance(cell, (time, timedelta)) else "other"


class Grid:
    """The first rows of a table, the kinds of their cells, and the usual kind of each column."""

    def __init__(self, rows: Sequence[Sequence[object]]) -> None:
        """Examine the first rows, and some later ones. `rows`: at least one; each has a value."""
        self.rows = rows[:HEAD_ROWS]
        self.kinds = [[kind_of(cell) for cell in row[:COLUMNS_LIMIT]] for row in self.rows]
        self.extents = [
            max((number for number, cell in enumerate(row, 1) if is_present(cell)), default=0) for row in self.rows
        ]
        self.width = max(Counter(self.extents).items(), key=lambda item: (item[1], item[0]))[0]
        step = max(1, len(rows) // PROFILE_ROWS)
        half = rows[len(rows) // 2 :: step]
        values = [row for row in half if not is_summary_word(name_of(row[0])[:LABEL_LIMIT_CHARS])] or half
        later = [[kind_of(cell) for cell in row[:COLUMNS_LIMIT]] for row in values]
        self.profile = [
            usual_kind([row[at] for row in later if at < len(row)]) for at in range(min(self.width, COLUMNS_LIMIT))
        ]
        self.fullness = sorted(sum(map(bool, row)) for row in later)[len(later) // 2]

    def find_body(self) -> int | None:
        """Return the index of the first row whose cells fit their columns; None if none do, or all are texts."""
        if not any(kind not in ("", "text") for kind in self.profile):
            return None
        for at in range(len(self.rows)):
            if self._is_like_body(at) and not self._has_names_below(at) and not self.is_second_of_names(at):
                while at > 1 and self._is_nearly_body(at - 1) and self.can_be_names(at - 2):
                    if self.is_second_of_names(at - 1):
                        break
                    at -= 1
                return at
        return None

    def _has_names_below(self, at: int) -> bool:
        """Return whether a row below looks more like names.

        Then this row is a line such as `key,value`, or the first of several rows of names.
        """
        least = self._count(at) + (1 if any(self.can_be_names(above) for above in range(at)) else 0)
        names = [below for below in range(at + 1, min(at + 10, len(self.rows))) if self.is_text(below)]
        if any(self.kinds[row].count("text") >= least and self.rows[row] not in self.rows[:at] for row in names):
            return True
        if at + 1 < len(self.rows) and self._has_repeated_years(at) and self.is_text(at + 1):
            return True
        # If no column has texts, the row of names is recognized by its neighbours: rows above it, such as `key,value`,
        # do not fit the columns, and the rows below it do.
        return "text" not in self.profile and any(
            self.is_full(row)
            and self.is_distinct(row)
            and not any(map(self._fits, range(row)))
            and all(map(self._fits, range(row + 1, min(row + 4, len(self.rows)))))
            for row in names
            if row + 1 < len(self.rows)
        )

    def _names_groups(self, at: int) -> bool:
        """Return whether a row repeats a text in neighbouring cells above different ones, as filled merged cells do."""
        pairs = list(zip(self.rows[at], self.rows[at + 1], strict=False)) if at + 1 < len(self.rows) else []
        return any(is_present(one[0]) and one[0] == two[0] and one[1] != two[1] for one, two in pairwise(pairs))

    def is_second_of_names(self, at: int) -> bool:
        """Return whether a row is a second row of names: it counts the columns, or repeats a name of the row above."""
        if at == 0 or not self.is_text(at - 1):
            return False
        pairs = zip(self.rows[at - 1], self.rows[at], strict=False)
        return self.is_numbering(at) or (
            self._names_groups(at - 1) and any(is_present(above) and above == cell for above, cell in pairs)
        )

    def is_numbering(self, at: int) -> bool:
        """Return whether a row holds the numbers 1 to n of the columns, and not all columns hold numbers."""
        values = self._whole_numbers(at)
        is_counted = len(values) > 2 and values == list(range(1, self.width + 1))
        return is_counted and bool({*self.profile} - {"", "number"})

    def _has_repeated_years(self, at: int) -> bool:
        """Return whether the numbers in a row are years that occur twice on average, or more often."""
        values = self._whole_numbers(at)
        return 1 < len(set(values)) * 2 <= len(values) and all(1800 <= value <= 2199 for value in values)

    def _fits(self, at: int) -> bool:
        """Return whether all cells of a row fit the kinds of their columns."""
        usual = [kind for kind in self.kinds[at][: self.width] if kind]
        pairs = zip(self.kinds[at], self.profile, strict=False)
        return self.extents[at] <= self.width and bool(usual) and all(kind in ("", one) for kind, one in pairs)

    def count_levels(self, body: int) -> int:
        """Return the number of rows of names if the last one names only the first column; else 0.

        pandas writes the name of an index in this way, below the levels of the column names: `Price,Close,Volume`,
        `Date,,`.
        """
        last = body - 1
        if last < 1 or not self.profile:
            return 0
        if [at for at, cell in enumerate(self.rows[last]) if is_present(cell)] != [0] or not self.is_text(last):
            return 0
        first = last
        while first > 0 and self.width > 1 and self.is_full(first - 1) and self.extents[first - 1] == self.width:
            first -= 1
        has_corner = any(is_present(row[0]) for row in self.rows[first:last])
        if first == last or (self.profile[0] in ("", "text") and has_corner):
            # If the first column has texts, the single cell may be a title of some rows.
            return 0
        groups = range(first, last - 1)
        is_named = self.is_text(last - 1) and all(self.is_text(row) or self.is_group_row(row) for row in groups)
        return body - first if is_named else 0

    def _is_nearly_body(self, at: int) -> bool:
        """Return whether the cells in columns of values are missing or almost values: `10 kr`, `(1.5)`, `n/a`."""
        cells = [
            (kind, name_of(cell))
            for cell, kind, usual in zip(self.rows[at], self.kinds[at], self.profile, strict=False)
            if usual not in ("", "text") and is_present(cell)
        ]
        return bool(cells) and all(kind in ("", "number") or _ALMOST_VALUE.match(cell) for kind, cell in cells)

    def _is_like_body(self, at: int) -> bool:
        pairs = [
            (kind, usual)
            for kind, usual in zip(self.kinds[at], self.profile, strict=False)
            if kind and usual not in ("", "text")
        ]
        matches = sum(kind == usual for kind, usual in pairs)
        return matches > 0 and matches * 2 >= len(pairs) and self._count(at) * 2 >= self.fullness

    def _count(self, at: int) -> int:
        return sum(map(is_present, self.rows[at]))

    def is_text(self, at: int) -> bool:
        """Return whether all cells with a value are texts."""
        return "text" in self.kinds[at] and not set(self.kinds[at]) - {"", "text"}

    def is_full(self, at: int) -> bool:
        """Return whether most columns of the table have a value in this row."""
        return self._count(at) * 3 >= self.width * 2 and self._count(at) >= min(2, self.width)

    def is_distinct(self, at: int) -> bool:
        """Return whether at most one in ten values of the row is a repetition."""
        cells = [str(cell).strip() for cell in self.rows[at] if is_present(cell)]
        return len(set(cells)) * 10 >= len(cells) * 9

    def can_be_names(self, at: int) -> bool:
        """Return whether a row above the body can name the columns."""
        if "text" not in self.kinds[at] and self._count(at) * 2 < self.width:
            return False
        if self.width == 1:
            return True
        # The first column may have no name, if a program has written row numbers into it.
        return (self._count(at) >= 2 and self._count(at) * 2 >= self.width) or (
            self.extents[at] >= self.width and not is_present(self.rows[at][0])
        )

    def has_years(self, at: int) -> bool:
        """Return whether the numbers in a row are different years, in order, and the next rows have no such numbers."""
        values = self._whole_numbers(at)
        if len(values) < 2 or not all(1800 <= value <= 2199 for value in values):
            return False
        below = [self._whole_numbers(row) for row in range(at + 1, min(at + 4, len(self.rows)))]
        is_ordered = values in (sorted(set(values)), sorted(set(values), reverse=True))
        return (
            is_ordered
            and bool(below)
            and not any(numbers and all(1800 <= value <= 2199 for value in numbers) for numbers in below)
        )

    def has_counted_names(self, at: int) -> bool:
        """Return whether a row of numbers names the columns: years, successive ones, or any beside an empty corner."""
        if at >= len(self.rows) - 1:
            return False
        if self.has_years(at):
            return True
        values = self._whole_numbers(at)
        if len(values) < 2 or set(self.kinds[at][1:]) - {"number"}:
            return False
        if not is_present(self.rows[at][0]):
            return len(set(values)) == len(values) and all(is_present(row[0]) for row in self.rows[at + 1 :])
        is_counted = (
            len(values) > 2 and values == list(range(values[0], values[0] + len(values))) and values[0] in (0, 1)
        )
        return is_counted and self.kinds[at][0] == "text" and self._whole_numbers(at + 1) != values

    def _whole_numbers(self, at: int) -> list[int]:
        """Return the numbers of a row if all of them are whole."""
        texts = [name_of(cell) for cell, kind in zip(self.rows[at], self.kinds[at], strict=False) if kind == "number"]
        return [int(text) for text in texts] if all(len(text) < 10 and text.isdecimal() for text in texts) else []

    def is_group_row(self, at: int) -> bool:
        """Return whether a row above the names is a further row of names, each for one or more columns."""
        below = at + 1
        if self.extents[at] > max(self.extents[below], self.width) or self.width < 3:
            return False
        cells = [cell if is_present(cell) else None for cell in self.rows[at]][: self.width]
        starts = [number for number, cell in enumerate(cells) if cell is not None]
        if not starts:
            return False
        values = [name_of(cell) for cell in cells if cell is not None]
        kinds = set(self.kinds[at]) - {"", "text"}
        years = [name_of(cell) for cell, kind in zip(cells, self.kinds[at], strict=False) if kind in kinds]
        if kinds and not (kinds <= {"number", "date"} and all(map(_YEAR_START.match, years[-1:]))):
            return False
        repeats = len(set(values)) < len(values)
        has_gap = any(cell is None for cell in cells[: starts[-1]]) and len(starts) > 1
        is_inside = starts[0] > 0
        names = [str(cell) for cell in self.rows[below] if is_present(cell)]
        is_repeated = repeats and len(set(names)) < len(names) and self.is_text(below)
        return has_gap or is_inside or is_repeated or self._names_groups(at)


def usual_kind(kinds: Sequence[str]) -> str:
    """Return the kind of most cells with a value; `text` if they differ."""
    counts = Counter(kind for kind in kinds if kind)
    if not counts:
        return ""
    kind, count = counts.most_common(1)[0]
    return kind if count * 10 >= sum(counts.values()) * 6 else "text"


def excerpt(rows: Sequence[Sequence[object]]) -> str:
    """Return the first cells of the rows as a quotation: “a, b …”."""
    parts = [", ".join(name_of(cell) for cell in row[:8] if is_present(cell)) for row in rows[:3]]
    line = " ".join(" | ".join(part[:200] for part in parts).split())
    is_cut = len(line) > 80 or len(rows) > 3
    return f"“{line[:79]}…”" if is_cut else f"“{line}”"
