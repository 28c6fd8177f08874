"""Operations on two numbers, and which of them are likely for a number of an answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.words_around_numbers import CURRENCIES

RESULTS_LIMIT: Final = 400
"""Maximum number of results that are compared with one number."""
_LEAST_PART: Final = 0.02
"""Values of different columns are subtracted only if the smaller one is at least this part of the greater one."""

Pair: TypeAlias = tuple[float, float]
Kind: TypeAlias = Literal[
    "share", "change", "back", "points", "sum of points", "minus", "net", "plus", "ratio", "times", "as is"
]
_NOTES: Final[dict[Kind, str]] = {
    "share": "{low} / {high}",
    "change": "{other} / {one} - 1",
    "back": "{one} / {other} - 1",
    "points": "({other} - {one}) × 100",
    "sum of points": "({one} + {other}) × 100",
    "minus": "{other} - {one}",
    "net": "{other} - {one}",
    "plus": "{one} + {other}",
    "ratio": "{high} / {low}",
    "times": "{one} × {other}",
}


@dataclass(frozen=True, slots=True)
class Result:
    """A computed value."""

    value: float
    kind: Kind = "as is"
    operands: Pair = (0, 0)
    text: str = ""

    @property
    def note(self) -> str:
        """The computation as a text, such as `12 - 5`."""
        one, other = (f"{operand:.12g}" for operand in self.operands)
        low, high = (f"{operand:.12g}" for operand in sorted(self.operands, key=abs))
        return self.text or _NOTES[self.kind].format(one=one, other=other, low=low, high=high)

    @property
    def sign(self) -> Literal["", "change", "difference"]:
        """Return what the sign of the value shows: growth or a fall (`change`), or which operand is greater."""
        if self.kind in ("change", "back"):
            return "change"
        return "difference" if self.kind in ("minus", "net", "points") else ""


def operations(number: WrittenNumber, context: Context) -> tuple[Sequence[Kind], Sequence[Kind], Sequence[Kind]]:
    """Return the operations that are likely for any two numbers, for two of one row of a table, and of one column."""
    if number.unit == "%":
        if number.sign:
            return ("change", "back", "points"), ("change",), ("change", "back", "points")
        ratios: tuple[Kind, Kind] = ("change", "share") if direction(context.clause) else ("share", "change")
        return (*ratios, "back", "points"), ratios, (*ratios, "points", "sum of points", "back")
    if number.unit == "pp":
        return ("points", "minus"), ("points", "net"), ("points", "minus")
    if number.sign:
        either: tuple[Kind, ...] = ("minus",) if number.is_whole else ("minus", "points")
        return either, ("net",), either
    if number.is_ratio:
        return ("ratio",), ("ratio",), ("ratio",)
    if number.unit and number.unit not in CURRENCIES:
        return ("minus", "plus"), () if number.unit in ("°C", "°F") else ("ratio",), ("minus", "plus")
    if number.unit or number.amount.step == 1:
        return ("minus", "times", "ratio", "plus"), ("times", "ratio", "net"), ("minus", "ratio", "plus")
    if direction(context.clause):
        return ("minus", "points", "ratio", "plus", "times"), ("ratio", "net"), ("minus", "points", "ratio", "plus")
    return ("ratio", "minus", "points", "plus", "times"), ("ratio", "net"), ("ratio", "minus", "points", "plus")


def of_pairs(number: WrittenNumber, kinds: Sequence[Kind], pairs: Iterable[Pair]) -> Iterator[Result]:
    """Yield the results of pairs, those of the most likely operation first."""
    listed = list(islice(pairs, RESULTS_LIMIT)) if kinds else []
    for kind in kinds:
        for one, other in listed:
            value = _compute(number, kind, one, other)
            if value is not None:
                yield Result(value, kind, (one, other))


def _compute(number: WrittenNumber, kind: Kind, one: float, other: float) -> float | None:
    """Return the result for two values, the earlier one first; `None` if people would not compute it."""
    if kind == "back":
        one, other = other, one
    if kind in ("change", "back"):
        return (other - one) / abs(one) * 100 if one else None
    if kind in ("points", "sum of points"):
        value = (other - one if kind == "points" else one + other) * 100
        return value if abs(one) <= 1 and abs(other) <= 1 and abs(value) <= 100 else None
    if kind in ("minus", "plus"):
        return (other - one if kind == "minus" else one + other) if _may_add(number, one, other) else None
    if kind == "net":
        is_much_less = min(abs(one), abs(other)) < max(abs(one), abs(other)) * _LEAST_PART
        return None if is_much_less or not _may_add(number, one, other) else other - one
    if kind in ("times", "ratio"):
        one, other = abs(one), abs(other)
    low, high = (one, other) if one < other else (other, one)
    if low <= 0:
        return None
    if kind == "share":
        return low / high * 100
    if kind == "ratio":
        if number.amount.value < 1:
            return low / high
        return high / low if low != 1 and high / low >= number.least_ratio else None
    is_product = (low < 1 < high and (high.is_integer() or number.digits > 2)) or (number.digits > 2 and low > 1)
    return low * high if is_product else None


def _may_add(number: WrittenNumber, one: float, other: float) -> bool:
    """Return whether a number may be the sum or difference of two values.

    If both values are whole numbers, so is the result. A value smaller than the last written digit would not change it.
    """
    step = number.step
    if max(abs(one), abs(other)) < 10**number.scale:
        # The values are written in the scale of the number, such as in millions.
        step /= 10**number.scale
    return (number.is_whole or not (one.is_integer() and other.is_integer())) and min(abs(one), abs(other)) >= step
