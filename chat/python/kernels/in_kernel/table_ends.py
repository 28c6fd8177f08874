"""Runs inside a kernel: finds totals and remarks below the rows of a table."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from chat.python.kernels.in_kernel.table_grid import Grid, excerpt, kind_of
from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT, is_present
from chat.python.kernels.in_kernel.table_words import (
    LABEL_LIMIT_CHARS,
    REMARK,
    is_balance,
    is_spread_word,
    is_summary_word,
    is_total_word,
)

LABELLED_ROWS = 200_000
"""Maximum number of rows among which totals are searched."""
BALANCE_ROWS = 500
"""Number of rows, at the start and at the end of a table, among which balances are searched."""
UNLABELLED_ROWS = 5_000
"""Maximum number of rows above a total that has a key but no label. Only its numbers show that it is a total."""
END_ROWS = 30
"""Number of rows at the end of a table that are examined."""

_NO_AMOUNT = re.compile(r"[^\d,.-]")


def count_short(rows: Sequence[Sequence[object]], gaps: Iterable[int]) -> int:
    """Return the number of last rows that follow a gap, such as a blank line, and are shorter than all rows above."""
    for at in gaps:
        if at > 1 and len(rows) - at <= END_ROWS and len(rows[at]) < len(rows[at - 1]):
            return len(rows) - at if max(map(len, rows[at:])) < min(map(len, rows[:at])) else 0
    return 0


def count_after(
    body: Sequence[Sequence[object]], grid: Grid, *, is_whole: bool, short: int = 0
) -> tuple[int, list[str]]:
    """Return the number of rows at the end that do not belong to the table, and notes about them.

    `short`: the result of `count_short`, rows that certainly do not belong to it.
    """
    if not is_whole or len(body) < 2:
        return 0, []
    end = len(body) - short
    oldest = max(1, end - END_ROWS)
    while end > oldest and is_remark(body[end - 1], body[: end - 1], grid):
        end -= 1
    remarks = body[end:]
    totals_end = end
    labelled = end
    while labelled > oldest and any(
        is_word(label_of(body[labelled - 1])) for is_word in (is_summary_word, is_spread_word)
    ):
        labelled -= 1
    above = body[: min(labelled, end - 1)]
    spreads = {label_of(row).lower() for row in body[labelled:end] if is_spread_word(label_of(row))}
    if spreads - {"max"} and any(is_summary(row, above, grid) for row in body[labelled:end]):
        end = labelled
    while end > max(oldest, labelled - 1) and is_summary(body[end - 1], above, grid):
        end -= 1
    notes = []
    if totals := body[end:totals_end]:
        subject = "The row of totals" if len(totals) == 1 else f"The {len(totals)} rows of totals"
        notes.append(f"{subject} at the end {'is' if len(totals) == 1 else 'are'} left out: {excerpt(totals)}.")
    if remarks:
        subject = "A row" if len(remarks) == 1 else f"{len(remarks)} rows"
        notes.append(f"{subject} after the table {'is' if len(remarks) == 1 else 'are'} left out: {excerpt(remarks)}.")
    return len(body) - end, notes


def is_remark(row: Sequence[object], above: Sequence[Sequence[object]], grid: Grid) -> bool:
    """Return whether the last row is a remark such as `Source: OECD`.

    A remark is one text, or a sentence that was split at its commas, where the table has several cells.
    """
    present = [(at, cell) for at, cell in enumerate(row) if is_present(cell)]
    if grid.width < 2 or not present:
        return False
    at, cell = present[0]
    text = str(cell).strip()
    if len(present) > 1:
        # A split sentence has other kinds than the columns, or fewer cells than most of the last rows.
        longer = sum(len(row) < len(other) for other in above[-200:])
        is_short = longer * 2 > len(above[-200:])
        return REMARK.match(text) is not None and at == 0 and (is_short or not matches_columns(row, grid))
    if not isinstance(cell, str) or at >= len(grid.profile) or (text[:1].isdigit() and kind_of(cell) != "text"):
        return False
    if grid.profile[at] not in ("text", "") and kind_of(cell) == "text" and not is_summary_word(text):
        return True
    if REMARK.match(text):
        return True
    is_odd = all(sum(map(is_present, other)) > 1 for other in above[-200:]) and not is_summary_word(text)
    return is_odd and (len(text) >= LABEL_LIMIT_CHARS or (len(row) == 1 and grid.width > 2))


def matches_columns(row: Sequence[object], grid: Grid) -> bool:
    """Return whether at least one cell of a row has the kind of its column, other than text."""
    return any(
        usual not in ("", "text") and kind_of(cell) == usual
        for cell, usual in zip(row[:COLUMNS_LIMIT], grid.profile, strict=False)
    )


def is_summary(row: Sequence[object], above: Sequence[Sequence[object]], grid: Grid) -> bool:
    """Return whether the last row is certainly a total or an average of the rows above it.

    A label such as “Total” is not enough, unless it is the only cell. The numbers must fit, or the label must be in a
    column of values, or the row must lack cells that all of the last rows have.
    """
    label = label_of(row)
    numbers = [at for at, cell in enumerate(row[:COLUMNS_LIMIT]) if kind_of(cell) == "number"]
    numbers = [at for at in numbers if at < len(grid.profile) and grid.profile[at] == "number"]
    blanks = [
        at
        for at in range(min(grid.width, COLUMNS_LIMIT))
        if not (at < len(row) and is_present(row[at])) and grid.profile[at] not in ("", "number")
    ]
    if not is_summary_word(label):
        # Each number must fit its column. To rule out chance, the key must also be missing, or the label must mean a
        # total; otherwise each number must be the exact sum, and two of them larger than all numbers above them.
        is_keyless = bool(blanks) and blanks[0] == 0 and kind_of(label) in ("", "number")
        is_told = is_keyless or is_total_word(label)
        are_totals = bool(numbers) and len(above) > 1 and (is_told or are_larger(row, above, numbers))
        return are_totals and all(has_total(row, above, at, is_exact=not is_told) for at in numbers)
    if sum(map(is_present, row)) == 1:
        return True
    at = next(at for at, cell in enumerate(row) if is_present(cell))
    if at < len(grid.profile) and grid.profile[at] not in ("", "text"):
        return True
    if any(all(at < len(other) and is_present(other[at]) for other in above[-500:]) for at in blanks):
        return True
    return any(has_total(row, above, at) for at in numbers)


def label_of(row: Sequence[object]) -> str:
    """Return the first value of a row as text."""
    return next((str(cell).strip() for cell in row if is_present(cell)), "")


def has_total(row: Sequence[object], above: Sequence[Sequence[object]], at: int, *, is_exact: bool = False) -> bool:
    """Return whether a cell is the sum or mean of the numbers above it. `is_exact`: accept only the exact sum."""
    columns = (
        (amount(row[at], mark), [amount(other[at], mark) for other in above if at < len(other)]) for mark in ".,"
    )
    return any(fits(total, values, is_exact=is_exact) for total, values in columns)


def are_larger(row: Sequence[object], above: Sequence[Sequence[object]], numbers: Sequence[int]) -> bool:
    """Return whether at least two numbers of a row are larger than all numbers above them, apart from their signs.

    False if there are fewer than three rows above, or more than `UNLABELLED_ROWS`.
    """
    if not 2 < len(above) <= UNLABELLED_ROWS:
        return False
    columns = [[amount(other[at], ".") or 0.0 for other in (row, *above) if at < len(other)] for at in numbers]
    return sum(abs(total) > max(map(abs, others), default=0.0) for total, *others in columns) > 1


def fits(total: float | None, values: Sequence[float | None], *, is_exact: bool) -> bool:
    """Return whether a number is the sum or mean of others, apart from rounding.

    `is_exact`: accept only the exact sum.
    """
    numbers = [value for value in values if value is not None]
    if total is None or not numbers or len(numbers) * 2 < len(values):
        return False
    whole = sum(numbers)
    if is_exact:
        return math.isclose(total, whole, rel_tol=1e-9)
    return any(abs(total - value) <= 0.006 * max(1, abs(value)) for value in (whole, whole / len(numbers)))


def amount(cell: object, mark: str) -> float | None:
    """Return the number in a cell, read with this decimal mark; None if it is not a number."""
    if isinstance(cell, bool) or cell is None:
        return None
    if not isinstance(cell, str):
        return _float_or_none(str(cell))
    digits = _NO_AMOUNT.sub("", cell[:LABEL_LIMIT_CHARS])
    return _float_or_none(digits.replace(",", "") if mark == "." else digits.replace(".", "").replace(",", "."))


def _float_or_none(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def describe_totals_within(body: Sequence[Sequence[object]]) -> list[str]:
    """Return a note about rows that look like totals and were kept; an empty list if there are none."""
    rows = body[:LABELLED_ROWS]
    firsts = Counter(map(label_of, rows))
    labels = {label: count for label, count in firsts.items() if is_total_word(label)}
    if not labels:
        # In a bank statement, balances are in the first and last rows, after a date.
        outer = [*rows[:BALANCE_ROWS], *rows[BALANCE_ROWS:][-BALANCE_ROWS:]]
        labels = Counter(cell.strip() for row in outer for cell in row if isinstance(cell, str) and is_balance(cell))
    if not labels:
        return []
    count, example = sum(labels.values()), next(iter(labels))
    verb = "looks like a total and is counted as a row" if count == 1 else "look like totals and are counted as rows"
    return [f"{count:,} row{'' if count == 1 else 's'} {verb}, such as “{example}”."]
