"""Charts of days: their bars fill the image, stand where they belong, and state their amounts."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.people.account.chart import Chart, Row, Table, draw_columns

DAY = date(2026, 3, 1)
DAYS = [DAY + timedelta(days=number) for number in range(30)]
AMOUNTS = st.dictionaries(
    st.sampled_from(DAYS),
    st.dictionaries(st.sampled_from("abc"), st.floats(0, 1e12) | st.integers(0, 10**6), max_size=3),
    max_size=30,
)


@given(amounts=AMOUNTS, is_stacked=st.booleans())
def test_chart_columns_begin_at_the_bottom_and_the_highest_reaches_the_top(
    amounts: dict[date, dict[str, float]], is_stacked: bool
) -> None:
    columns = draw_columns(DAYS, amounts, "abc", str, is_stacked=is_stacked)
    bars = defaultdict(list)
    for bar in columns.bars:
        bars[bar.x].append(bar)
    for of_day in bars.values():
        grounds = [bar.y + bar.height for bar in of_day]
        expected = [columns.height, *(bar.y for bar in of_day[:-1])] if is_stacked else [columns.height] * len(of_day)
        assert grounds == pytest.approx(expected)
    tops = [bar.y for bar in columns.bars]
    assert min(tops, default=0) == pytest.approx(0, abs=1e-9 * columns.height)


def test_title_of_a_bar_has_its_day_and_amount_and_series() -> None:
    columns = draw_columns(
        DAYS, {DAYS[2]: {"p95": 4.0, "p50": 1.5}}, ["p95", "p50"], "{:.1f} s".format, is_stacked=False
    )
    assert [(bar.x, bar.y, bar.height, bar.series) for bar in columns.bars] == [(2, 0, 4, 1), (2, 2.5, 1.5, 2)]
    assert [bar.title for bar in columns.bars] == ["3 Mar: 4.0 s p95", "3 Mar: 1.5 s p50"]
    assert (columns.highest, columns.first_day, columns.last_day) == ("4.0 s", "1 Mar", "30 Mar")


@pytest.mark.parametrize(("amount", "is_empty"), [(0, True), (3, False)])
def test_chart_is_empty_if_all_its_amounts_are_0(amount: float, is_empty: bool) -> None:
    table = Table(("Kind", "turns"), (Row(("stopped", str(amount)), amount),))
    assert Chart("name", "Name", "unit", "", "", table).is_empty is is_empty
    columns = draw_columns(DAYS, {DAY: {"turns": amount}}, ["turns"], str)
    assert Chart("name", "Name", "unit", "", "", Table(("Day",), ()), columns).is_empty is is_empty
