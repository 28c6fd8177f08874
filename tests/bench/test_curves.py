"""Tests of fitted exponents, of the verdict on them, and of charts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.charts import draw_curve
from bench.curves import Curve, fit_exponent, format_curves_table, summarize_curves

SIZES = (1.0, 10.0, 100.0, 1000.0)


def make_curve(exponent: float, constant: float = 0.0) -> Curve:
    points = tuple((size, constant + 3 * size**exponent) for size in SIZES)
    return Curve("some", f"Some {exponent}", "size", "cost, s", points)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_exponent_of_a_power_law_is_fitted(exponent: float) -> None:
    assert make_curve(exponent).exponent == pytest.approx(exponent)


def test_one_point_has_no_exponent() -> None:
    with pytest.raises(ValueError, match="two"):
        fit_exponent([(1.0, 1.0)])


def test_upper_exponent_reveals_growth_that_a_constant_cost_hides() -> None:
    curve = make_curve(2.0, constant=10_000.0)
    assert curve.exponent < curve.upper_exponent
    assert not curve.is_linear_at_most


def test_summary_names_the_curves_that_are_worse_than_linear() -> None:
    linear, quadratic = make_curve(1.0), make_curve(2.0)
    assert summarize_curves([linear]).startswith("None of these 1 costs grows worse than linearly")
    assert summarize_curves([linear, quadratic]) == "Worse than linear: Some 2.0."
    assert "WORSE" in quadratic.describe()
    assert "not worse" in linear.describe()


def test_table_shows_the_range_and_the_exponents_of_each_curve() -> None:
    *_, row = format_curves_table([make_curve(1.0)]).splitlines()
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells == ["Some 1.0, 1 to 1,000 size", "cost, s", "3", "3,000", "1.00", "1.00"]


def test_chart_is_reproducible_and_contains_no_script(tmp_path: Path) -> None:
    first = draw_curve(make_curve(1.0), tmp_path).read_bytes()
    assert draw_curve(make_curve(1.0), tmp_path).read_bytes() == first
    assert draw_curve(replace(make_curve(2.0), name="other"), tmp_path).read_bytes() != first
    assert b"<script" not in first
    assert "Some 1.0" in first.decode()
