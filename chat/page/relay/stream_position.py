"""The position of one page in the sequence of its conversation's frames."""

from __future__ import annotations

from dataclasses import dataclass

from chat.page.relay.frames import ExpectedPosition, NewRevision, OrderedFrame


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """The last step that a page has applied."""

    revision: int | None
    turn_id: str = ""
    seq: int = 0

    @classmethod
    def of(cls, frame: OrderedFrame) -> StreamPosition:
        """Return the position of a page that shows this frame last."""
        return cls(frame.revision, frame.turn_id, frame.seq)

    def precedes(self, frame: OrderedFrame) -> bool:
        """Return whether `frame` is the next step."""
        if isinstance(frame, NewRevision):
            return self.revision is not None and frame.revision == self.revision + 1
        return frame.turn_id == self.turn_id and frame.after == self.seq

    def is_behind(self, expected: ExpectedPosition, *, shows_end: bool) -> bool:
        """Return whether the page has not reached the position.

        `shows_end`: whether the page shows the newest messages. Otherwise it does not follow live turns.
        """
        if self.revision is None or expected.revision != self.revision:
            return self.revision is None or expected.revision > self.revision
        return shows_end and bool(expected.turn_id) and (expected.turn_id != self.turn_id or expected.seq > self.seq)

    def includes(self, frame: OrderedFrame) -> bool:
        """Return whether the page already shows the content of `frame`."""
        if self.revision is None or frame.revision > self.revision:
            return False
        return frame.revision < self.revision or (frame.turn_id == self.turn_id and frame.seq <= self.seq)
