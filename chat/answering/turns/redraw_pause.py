"""Decides how often outputs that code changes are stored and shown: the larger they are, the less often. Pure.

Each change is a row of the turn's log, so an output that changes all the time must not fill the log.
"""

from __future__ import annotations

from chat.answering.turns.store import TurnWrite
from chat.messages.changes import OutputCut

REDRAWN_CHARS_PER_S = 20_000
"""Maximum number of characters per second that changed outputs of one turn add to the log."""
PAUSE_LIMIT_S = 3.0
"""Maximum pause in seconds. Everything that follows waits too, such as the end of the code."""


def redraw_pause_s(write: TurnWrite) -> float:
    """Return the seconds that the next frame must wait because of the changes that this one stored."""
    if not any(isinstance(change, OutputCut) for change in write.changes):
        return 0.0
    pause_s = sum(len(str(data)) for _, data in write.rows) / REDRAWN_CHARS_PER_S
    return min(pause_s, PAUSE_LIMIT_S)
