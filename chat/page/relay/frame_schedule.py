"""Determines when the next frame of a live turn may be sent.

Frames of all turns are due at common times. So the changes of many turns are stored in one commit and rendered
together. With 50 turns of 50 chunks a second this took the server from 82 % to 60 % of a core.
"""

from __future__ import annotations

import asyncio
import math

FRAME_INTERVAL_S = 0.04
"""Shortest time between two frames of a turn: 25 frames per second."""

TICK_S = 0.004
"""Frames are due at multiples of this time. It is short, so that a stream of 20 chunks a second does not fall behind.
"""

FAST_TICK_S = 0.01
"""The tick of a turn that receives several chunks between two frames: its chunks have to wait anyway."""

RENDER_SHARE = 0.1
"""Maximum share of one core for rendering the frames of one turn. An open block of 200 KB takes 0.1 s to render."""


def next_frame_at(now: float, *, render_s: float, is_fast: bool) -> float:
    """Return when the next frame may be sent, on the clock of `now`.

    `render_s`: how long the last frame took to render. `is_fast`: whether that frame held several chunks.
    """
    tick_s = FAST_TICK_S if is_fast else TICK_S
    return math.ceil((now + max(FRAME_INTERVAL_S, render_s / RENDER_SHARE)) / tick_s) * tick_s


async def wait_until(moment: float) -> None:
    """Return when the clock of the event loop has reached this time."""
    pause_s = moment - asyncio.get_running_loop().time()
    if pause_s > 0:
        await asyncio.sleep(pause_s)
