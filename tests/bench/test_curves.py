"""Exponents are fitted to the points, and what is said about them follows from them alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.curves import Curve, slope, verdict
from bench.drawing import draw

SIZES = (1.0, 10.0, 100.0, 1000.0)


def growing_as(exponent: float, constant: float = 0.0) -> Curve:
    points = tuple((size, constant + 3 * size**exponent) for size in SIZES)
    return Curve("some", f"Some {exponent}", "size", "cost, s", points)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_exponent_of_a_power_is_found(exponent: float) -> None:
    assert growing_as(exponent).exponent == pytest.approx(exponent)


def test_a_slope_needs_two_points() -> None:
    with pytest.raises(ValueError, match="two"):
        slope([(1.0, 1.0)])


def test_what_a_constant_hides_shows_at_the_end() -> None:
    curve = growing_as(2.0, constant=10_000.0)
    assert curve.exponent < curve.exponent_at_the_end
    assert not curve.is_linear_at_most


def test_the_verdict_names_what_is_worse_than_linear() -> None:
    linear, quadratic = growing_as(1.0), growing_as(2.0)
    assert verdict([linear]).startswith("None of these 1 costs grows worse than linearly")
    assert verdict([linear, quadratic]) == "Worse than linear: Some 2.0."
    assert "WORSE" in quadratic.sentence()
    assert "not worse" in linear.sentence()


def test_a_drawing_is_the_same_each_time_and_holds_no_script(tmp_path: Path) -> None:
    first = draw(growing_as(1.0), tmp_path).read_bytes()
    assert draw(growing_as(1.0), tmp_path).read_bytes() == first
    assert draw(replace(growing_as(2.0), name="other"), tmp_path).read_bytes() != first
    assert b"<script" not in first
    assert "Some 1.0" in first.decode()
