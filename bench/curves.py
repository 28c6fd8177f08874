"""How a cost grows: points, the exponent fitted to them, and whether that is worse than linear; pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.layout import markdown_table

LINEAR_LIMIT = 1.15
"""An exponent up to this counts as linear: single points repeat within 15 % at best."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One cost against one size; all values are above 0."""

    name: str
    """Of its file."""
    title: str
    size: str
    """What stands at the x axis, with its unit."""
    cost: str
    """What stands at the y axis, with its unit."""
    points: tuple[tuple[float, float], ...]
    """By size, ascending."""

    @property
    def exponent(self) -> float:
        """Of all points: 0 is constant, 1 linear, 2 quadratic."""
        return slope(self.points)

    @property
    def exponent_at_the_end(self) -> float:
        """Of the upper half of the points, where what does not grow weighs less."""
        return slope(self.points[min(len(self.points) // 2, len(self.points) - 2) :])

    @property
    def is_linear_at_most(self) -> bool:
        """Whether neither exponent is above linear."""
        return max(self.exponent, self.exponent_at_the_end) <= LINEAR_LIMIT

    def sentence(self) -> str:
        """The exponents in words."""
        words = "not worse than linear" if self.is_linear_at_most else "WORSE THAN LINEAR"
        return f"exponent {self.exponent:.2f}, {self.exponent_at_the_end:.2f} over the upper half: {words}"

    def table(self) -> str:
        """The points, in Markdown."""
        rows = [(self.size, self.cost), *((f"{size:,g}", f"{cost:,.4g}") for size, cost in self.points)]
        return markdown_table(rows)

    def document(self) -> dict[str, object]:
        """What is written as JSON."""
        exponents = {"exponent": self.exponent, "exponent_at_the_end": self.exponent_at_the_end}
        return asdict(self) | exponents | {"is_linear_at_most": self.is_linear_at_most}


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Least squares through the logarithms. ValueError for fewer than two points, or one that is not above 0."""
    sizes, costs = ([math.log(value) for value in values] for values in zip(*points, strict=True))
    return statistics.linear_regression(sizes, costs).slope


def verdict(curves: Sequence[Curve]) -> str:
    """One sentence about all of them."""
    worse = [curve.title for curve in curves if not curve.is_linear_at_most]
    if worse:
        return f"Worse than linear: {'; '.join(worse)}."
    return f"None of these {len(curves)} costs grows worse than linearly (no exponent above {LINEAR_LIMIT})."
