"""The wait for the next frame ends, wherever the process is descheduled."""

from __future__ import annotations

import asyncio

import pytest

from chat.page.relay.frame_schedule import wait_until


@pytest.mark.parametrize("ahead_ms", range(0, 60, 5))
@pytest.mark.parametrize("lost_ms", [11, 40])
async def test_wait_for_a_frame_ends_even_if_each_reading_of_the_clock_is_past_its_time(
    monkeypatch: pytest.MonkeyPatch, ahead_ms: int, lost_ms: int
) -> None:
    loop = asyncio.get_running_loop()
    read_clock, lost_s = loop.time, 0.0
    moment = read_clock() + ahead_ms / 1000

    def clock_of_a_busy_machine() -> float:
        nonlocal lost_s
        lost_s += lost_ms / 1000
        return read_clock() + lost_s

    monkeypatch.setattr(loop, "time", clock_of_a_busy_machine)
    waiting = asyncio.ensure_future(wait_until(moment))
    for _ in range(200):
        await asyncio.sleep(0)
    assert waiting.done(), "each reading of the clock takes it far past the next frame"
