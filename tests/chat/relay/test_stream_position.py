"""How far a page has come: which frame is the next step, and which it shows already."""

from __future__ import annotations

from chat.relay.frames import Frame
from chat.relay.stream_position import StreamPosition

POSITION = StreamPosition(3, "turn", 5)


def frame(revision: int, turn_id: str, after: int, seq: int) -> Frame:
    """Return a frame of these numbers."""
    return Frame("conversation", revision, turn_id, after, seq, "text")


def test_only_the_very_next_step_is_next() -> None:
    assert POSITION.precedes(frame(3, "turn", 5, 6))
    # The end of a turn brings the next revision.
    assert POSITION.precedes(frame(4, "turn", 5, 7))
    assert not POSITION.precedes(frame(3, "turn", 6, 7))
    assert not POSITION.precedes(frame(3, "another", 5, 6))


def test_first_frame_of_a_turn_follows_the_revision_before() -> None:
    assert POSITION.precedes(frame(4, "another", -1, 0))
    assert not POSITION.precedes(frame(5, "another", -1, 0))
    assert not StreamPosition(None).precedes(frame(1, "another", -1, 0))


def test_frame_that_the_page_shows_already_is_included() -> None:
    assert POSITION.includes(frame(3, "turn", 4, 5))
    assert POSITION.includes(frame(2, "earlier", 1, 9))
    assert not POSITION.includes(frame(3, "turn", 5, 6))
    assert not POSITION.includes(frame(4, "turn", 4, 5))
