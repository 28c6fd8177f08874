"""When a live turn may be stored and shown again; pure."""

from __future__ import annotations

import math

FRAME_INTERVAL_S = 0.04
"""At most 25 frames a second and conversation; measured: rendering and sending then cost less than storing."""

FAST_INTERVAL_S = 0.05
FAST_PAUSE_S = 0.02
"""Of a turn whose provider says more than once between two frames: what it says waits for its frame in any case. 20
steps a second look as smooth as 25. They are 50 ms apart, or less by what the last one was late, but for a pause.
"""

TICK_S_PER_TURN = 0.00008
TICK_LIMIT_S = 0.004
FAST_TICK_S_PER_TURN = 0.0004
FAST_TICK_LIMIT_S = FAST_INTERVAL_S / 3
"""Turns that stream on are due at common times: with 50 of them every 4 ms, and the fast ones every 17 ms, a third of
them at once. Reading, rendering and sending for each of them by itself would find nothing of it in the processor's
caches. Ticks of slow ones are short: a stream of 20 chunks a second, 50 ms apart, must be able to make up for having
been late.
"""

TICK_PRECISION = 1e-4
"""Of one tick: a time that is a tick but for rounding is that tick."""

RENDER_SHARE = 0.1
"""Of one core, that the frames of one turn may take: a block of 200 KB that is still open takes 0.1 s to render."""


def next_due(now: float, *, last_due_at: float, render_s: float, is_fast: bool, live_turns: int) -> float:
    """When a turn that has just been shown is due again, in seconds on the same clock.

    `last_due_at`: when it was due this time; a fast turn keeps to that, however long the round took. `render_s`: what
    its frame took to make. Never more than 25 times in any second.
    """
    at = now + max(FAST_PAUSE_S if is_fast else FRAME_INTERVAL_S, render_s / RENDER_SHARE)
    tick_s = min(TICK_LIMIT_S, TICK_S_PER_TURN * live_turns)
    if is_fast:
        at = max(at, last_due_at + FAST_INTERVAL_S)
        tick_s = min(FAST_TICK_LIMIT_S, FAST_TICK_S_PER_TURN * live_turns)
    return math.ceil(at / tick_s - TICK_PRECISION) * tick_s if tick_s else at
