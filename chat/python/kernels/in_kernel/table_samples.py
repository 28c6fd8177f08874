"""Runs inside a kernel: checks whether a large table was only sorted, with new row numbers.

Rows without labels are recognized by their number in one column: reading all texts would take longer than the sorting.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray
    from pandas import DataFrame

_ROWS = 2_000
"""Approximate number of rows that are compared."""
_KEY_ROWS = 1_000
_KEY_VALUES = 100
"""Minimum number of different values in the first `_KEY_ROWS` of a column by which rows are recognized."""
_MIXER = 0x9E3779B97F4A7C15
"""An odd factor that spreads the bits of numbers over 64 bits (Fibonacci hashing)."""


def has_sampled_rows(before: DataFrame, after: DataFrame) -> bool | None:
    """Return whether the numbers of each column have the same sum, and a sample of rows is the same.

    The order of rows does not matter. `None` if no column has enough different numbers to choose a sample. Both tables
    must have the same columns.
    """
    columns = {}
    for place in range(before.shape[1]):
        first, second = _bits(before, place), _bits(after, place)
        if first is None and second is None:
            continue
        if first is None or second is None or first.sum() != second.sum():
            return False
        columns[place] = first, second
    counts = {place: len({*first[:_KEY_ROWS].tolist()}) for place, (first, _) in columns.items()}
    key = max(counts, key=lambda place: counts[place], default=-1)
    if key < 0 or counts[key] < _KEY_VALUES:
        return None
    one, other = (_sample(frame, bits) for frame, bits in zip((before, after), columns[key], strict=True))
    if one.empty and other.empty:
        return None
    if len(one) != len(other) or one.equals(other):
        return len(one) == len(other)
    # Rows with the same number may be in another order, so compare their sorted hashes.
    hash_rows = importlib.import_module("pandas").util.hash_pandas_object
    hashes = [sorted(hash_rows(sample, index=False).tolist()) for sample in (one, other)]
    return hashes[0] == hashes[1]


def _bits(frame: DataFrame, place: int) -> ndarray | None:
    """Return the bits of a column of numbers or datetimes as unsigned integers; `None` for other columns."""
    dtype = str(frame.dtypes.iloc[place])
    is_plain = dtype in ("int64", "float64", "uint64") or (dtype.startswith("datetime64[") and "," not in dtype)
    return frame.iloc[:, place].to_numpy().view("uint64") if is_plain else None


def _sample(frame: DataFrame, bits: ndarray) -> DataFrame:
    """Return a sample of rows, chosen by the hash of their number in one column and ordered by this number."""
    whole = bits.dtype.type
    share = min(1.0, _ROWS / len(bits))
    [places] = (bits * whole(_MIXER) <= whole(int(share * (2**64 - 2048)))).nonzero()
    return frame.iloc[places[bits[places].argsort(kind="stable")]].reset_index(drop=True)
