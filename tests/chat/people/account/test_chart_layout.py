"""Charts: shapes stay inside the image, sizes are proportional to the amounts, and titles state the amounts."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.people.account import chart_layout as layout
from chat.people.account.number_format import format_seconds, format_short

DAY = date(2026, 3, 1)
DAYS = [DAY + timedelta(days=number) for number in range(30)]
TOLERANCE = 0.01
"""Coordinates are rounded to two decimal places."""
AMOUNTS = st.dictionaries(
    st.sampled_from(DAYS),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1e12) | st.integers(0, 10**6), max_size=8),
    max_size=30,
)


@given(amounts=AMOUNTS)
def test_columns_stay_inside_the_image_and_their_height_is_proportional(amounts: dict[date, dict[str, float]]) -> None:
    plot = layout.layout_columns(DAYS, amounts, layout.assign_series("abcdefgh"), str)
    for bar in plot.bars:
        assert bar.y >= plot.top - 2 * TOLERANCE
        assert bar.y + bar.height <= plot.bottom + 2 * TOLERANCE
        assert bar.x >= plot.left
        assert bar.x + bar.width <= plot.right + TOLERANCE
    assert all(plot.top <= tick.position <= plot.bottom for tick in plot.value_ticks)
    assert 2 <= len(plot.value_ticks) <= 6
    assert plot.name_ticks[-1].label == "30 Mar"
    maximum = float(plot.value_ticks[-1].label)
    height = sum(bar.height for bar in plot.bars)
    total = sum(sum(by_name.values()) for by_name in amounts.values())
    expected = total / maximum * (plot.bottom - plot.top)
    assert height == pytest.approx(expected, abs=TOLERANCE * (len(plot.bars) + 1))


@given(maximum=st.floats(1e-6, 1e15), is_integer=st.booleans())
def test_tick_values_reach_the_maximum_with_their_last_step(maximum: float, is_integer: bool) -> None:
    values = layout.choose_tick_values(maximum, is_integer=is_integer)
    assert values[0] == 0
    assert 2 <= len(values) <= 6
    assert values[-1] >= maximum * (1 - 1e-6)
    assert values[-2] < max(maximum, 1 if is_integer else 0)
    assert not is_integer or all(value == int(value) for value in values)


def test_names_beyond_the_fifth_share_the_last_series() -> None:
    assert list(layout.assign_series("abcdef").values()) == [1, 2, 3, 4, 5, 6]
    series = layout.assign_series("abcdefgh")
    assert list(series.values()) == [1, 2, 3, 4, 5, 6, 6, 6]
    assert layout.build_legend(series)[-1] == (6, "others")
    assert layout.build_legend({"a": 1}) == ((1, "a"),)
    (bar,) = layout.layout_columns([DAY], {DAY: {"f": 1.0, "g": 2.0}}, series, format_short).bars
    assert bar.title == "1 Mar: 3 others"


def test_line_is_interrupted_on_days_without_a_value() -> None:
    amounts = {DAYS[0]: (1.0, 2.0), DAYS[1]: (1.0, 4.0), DAYS[5]: (2.0, 2.0)}
    plot = layout.layout_lines(DAYS, amounts, ("p50", "p95"), format_seconds)
    assert [line.series for line in plot.lines] == [1, 2]
    assert [re.sub(r"[\d. ]+", "", line.path) for line in plot.lines] == ["MLM", "MLM"]
    titles = [dot.title for dot in plot.dots if dot.series == 2]
    assert titles == ["1 Mar: p95 2 s", "2 Mar: p95 4 s", "6 Mar: p95 2 s"]


def test_rows_follow_one_another_and_so_do_the_bars_of_a_row() -> None:
    amounts = {"new": {"pending": 2.0}, "old": {"pending": 1.0, "failed": 3.0}}
    plot = layout.layout_rows(amounts, {"pending": 1, "failed": 2}, format_short)
    assert [(bar.series, bar.title) for bar in plot.bars] == [
        (1, "new: 2 pending"),
        (1, "old: 1 pending"),
        (2, "old: 3 failed"),
    ]
    first, second, third = plot.bars
    assert third.x == pytest.approx(second.x + second.width, abs=TOLERANCE)
    assert first.y + first.height < second.y
    assert [tick.label for tick in plot.value_ticks] == ["0", "1", "2", "3", "4"]
    assert [tick.label for tick in plot.name_ticks] == ["new", "old"]
    assert third.y + third.height < plot.height
