"""Limits how many messages one client may send."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

ACTIONS_PER_S = 20.0
BURST_ACTIONS = 60.0
"""Maximum number of messages in a burst. A page sends far fewer, including its acknowledgements."""
ANSWERED_LIMIT = 100
"""Number of refused messages that are read and answered, which costs as much as handling them."""
REFUSED_LIMIT = 2_000
"""Number of refused messages after which the socket is closed."""


@dataclass(slots=True)
class RateLimiter:
    """A token bucket for the messages of one client."""

    tokens: float = BURST_ACTIONS
    updated_at_s: float = field(default_factory=time.monotonic)
    refused: int = 0
    """Number of refused messages since a message last found the bucket half full."""

    def allows(self) -> bool:
        """Return whether one more message may be handled now, and count it."""
        now_s = time.monotonic()
        self.tokens = min(BURST_ACTIONS, self.tokens + (now_s - self.updated_at_s) * ACTIONS_PER_S)
        self.updated_at_s = now_s
        if self.tokens < 1:
            self.refused += 1
            return False
        if self.tokens >= BURST_ACTIONS / 2:
            self.refused = 0
        self.tokens -= 1
        return True
