"""Computes values from the coefficients of a printed linear model, and from single numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from chat.messages.numbers.operations import Result
from chat.messages.numbers.statistic_words import label_statistic
from chat.messages.numbers.tables import Table

_BESIDE_INTERCEPT: Final = 4
"""Number of named numbers before and after an intercept that may be coefficients of the same model."""
_BEFORE_ERROR: Final = 3
_QUANTILE_OF_INTERVAL: Final = 1.96
"""Standard errors from an estimate to the bounds of its confidence interval of 95 %."""
_Named: TypeAlias = tuple[str, float]
"""The name and the value of a number that may be a coefficient."""


def of_models(tables: Sequence[Table], numbers: Sequence[float]) -> Iterator[Result]:
    """Yield values that follow from printed linear models.

    They are predictions for numbers of the sentence, the numbers that lead to such predictions, and bounds of
    confidence intervals.
    """
    for model in _models(tables):
        names = [label_statistic(name) for name, _ in model]
        for n, (_, base) in enumerate(model):
            if names[n] == "intercept":
                some = [*model[max(0, n - _BESIDE_INTERCEPT) : n], *model[n + 1 :][:_BESIDE_INTERCEPT]]
                yield from _predictions(base, [value for _, value in some if value], numbers)
            if names[n] == "se":
                for _, value in model[max(0, n - _BEFORE_ERROR) : n]:
                    for factor in (-_QUANTILE_OF_INTERVAL, _QUANTILE_OF_INTERVAL):
                        yield Result(value + factor * base, text=f"{value:.12g} + {factor} × {base:.12g}")


def _predictions(base: float, slopes: Sequence[float], numbers: Sequence[float]) -> Iterator[Result]:
    """Yield the predictions for numbers, and the numbers for which they are predicted. `base`: the intercept."""
    for slope in slopes:
        for number in numbers:
            yield Result(base + slope * number, "times", text=f"{base:.12g} + {slope:.12g} × {number:.12g}")
            yield Result((number - base) / slope, "times", text=f"({number:.12g} - {base:.12g}) / {slope:.12g}")


def _models(tables: Sequence[Table]) -> Iterator[list[_Named]]:
    """Yield the named numbers of each line that has several, and then the first numbers of all other labelled rows
    together.
    """
    others: list[_Named] = []
    for row in (row for table in tables for row in table.rows):
        if row.names:
            yield [(name, cell.value) for name, cell in zip(row.names, row.cells, strict=True) if cell]
        elif row.label and (cell := row.cells[0]):
            others.append((row.label, cell.value))
    yield others


def of_single(value: float) -> Iterator[Result]:
    """Yield the results that can be computed from a fraction alone: its square (also in percent), complement and
    reciprocal.
    """
    if 0 < abs(value) < 1:
        yield Result(value * value, text=f"{value:.12g}²")
        yield Result(100 * value * value, text=f"{value:.12g}² × 100")
        yield Result(1 - value, text=f"1 - {value:.12g}")
        yield Result(1 / value, text=f"1 / {value:.12g}")


def of_times(values: Sequence[float], factors: Iterable[int]) -> Iterator[Result]:
    """Yield the values in another unit of time, as in `0.2 per hour, or 4.8 a day`."""
    for factor in factors:
        for value in values:
            yield Result(value * factor, "times", (value, factor))
            yield Result(value / factor, "times", (value, 1 / factor), text=f"{value:.12g} / {factor}")
