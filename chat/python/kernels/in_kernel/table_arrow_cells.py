"""Runs inside a kernel: converts columns of Arrow to Python values, also where a Python type is too small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow

DAY_S = 86_400
RANGES_S = {
    "date": (-719_162 * DAY_S, 2_932_897 * DAY_S),
    "timestamp": (-719_162 * DAY_S, 2_932_897 * DAY_S),
    # The range is a day shorter at each end, because a time zone may shift the time.
    "timestamp with a zone": (-719_161 * DAY_S, 2_932_896 * DAY_S),
    "duration": (-999_999_999 * DAY_S, 1_000_000_000 * DAY_S),
    "time": (0, DAY_S),
}
"""Ranges of Python's types in seconds, counted from 1970 or from midnight. The end does not belong to the range."""
UNITS_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
INT64 = 2**63


class ArrowCells:
    """The cells of one column. Values that no Python type can represent are left out, and counted."""

    def __init__(self) -> None:
        self.cells: list[object] = []
        self.lost = 0
        """Number of values that are left out."""
        self.example = ""
        """An example of the values that are left out."""
        self.is_utc = False
        """Whether the time zone is not known, so that times are in UTC."""

    def add(self, array: pyarrow.Array) -> None:
        """Add the cells of an array."""
        import pyarrow

        types = pyarrow.types
        if types.is_dictionary(array.type) and len(array.dictionary) > len(array):
            # Decode it, because the dictionary may hold the values of many more rows.
            array = array.dictionary_decode()
        if types.is_dictionary(array.type):
            values = ArrowCells()
            values.add(array.dictionary)
            self.lost += values.lost
            self.example = self.example or values.example
            # Equal cells share one object, which saves memory.
            self.cells += [None if index is None else values.cells[index] for index in array.indices.to_pylist()]
            return
        if types.is_string(array.type) or types.is_large_string(array.type):
            self.cells += self._texts(array)
            return
        if types.is_temporal(array.type) and not types.is_interval(array.type):
            array = self._in_range(array)
        elif types.is_float32(array.type):
            # Convert through text, which keeps the digits: 0.1, and not 0.10000000149011612.
            array = array.cast(pyarrow.string()).cast(pyarrow.float64())
        try:
            self.cells += array.to_pylist()
        except (pyarrow.ArrowException, ValueError, OverflowError, TypeError):
            self._add_each(array)

    def _texts(self, array: pyarrow.Array) -> Sequence[object]:
        import pyarrow

        try:
            return list(array.to_pylist())
        except UnicodeDecodeError:
            is_large = pyarrow.types.is_large_string(array.type)
            binary = array.view(pyarrow.large_binary() if is_large else pyarrow.binary())
            return [data.decode(errors="replace") for data in binary.to_pylist()]

    def _in_range(self, array: pyarrow.Array) -> pyarrow.Array:
        """Return dates, times or durations without those that Python cannot represent.

        The finest unit is the microsecond.
        """
        import pyarrow
        import pyarrow.compute as compute

        types, kind = pyarrow.types, array.type
        if types.is_date(kind):
            name, per_s = "date", 1 / DAY_S if types.is_date32(kind) else 10**3
        else:
            names = {"timestamp": types.is_timestamp, "duration": types.is_duration}
            name = next((name for name, is_kind in names.items() if is_kind(kind)), "time")
            per_s = UNITS_PER_S[kind.unit]
        zone = getattr(kind, "tz", None)
        limits_s = RANGES_S["timestamp with a zone" if zone not in (None, "UTC") else name]
        start, end = (round(limit_s * per_s) for limit_s in limits_s)
        low, high = max(-INT64, start), min(INT64, end) - 1
        numbers = array.view(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        is_good = compute.and_(compute.greater_equal(numbers, low), compute.less_equal(numbers, high))
        is_bad = compute.invert(is_good).fill_null(False)
        if lost := is_bad.true_count:
            self.lost += lost
            self.example = self.example or self._text_of(array.filter(is_bad), numbers.filter(is_bad))
            array = compute.if_else(is_good, array, None)
        if name != "date" and kind.unit == "ns":
            # Drop nanoseconds: Python's types do not have them, and they are not shown.
            wide = {"timestamp": pyarrow.timestamp("us", zone), "duration": pyarrow.duration("us")}
            array = array.cast(wide.get(name, pyarrow.time64("us")), safe=False)
        if zone and len(array):
            return self._with_zone(array)
        return array

    def _text_of(self, array: pyarrow.Array, numbers: pyarrow.Array) -> str:
        import pyarrow

        text = str(array[:1].cast(pyarrow.string()).to_pylist()[0])
        if text.startswith("<") or text.lstrip("-").isdigit():
            return f"{numbers[0].as_py()} {getattr(array.type, 'unit', 'ms')}"
        return text

    def _with_zone(self, array: pyarrow.Array) -> pyarrow.Array:
        """Return the array; in UTC if its time zone is not known on this machine."""
        import pyarrow

        try:
            array[:1].to_pylist()
            pyarrow.scalar(0, array.type).as_py()
        except (pyarrow.ArrowException, ValueError, LookupError):
            self.is_utc = True
            return array.cast(pyarrow.timestamp(array.type.unit, "UTC")).cast(pyarrow.timestamp(array.type.unit))
        return array

    def _add_each(self, array: pyarrow.Array) -> None:
        """Add cells one by one, for columns such as objects with a date that Python cannot represent."""
        import pyarrow

        for scalar in array:
            try:
                self.cells.append(scalar.as_py())
            except (pyarrow.ArrowException, ValueError, OverflowError, TypeError):
                self.cells.append(None)
                self.lost += 1
