"""When a live turn is due again: never too early, together with others, and in time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.turns.cadence import (
    FAST_INTERVAL_S,
    FAST_PAUSE_S,
    FAST_TICK_LIMIT_S,
    FRAME_INTERVAL_S,
    RENDER_SHARE,
    TICK_LIMIT_S,
    next_due,
)

clocks = st.floats(0, 1e8)
"""Three years."""
ROUNDING_S = 1e-5


@given(now=clocks, was_due_s_ago=st.floats(0, 10), render_s=st.floats(0, 1), turns=st.integers(0, 500))
def test_slow_turn_is_due_after_its_interval_and_not_much_later(
    now: float, was_due_s_ago: float, render_s: float, turns: int
) -> None:
    due_at = next_due(now, last_due_at=now - was_due_s_ago, render_s=render_s, is_fast=False, live_turns=turns)
    least = max(FRAME_INTERVAL_S, render_s / RENDER_SHARE)
    assert now + least - ROUNDING_S <= due_at <= now + least + TICK_LIMIT_S + ROUNDING_S


@given(now=clocks, was_due_s_ago=st.floats(0, 10), render_s=st.floats(0, 1), turns=st.integers(0, 500))
def test_fast_turn_is_due_after_a_pause_and_not_much_after_its_interval(
    now: float, was_due_s_ago: float, render_s: float, turns: int
) -> None:
    due_at = next_due(now, last_due_at=now - was_due_s_ago, render_s=render_s, is_fast=True, live_turns=turns)
    least = max(FAST_PAUSE_S, render_s / RENDER_SHARE)
    most = max(least, FAST_INTERVAL_S) + FAST_TICK_LIMIT_S
    assert now + least - ROUNDING_S <= due_at <= now + most + ROUNDING_S


@given(start=clocks, turns=st.integers(1, 200), late=st.lists(st.floats(0, 0.2), min_size=30, max_size=60))
def test_no_turn_is_shown_more_than_25_times_in_any_second(start: float, turns: int, late: list[float]) -> None:
    for is_fast in (True, False):
        due_at, shown = start, []
        for late_s in late:
            shown.append(due_at + late_s)
            due_at = next_due(shown[-1], last_due_at=due_at, render_s=0, is_fast=is_fast, live_turns=turns)
        assert all(later - earlier >= 1 - 25 * ROUNDING_S for earlier, later in zip(shown, shown[25:], strict=False))


@given(start=clocks, turns=st.integers(50, 200), late=st.lists(st.floats(0, 0.029), min_size=2, max_size=50))
def test_fast_turn_keeps_its_time_however_late_each_frame_is(start: float, turns: int, late: list[float]) -> None:
    first_at = due_at = next_due(start, last_due_at=start, render_s=0, is_fast=True, live_turns=turns)
    for number, late_s in enumerate(late, start=1):
        due_at = next_due(due_at + late_s, last_due_at=due_at, render_s=0, is_fast=True, live_turns=turns)
        assert due_at == pytest.approx(first_at + number * FAST_INTERVAL_S, rel=0, abs=60 * ROUNDING_S)


def test_many_fast_turns_are_due_at_few_times() -> None:
    times = {
        round(next_due(1000 + ms / 1000, last_due_at=0, render_s=0, is_fast=True, live_turns=50), 6) for ms in range(60)
    }
    assert len(times) <= 5


@pytest.mark.parametrize("turns", [0, 1])
def test_lone_turn_waits_for_hardly_more_than_its_interval(turns: int) -> None:
    due_at = next_due(5.0, last_due_at=5.0, render_s=0, is_fast=False, live_turns=turns)
    assert due_at == pytest.approx(5.0 + FRAME_INTERVAL_S, abs=0.0001)
