"""How a reader follows a conversation: where it stands, what is on its way to it, and how fast it may ask."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from chat.turns.broadcast import Frame

WINDOW_FRAMES = 64
WINDOW_BYTES = 1024 * 1024
"""What may be on its way to a page that acknowledges; then the next thing it gets is a snapshot."""

UNACKNOWLEDGED_BYTES = 16 * 1024 * 1024
"""What a client that never acknowledges is sent before it is closed; it may come back and read a snapshot.

The largest message does not count: a page needs seconds to show a transcript of 20 MiB, and acknowledges it only then.
"""

ACTIONS_PER_S = 20.0
ACTIONS_AT_ONCE = 60.0
REFUSED_LIMIT = 2_000
"""What one client may send: far more than a page does, acknowledgements included."""


@dataclass(slots=True)
class Place:
    """What the page of one socket shows."""

    revision: int | None
    turn_id: str = ""
    seq: int = 0

    def follows(self, frame: Frame) -> bool:
        """Whether `frame` is the very next step."""
        if frame.after == -1:
            return self.revision is not None and frame.revision == self.revision + 1
        return frame.turn_id == self.turn_id and frame.after == self.seq

    def has_seen(self, frame: Frame) -> bool:
        """Whether the page shows all that `frame` brings."""
        if self.revision is None or frame.revision > self.revision:
            return False
        return frame.revision < self.revision or (frame.turn_id == self.turn_id and frame.seq <= self.seq)


@dataclass(slots=True)
class Pace:
    """How fast a client sends, as a bucket of tokens."""

    tokens: float = ACTIONS_AT_ONCE
    at_s: float = field(default_factory=time.monotonic)
    refused: int = 0
    """Since the client last kept still for some seconds."""

    def allows(self) -> bool:
        """Whether one more message may be taken now."""
        now_s = time.monotonic()
        self.tokens = min(ACTIONS_AT_ONCE, self.tokens + (now_s - self.at_s) * ACTIONS_PER_S)
        self.at_s = now_s
        if self.tokens < 1:
            self.refused += 1
            return False
        if self.tokens >= ACTIONS_AT_ONCE / 2:
            self.refused = 0
        self.tokens -= 1
        return True


@dataclass(slots=True)
class Window:
    """What is on its way to the page and not acknowledged."""

    sent: deque[tuple[str, int, int]] = field(default_factory=deque)
    """Turn, seq and size in bytes of each frame; of a client that has never acknowledged, of the newest ones."""
    size_bytes: int = 0
    """Of these frames; of a client that has never acknowledged, of all that it was sent."""
    largest_bytes: int = 0
    """Of the largest frame that was sent."""
    beside_bytes: int = 0
    """Of what is beside the transcript, which is acknowledged with the frames before and after it."""
    is_used: bool = False
    """Whether this client acknowledges at all."""

    @property
    def is_full(self) -> bool:
        """Whether to wait for an acknowledgement."""
        return self.is_used and (len(self.sent) >= WINDOW_FRAMES or self.size_bytes >= WINDOW_BYTES)

    @property
    def is_ignored(self) -> bool:
        """Whether a client has been sent more than enough and acknowledges none of it."""
        unacknowledged_bytes = 0 if self.is_used else self.size_bytes - self.largest_bytes
        return self.beside_bytes + unacknowledged_bytes > UNACKNOWLEDGED_BYTES

    def add(self, turn_id: str, seq: int, size_bytes: int) -> None:
        """A frame is sent."""
        self.size_bytes += size_bytes
        self.largest_bytes = max(self.largest_bytes, size_bytes)
        self.sent.append((turn_id, seq, size_bytes))
        if not self.is_used and len(self.sent) > WINDOW_FRAMES:
            # The oldest: a client whose first acknowledgement comes late names one of the newest.
            self.sent.popleft()

    def acknowledge(self, turn_id: str, seq: int) -> None:
        """The page has applied all frames up to this one; one that was never sent changes nothing."""
        self.is_used = True
        known = [position for position, (turn, number, _) in enumerate(self.sent) if (turn, number) == (turn_id, seq)]
        if not known:
            return
        for _ in range(known[-1] + 1):
            self.sent.popleft()
        self.size_bytes = sum(size_bytes for _, _, size_bytes in self.sent)
        self.beside_bytes = 0
