"""Shapes stay in their image, are as large as their numbers, and say them."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.overview import shapes
from chat.overview.charts import dollars, seconds, short, size
from chat.overview.figures import counted, place

DAY = date(2026, 3, 1)
DAYS = [DAY + timedelta(days=number) for number in range(30)]
AMOUNTS = st.dictionaries(
    st.sampled_from(DAYS),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1e12) | st.integers(0, 10**6), max_size=8),
    max_size=30,
)


@given(amounts=AMOUNTS)
def test_columns_stand_on_the_axis_within_the_image_and_in_proportion(
    amounts: dict[date, dict[str, float]],
) -> None:
    series = shapes.series_of("abcdefgh")
    bars, values, names = shapes.stacked(DAYS, amounts, series, str)
    bottom, top = shapes.HEIGHT - shapes.BOTTOM, shapes.TOP
    assert all(bar.y >= top - 0.02 and bar.y + bar.height <= bottom + 0.02 for bar in bars)
    assert all(bar.x >= shapes.LEFT and bar.x + bar.width <= shapes.WIDTH - shapes.RIGHT + 0.01 for bar in bars)
    assert all(top <= tick.at <= bottom for tick in values)
    assert 2 <= len(values) <= 6
    assert names[-1].label == "30 Mar"
    most = float(values[-1].label)
    height = sum(bar.height for bar in bars)
    total = sum(sum(found.values()) for found in amounts.values())
    assert height == pytest.approx(total / most * (bottom - top), abs=0.01 * len(bars) + 0.01)


@given(most=st.floats(1e-6, 1e15), is_whole=st.booleans())
def test_scale_reaches_the_most_and_not_far_beyond(most: float, is_whole: bool) -> None:
    values = shapes.scale(most, is_whole=is_whole)
    assert values[0] == 0
    assert 2 <= len(values) <= 6
    assert values[-1] >= most * (1 - 1e-6)
    assert values[-2] < max(most, 1 if is_whole else 0)
    assert not is_whole or all(value == int(value) for value in values)


def test_models_beyond_the_fifth_share_a_series() -> None:
    assert list(shapes.series_of("abcdef").values()) == [1, 2, 3, 4, 5, 6]
    many = shapes.series_of("abcdefgh")
    assert list(many.values()) == [1, 2, 3, 4, 5, 6, 6, 6]
    assert shapes.legend_of(many)[-1] == (6, "others")
    assert shapes.legend_of({"a": 1}) == ((1, "a"),)
    amounts = {DAY: {"f": 1.0, "g": 2.0}}
    (bar,), _, _ = shapes.stacked([DAY], amounts, many, short)
    assert bar.title == "1 Mar: 3 others"


def test_line_is_broken_where_there_is_no_value() -> None:
    amounts = {DAYS[0]: (1.0, 2.0), DAYS[1]: (1.0, 4.0), DAYS[5]: (2.0, 2.0)}
    (p50, p95), dots, _, _ = shapes.lines(DAYS, amounts, ("p50", "p95"), seconds)
    assert [line.series for line in (p50, p95)] == [1, 2]
    assert re.sub(r"[\d. ]+", "", p50.path) == "MLM"
    assert [dot.title for dot in dots if dot.series == 2] == ["1 Mar: p95 2 s", "2 Mar: p95 4 s", "6 Mar: p95 2 s"]


def test_rows_follow_one_another_and_their_pieces_too() -> None:
    bars, values, names, height = shapes.rows(
        {"new": {"pending": 2}, "old": {"pending": 1, "failed": 3}}, {"pending": 1, "failed": 2}, short
    )
    assert [(bar.series, bar.title) for bar in bars] == [
        (1, "new: 2 pending"),
        (1, "old: 1 pending"),
        (2, "old: 3 failed"),
    ]
    assert bars[2].x == pytest.approx(bars[1].x + bars[1].width, abs=0.01)
    assert bars[0].y + bars[0].height < bars[1].y
    assert [tick.label for tick in values] == ["0", "1", "2", "3", "4"]
    assert [name.label for name in names] == ["new", "old"]
    assert bars[-1].y + bars[-1].height < height


def test_numbers_are_said_shortly() -> None:
    assert [short(number) for number in (0, 7, 999, 1000, 12_345, 999_600, 1_250_000, 3e9, 0.25)] == [
        *("0", "7", "999", "1 k", "12.3 k", "1 M", "1.25 M", "3 G", "0.25"),
    ]
    assert [dollars(amount) for amount in (0, 0.00001, 0.012, Decimal("1.5"), 15.0, 1234.5)] == [
        *("$0", "under $0.0001", "$0.012", "$1.50", "$15", "$1,234.50"),
    ]
    assert [seconds(amount) for amount in (0.0, 0.5, 2.0, 9.876, 1234.4)] == [
        "0 s",
        "0.50 s",
        "2 s",
        "9.88 s",
        "1,234 s",
    ]
    assert [size(number) for number in (0, 999, 60_000, 2_500_000)] == ["0 B", "999 B", "60 kB", "2.5 MB"]


def test_what_went_wrong_is_named_by_the_most_exact_word() -> None:
    endings = {
        ("done", "", "STOP"): 90,
        ("done", "", ""): 3,
        ("done", "", "MAX_TOKENS"): 2,
        ("failed", "overloaded", ""): 4,
        ("failed", "overloaded", "OTHER"): 1,
        ("failed", "", ""): 1,
        ("stopped", "", ""): 3,
        ("interrupted", "", ""): 2,
        ("running", "", ""): 8,
    }
    assert list(counted(endings).items()) == [
        ("overloaded", 5),
        ("stopped by the user", 3),
        ("MAX_TOKENS", 2),
        ("interrupted", 2),
        ("failed", 1),
    ]


def test_place_of_a_percentile_is_the_first_with_so_many_up_to_it() -> None:
    assert [place(number, 50) for number in (1, 2, 3, 4, 100)] == [1, 1, 2, 2, 50]
    assert [place(number, 95) for number in (1, 19, 20, 21, 100)] == [1, 19, 19, 20, 95]
