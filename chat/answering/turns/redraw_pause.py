"""How often outputs that code changes are stored and shown: more seldom, the larger they are. Pure.

Each change is a row of the turn's log, so an output that changes all the time must not fill the log.
"""

from __future__ import annotations

from chat.answering.turns.store import TurnWrite
from chat.messages.changes import OutputCut

REDRAWN_CHARS_PER_S = 20_000
"""How much of the log the changed outputs of one turn may take."""
PAUSE_LIMIT_S = 3.0
"""All that follows waits too, such as the end of the code."""


def redraw_pause_s(write: TurnWrite) -> float:
    """Return how many seconds the next frame must wait because of what this one stored."""
    if not any(isinstance(change, OutputCut) for change in write.changes):
        return 0.0
    pause_s = sum(len(str(data)) for _, data in write.rows) / REDRAWN_CHARS_PER_S
    return min(pause_s, PAUSE_LIMIT_S)
