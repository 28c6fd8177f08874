"""A frame: one step of a conversation's page, sent to every socket that follows the conversation."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

NOT_PART_OF_TURN = -1
UNORDERED = -2
EXPECTED = -3


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a conversation's page."""

    conversation_id: str
    revision: int
    """The conversation's revision once this frame is applied."""
    turn_id: str
    after: int
    """The `seq` that this frame follows. `NOT_PART_OF_TURN`: it follows the last state of the previous revision."""
    seq: int
    text: str
    """The socket message. Empty: the frame only announces a revision."""
    replaced_from: int | None = None
    """Index of the first message that the frame removes with all that follow it. `None`: it removes none."""

    @classmethod
    def unordered(cls, conversation_id: uuid.UUID | str, text: str) -> Frame:
        """Return a frame that changes no page's position in the stream and may be lost, such as a new title."""
        return cls(str(conversation_id), -1, turn_id="", after=UNORDERED, seq=0, text=text)

    @property
    def is_unordered(self) -> bool:
        """Whether the frame changes no page's position in the stream."""
        return self.after == UNORDERED

    @classmethod
    def announcement(cls, conversation_id: uuid.UUID | str, revision: int) -> Frame:
        """Return a frame without content: pages at another revision read a snapshot."""
        return cls(str(conversation_id), revision, turn_id="", after=NOT_PART_OF_TURN, seq=0, text="")

    @classmethod
    def expected(cls, conversation_id: uuid.UUID | str, revision: int, turn_id: str = "", seq: int = 0) -> Frame:
        """Return a frame without content: pages that have not reached this position read a snapshot."""
        return cls(str(conversation_id), revision, turn_id, after=EXPECTED, seq=seq, text="")

    @property
    def is_expected(self) -> bool:
        """Whether pages should have reached the frame's position by now."""
        return self.after == EXPECTED

    @classmethod
    def outdated(cls, conversation_id: uuid.UUID | str) -> Frame:
        """Return a frame without content that makes every page read a snapshot."""
        return cls.announcement(conversation_id, -1)
