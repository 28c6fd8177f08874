"""The frames that were sent to one client and are not acknowledged yet."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

WINDOW_FRAMES = 64
WINDOW_BYTES = 1024 * 1024
"""Maximum size of unacknowledged frames. Above it, nothing is sent until the client has acknowledged some."""

UNACKNOWLEDGED_BYTES = 16 * 1024 * 1024
"""Maximum size of messages to a client that acknowledges nothing. Above it, the socket is closed; it may reconnect.

The largest message does not count: a page needs seconds to show a transcript of 20 MiB before it acknowledges it.
"""


@dataclass(slots=True)
class SendWindow:
    """The unacknowledged frames of one client."""

    sent: deque[tuple[str, int, int]] = field(default_factory=deque)
    """Turn, `seq` and size of each unacknowledged frame.

    Before the first acknowledgement, only the newest `WINDOW_FRAMES` frames are listed.
    """
    size_bytes: int = 0
    """Total size of the frames in `sent`; before the first acknowledgement, of all frames that were sent."""
    largest_bytes: int = 0
    """Size of the largest frame that was sent."""
    unordered_bytes: int = 0
    """Size of messages that are not acknowledged by themselves, since the last acknowledgement."""
    has_acknowledged: bool = False
    """Whether this client has acknowledged a frame so far."""

    @property
    def is_full(self) -> bool:
        """Whether to wait for an acknowledgement before more is sent."""
        return self.has_acknowledged and (len(self.sent) >= WINDOW_FRAMES or self.size_bytes >= WINDOW_BYTES)

    @property
    def is_client_stalled(self) -> bool:
        """Whether too many bytes are unacknowledged by the client. Its socket is then closed."""
        unacknowledged_bytes = 0 if self.has_acknowledged else self.size_bytes - self.largest_bytes
        return self.unordered_bytes + unacknowledged_bytes > UNACKNOWLEDGED_BYTES

    def add(self, turn_id: str, seq: int, size_bytes: int) -> None:
        """Record that a frame is sent."""
        self.size_bytes += size_bytes
        self.largest_bytes = max(self.largest_bytes, size_bytes)
        self.sent.append((turn_id, seq, size_bytes))
        if not self.has_acknowledged and len(self.sent) > WINDOW_FRAMES:
            # The oldest frame is not needed: even a late first acknowledgement names one of the newest frames.
            self.sent.popleft()

    def acknowledge(self, turn_id: str, seq: int) -> None:
        """Record that the client has applied all frames up to this one. Ignore a frame that is not in `sent`."""
        self.has_acknowledged = True
        known = [position for position, (turn, number, _) in enumerate(self.sent) if (turn, number) == (turn_id, seq)]
        if not known:
            return
        for _ in range(known[-1] + 1):
            self.sent.popleft()
        self.size_bytes = sum(size_bytes for _, _, size_bytes in self.sent)
        self.unordered_bytes = 0
