"""Runs inside a kernel: describes the differences between two states of a pandas table in words.

Names are quoted as in Markdown. Numbers have thousands separators.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import re
from collections.abc import Iterator, Sized
from typing import TYPE_CHECKING

from chat.python.kernels.in_kernel.table_memory import arrays, missing_count, shared_count, shares_cells
from chat.python.kernels.in_kernel.table_samples import has_sampled_rows

if TYPE_CHECKING:
    from numpy import ndarray
    from pandas import DataFrame, Index, Series

_CELLS_LIMIT = 1_000_000
"""Maximum number of cells that are compared. Of larger tables, only the first columns are read."""
_PHRASES_LIMIT = 8
_NAME_LIMIT_CHARS = 40
_NAMED_COLUMNS = 4
"""Maximum number of new or removed columns that are named. More are only counted."""
_SHIFT_LIMIT_ROWS = 3
_SAME = 1e-9
"""Relative difference up to which two numbers count as equal, because sums are rounded."""
_SAMPLE_ROWS = 100
_MOVED_ROWS = 10_000
_UNIQUE_ROWS = 1_000
"""Number of rows that show that most columns hold a number twice."""


def differences(before: DataFrame, after: DataFrame, *, is_same_table: bool = True) -> list[str]:
    """Return the differences, the most important first. `is_same_table`: false if `after` was made from `before`."""
    phrases = [*_rows(before, after), *_columns(before, after, names_gone=is_same_table)]
    # Columns with the same name cannot be matched.
    if before.columns.is_unique and after.columns.is_unique:
        rows = None if _is_reordered(before, after) else _same_rows(before, after)
        # If a column is in the same memory, the rows have the same order, whatever their labels are.
        if rows is None and shared_count(before, after):
            rows = slice(None)
        cells = dict(zip(before.columns, arrays(before), strict=True))
        for name, array in zip(_read_columns(after), arrays(after), strict=False):
            # If labels were moved, they have other rows in the same memory.
            if name in cells and (isinstance(rows, Sized) or not shares_cells(cells[name], array)):
                phrases += _column(name, before[name], after[name], rows)
    left_out = len(phrases) - _PHRASES_LIMIT
    return [*phrases[:_PHRASES_LIMIT], f"{left_out} more changes"] if left_out > 0 else phrases


def rows_change(before: int, after: int) -> list[str]:
    """Return the change of the number of rows; an empty list if it is the same."""
    return [] if before == after else [f"{before:,} -> {after:,} rows"]


def new_table(frame: DataFrame) -> list[str]:
    """Return the missing cells and duplicates of a table that was not made from another table."""
    phrases = []
    if frame.columns.is_unique:
        counts = {name: missing_count(frame[name]) for name in _read_columns(frame)}
        missing = [(name, count) for name, count in counts.items() if count]
        phrases += [f"{_quoted(name)} missing {count:,}" for name, count in missing[:_NAMED_COLUMNS]]
        if len(missing) > _NAMED_COLUMNS:
            phrases.append(f"{len(missing) - _NAMED_COLUMNS} more columns with missing cells")
    if duplicates := _duplicates(frame):
        phrases.append(f"duplicate rows {duplicates:,}")
    return [f"new, {len(frame):,} rows", *phrases] if phrases else []


def missing_cells(frame: DataFrame, words: set[str]) -> Iterator[str]:
    """Yield the numbers of missing cells in columns whose names consist only of words in `words`."""
    for name in frame.columns if frame.columns.is_unique else ():
        if words.issuperset(re.findall(r"\w+", str(name))) and (count := missing_count(frame[name])):
            yield f"{_quoted(name)} missing {count:,}"


def has_rows_of(before: DataFrame, after: DataFrame) -> bool:
    """Return whether a table seems to hold rows of another table, rather than results such as sums of groups."""
    if len(before) == len(after):
        return True
    shared = [name for name in after.columns if name in before.columns]
    if not shared or not after.columns.is_unique or not before.columns.is_unique:
        return False
    sample = after.iloc[:: max(1, len(after) // _SAMPLE_ROWS)]
    if _has_labelled_rows(before, sample[shared]):
        return True
    found = [_share_within(sample[name], before[name]) > 0.9 for name in shared]
    return sum(found) * 2 > len(shared)


def _share_within(cells: Series, column: Series) -> float:
    """Return the share of a few cells whose values are in a column."""
    # Look for the few cells in the column, not the reverse: pandas hashes each value that it looks for, which takes
    # seconds for a million texts.
    there = column[column.isin(cells)].unique()
    return float(cells.isin(there).mean())


def _read_columns(frame: DataFrame) -> list[object]:
    return list(frame.columns[: max(1, _CELLS_LIMIT // max(1, len(frame)))])


def _rows(before: DataFrame, after: DataFrame) -> Iterator[str]:
    if len(before) == len(after):
        return
    yield from rows_change(len(before), len(after))
    old, new = _duplicates(before), _duplicates(after)
    if old is not None and new is not None and old != new:
        yield f"duplicate rows {old:,} -> {new:,}"


def _columns(before: DataFrame, after: DataFrame, *, names_gone: bool) -> Iterator[str]:
    gone = [name for name in before.columns if name not in after.columns] if names_gone else []
    new = [name for name in after.columns if name not in before.columns]
    for names, one, many in ((gone, "without {}", "without {:,} columns"), (new, "new column {}", "{:,} new columns")):
        if len(names) > _NAMED_COLUMNS:
            yield many.format(len(names))
            continue
        for name in names:
            yield one.format(_quoted(name))
            missing = missing_count(after[name]) if names is new and after.columns.is_unique else 0
            if missing:
                yield f"{_quoted(name)} missing {missing:,}"


def _same_rows(before: DataFrame, after: DataFrame) -> ndarray | slice | None:
    """Return the positions in `before` of the rows of `after`, found by their labels; `None` if they are uncertain."""
    old, new = before.index, after.index
    if old.is_unique and old.equals(new):
        return slice(None)
    positions = _positions(old, new)
    if positions is None or not (_is_growing(positions) or new.is_unique):
        return None
    # After `reset_index`, the same labels name other rows.
    is_numbered = new.dtype.kind in "iu" and len(new) > 1 and (new[0], new[-1]) == (0, len(new) - 1)
    return None if is_numbered and _is_growing(new.to_numpy()) else positions


def _positions(labels: Index, wanted: Index) -> ndarray | None:
    """Return the positions of labels; `None` if some are missing, occur twice, or are intervals that overlap."""
    if not labels.is_unique or getattr(labels, "is_overlapping", False):
        return None
    positions = labels.get_indexer(wanted)
    return positions if bool((positions >= 0).all()) else None


def _is_growing(numbers: ndarray) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def _is_reordered(before: DataFrame, after: DataFrame) -> bool:
    """Return whether the rows are the same in another order."""
    if before.shape != after.shape or not before.columns.equals(after.columns):
        return False
    # Sorting moves all columns to new memory.
    if any(map(shares_cells, arrays(before), arrays(after))):
        return False
    if after.size > _CELLS_LIMIT:
        if not before.index.equals(after.index):
            # Comparing all rows takes about half as long as sorting them.
            return _has_labelled_rows(before, after.iloc[:: max(1, len(after) // _MOVED_ROWS)])
        if (is_same := has_sampled_rows(before, after)) is not None:
            return is_same
    return _has_same_rows(before, after)


def _has_same_rows(before: DataFrame, after: DataFrame) -> bool:
    """Return whether all rows are the same, and at least one has moved."""
    with contextlib.suppress(TypeError):
        hash_rows = importlib.import_module("pandas").util.hash_pandas_object
        # Texts take ten times as long as numbers, and most changes change the sum of numbers.
        for names in (before.select_dtypes("number").columns, before.columns):
            first, second = (hash_rows(frame[names], index=False).to_numpy(copy=True) for frame in (before, after))
            if first.sum() != second.sum():
                return False
        is_moved = bool((first != second).any())
        first.sort()
        second.sort()
        return is_moved and bool((first == second).all())
    return False


def _has_labelled_rows(before: DataFrame, sample: DataFrame) -> bool:
    """Return whether the rows of `before` with the labels of a few rows have the same cells as these."""
    positions = _positions(before.index, sample.index)
    return positions is not None and before.iloc[positions][sample.columns].equals(sample)


def _column(name: object, before: Series, after: Series, rows: ndarray | slice | None) -> Iterator[str]:
    """Yield the changes of a column. `rows`: the earlier positions of its rows, if these are known."""
    quoted = _quoted(name)
    if str(before.dtype) != str(after.dtype):
        yield f"{quoted} {before.dtype} -> {after.dtype}"
    missing_before, missing = missing_count(before), missing_count(after)
    if missing_before != missing:
        yield f"{quoted} missing {missing_before:,} -> {missing:,}"
    if rows is None:
        return
    with contextlib.suppress(Exception):
        # Values of unknown classes may raise errors when they are compared.
        old = before.iloc[rows]
        if not old.equals(after):
            yield from _values(quoted, old, after)


def _values(quoted: str, old: Series, new: Series) -> Iterator[str]:
    was_there, is_there = old.notna().to_numpy(), new.notna().to_numpy()
    both = was_there & is_there
    first, second = old.to_numpy()[both], new.to_numpy()[both]
    kinds = first.dtype.kind + second.dtype.kind
    is_number = set(kinds) <= set("iuf")
    if is_number:
        first, second = first.astype("float64"), second.astype("float64")
        changed = abs(second - first) > _SAME * abs(second)
    elif kinds[0] == kinds[1]:
        changed = first != second
    else:
        return
    count = int(changed.sum())
    if not count:
        return
    if is_number and count > 1 and (factor := _factor(first[first != 0], second[first != 0])):
        yield f"{quoted} all values times {factor:g}"
    elif shift := _shift(old, new):
        yield f"{quoted} moved {'down' if shift > 0 else 'up'} by {abs(shift)} row{'s' if abs(shift) > 1 else ''}"
    else:
        yield f"{quoted} {count:,} of {len(new):,} values changed"


def _factor(first: ndarray, second: ndarray) -> float:
    """Return the factor by which all numbers were multiplied; 0 if there is none."""
    if not len(first):
        return 0.0
    ratios = second / first
    factor = float(ratios[0])
    is_constant = bool((abs(ratios - factor) <= 1e-6 * abs(factor)).all())
    return float(f"{factor:.6g}") if is_constant and math.isfinite(factor) else 0.0


def _shift(old: Series, new: Series) -> int:
    """Return the number of rows by which the values were moved down; 0 if they were not moved."""
    for count in range(1, min(_SHIFT_LIMIT_ROWS, len(old) - 2) + 1):
        for shift in (count, -count):
            moved = old.shift(shift)
            inner = moved.iloc[count:-count].reset_index(drop=True)
            if inner.equals(new.iloc[count:-count].reset_index(drop=True).astype(inner.dtype)):
                return shift
    return 0


def _duplicates(frame: DataFrame) -> int | None:
    """Return the number of rows that equal an earlier row; `None` if the table is too large or cannot be compared."""
    if frame.size > _CELLS_LIMIT:
        return None
    # Labels with names or of texts are part of a row. Unnamed numbers only count the rows.
    has_labels = frame.index.nlevels > 1 or frame.index.name is not None or frame.index.dtype.kind not in "iu"
    with contextlib.suppress(TypeError, ValueError):
        if any(_is_key(column) for _, column in frame.items()):
            return 0
        return int((frame.reset_index() if has_labels else frame).duplicated().sum())
    return None


def _is_key(column: Series) -> bool:
    """Return whether a column of whole numbers has no number twice."""
    if str(column.dtype) != "int64" or not column.iloc[:_UNIQUE_ROWS].is_unique:
        return False
    return _is_growing(column.to_numpy()) or bool(column.is_unique)


def _quoted(name: object) -> str:
    text = " ".join(str(name).replace("`", "'").split())
    return f"`{text[:_NAME_LIMIT_CHARS]}{'…' if len(text) > _NAME_LIMIT_CHARS else ''}`"
