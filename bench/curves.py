"""Describes the growth of a cost with a size: measured points, the fitted exponent, and a verdict. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.tables import format_markdown_table, format_number

#: An exponent up to this counts as linear, because single points vary by 15 % between runs.
LINEAR_LIMIT = 1.15


@dataclass(frozen=True, slots=True)
class Curve:
    """Measured costs for several sizes. All values are above 0."""

    name: str
    """Name of the chart's file, without its suffix."""
    title: str
    size: str
    """Label of the x axis, with its unit."""
    cost: str
    """Label of the y axis, with its unit."""
    points: tuple[tuple[float, float], ...]
    """Pairs of size and cost, ascending by size."""

    @property
    def exponent(self) -> float:
        """Exponent of all points: 0 is constant, 1 is linear, 2 is quadratic."""
        return fit_exponent(self.points)

    @property
    def upper_exponent(self) -> float:
        """Exponent of the upper half of the points, where a constant cost has less influence."""
        return fit_exponent(self.points[min(len(self.points) // 2, len(self.points) - 2) :])

    @property
    def is_linear_at_most(self) -> bool:
        """Whether both exponents are at most linear."""
        return max(self.exponent, self.upper_exponent) <= LINEAR_LIMIT

    def describe(self) -> str:
        """Return the exponents and whether the cost grows faster than linearly."""
        verdict = "not worse than linear" if self.is_linear_at_most else "WORSE THAN LINEAR"
        return f"exponent {self.exponent:.2f}, {self.upper_exponent:.2f} over the upper half: {verdict}"

    def format_table(self) -> str:
        """Return the points as a Markdown table."""
        rows = [(self.size, self.cost), *((f"{size:,g}", f"{cost:,.4g}") for size, cost in self.points)]
        return format_markdown_table(rows)

    def to_json(self) -> dict[str, object]:
        """Return the curve and its exponents as a JSON object."""
        return asdict(self) | {
            "exponent": self.exponent,
            "upper_exponent": self.upper_exponent,
            "is_linear_at_most": self.is_linear_at_most,
        }


def fit_exponent(points: Sequence[tuple[float, float]]) -> float:
    """Fit a power law by least squares of the logarithms, and return its exponent.

    Raise ValueError for fewer than two points or for a value that is not above 0.
    """
    sizes, costs = ([math.log(value) for value in values] for values in zip(*points, strict=True))
    return statistics.linear_regression(sizes, costs).slope


def format_curves_table(curves: Sequence[Curve]) -> str:
    """Return a Markdown table with the range and the exponents of each curve."""
    rows = [("size", "cost", "first", "last", "exponent", "upper half")]
    for curve in curves:
        (first_size, first_cost), *_, (last_size, last_cost) = curve.points
        rows.append(
            (
                f"{curve.title}, {first_size:,g} to {last_size:,g} {curve.size}",
                curve.cost,
                f"{first_cost:,.4g}",
                f"{last_cost:,.4g}",
                format_number(curve.exponent, 2),
                format_number(curve.upper_exponent, 2),
            )
        )
    return format_markdown_table(rows)


def summarize_curves(curves: Sequence[Curve]) -> str:
    """Return one sentence that names the costs that grow faster than linearly."""
    superlinear = [curve.title for curve in curves if not curve.is_linear_at_most]
    if superlinear:
        return f"Worse than linear: {'; '.join(superlinear)}."
    return f"None of these {len(curves)} costs grows worse than linearly (no exponent above {LINEAR_LIMIT})."
