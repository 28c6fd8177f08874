"""When a live turn is due again: never too early, together with others, and in time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.turns.cadence import (
    FAST_INTERVAL_S,
    FAST_TICK_LIMIT_S,
    FRAME_INTERVAL_S,
    RENDER_SHARE,
    TICK_LIMIT_S,
    next_due,
)

clocks = st.floats(0, 1e7)


@given(
    now=clocks,
    was_due_s_ago=st.floats(0, 10),
    render_s=st.floats(0, 1),
    is_fast=st.booleans(),
    turns=st.integers(0, 500),
)
def test_no_turn_is_due_before_its_interval_or_much_after(
    now: float, was_due_s_ago: float, render_s: float, is_fast: bool, turns: int
) -> None:
    due_at = next_due(now, last_due_at=now - was_due_s_ago, render_s=render_s, is_fast=is_fast, live_turns=turns)
    least = max(FRAME_INTERVAL_S, render_s / RENDER_SHARE)
    most = max(least, FAST_INTERVAL_S) + FAST_TICK_LIMIT_S if is_fast else least + TICK_LIMIT_S
    assert now + least <= due_at <= now + most + 1e-6


@given(start=clocks, turns=st.integers(1, 200), delays=st.lists(st.floats(0, 0.019), min_size=2, max_size=50))
def test_fast_turn_keeps_its_time_however_long_each_round_takes(start: float, turns: int, delays: list[float]) -> None:
    due_at = next_due(start, last_due_at=start, render_s=0, is_fast=True, live_turns=turns)
    times = [due_at]
    for delay_s in delays:
        due_at = next_due(due_at + delay_s, last_due_at=due_at, render_s=0, is_fast=True, live_turns=turns)
        times.append(due_at)
    tick_s = min(FAST_TICK_LIMIT_S, 0.0004 * turns)
    for earlier, later in pairwise(times):
        # One that is no whole number of ticks is put off to the next.
        assert FAST_INTERVAL_S - 1e-6 <= later - earlier <= FAST_INTERVAL_S + tick_s + 1e-6


def test_many_fast_turns_are_due_at_few_times() -> None:
    times = {
        round(next_due(1000 + ms / 1000, last_due_at=0, render_s=0, is_fast=True, live_turns=50), 6) for ms in range(60)
    }
    assert len(times) == 4


@pytest.mark.parametrize("turns", [0, 1])
def test_lone_turn_waits_for_hardly_more_than_its_interval(turns: int) -> None:
    due_at = next_due(5.0, last_due_at=5.0, render_s=0, is_fast=False, live_turns=turns)
    assert due_at == pytest.approx(5.0 + FRAME_INTERVAL_S, abs=0.0001)
