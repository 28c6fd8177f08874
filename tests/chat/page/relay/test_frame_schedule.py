"""When the next frame of a turn may be sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.page.relay.frame_schedule import FAST_TICK_S, FRAME_INTERVAL_S, RENDER_SHARE, TICK_S, next_frame_at

CLOCK = st.floats(0, 1e8)
ROUNDING_S = 1e-6


@given(now=CLOCK, render_s=st.floats(0, 1), is_fast=st.booleans())
def test_pause_between_frames_limits_rendering_to_its_share_of_a_core(
    now: float, render_s: float, is_fast: bool
) -> None:
    pause_s = next_frame_at(now, render_s=render_s, is_fast=is_fast) - now
    assert render_s <= pause_s * RENDER_SHARE + ROUNDING_S


@given(start=CLOCK, delays=st.lists(st.floats(0, 0.2), min_size=30, max_size=60))
def test_turn_sends_at_most_25_frames_in_any_second(start: float, delays: list[float]) -> None:
    sent_at = [start]
    for delay_s in delays:
        sent_at.append(next_frame_at(sent_at[-1], render_s=0, is_fast=False) + delay_s)
    assert all(later - earlier >= 1 - 25 * ROUNDING_S for earlier, later in zip(sent_at, sent_at[25:], strict=False))


@given(now=st.floats(0, 1e6))
def test_next_frame_of_a_slow_turn_is_due_after_the_interval_and_at_most_one_tick_later(now: float) -> None:
    pause_s = next_frame_at(now, render_s=0.001, is_fast=False) - now
    assert FRAME_INTERVAL_S - ROUNDING_S <= pause_s <= FRAME_INTERVAL_S + TICK_S + ROUNDING_S


@given(first=st.floats(100, 101), second=st.floats(100, 101))
def test_frames_of_several_turns_are_due_at_the_same_ticks_of_the_clock(first: float, second: float) -> None:
    ticks = [next_frame_at(now, render_s=0, is_fast=True) / FAST_TICK_S for now in (first, second)]
    assert all(abs(tick - round(tick)) < ROUNDING_S for tick in ticks)
