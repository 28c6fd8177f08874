"""The position of a page: which frame is the next step, and which frames it shows already."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chat.page.relay.frames import (
    Announcement,
    ExpectedPosition,
    Frame,
    NewRevision,
    Step,
    UnorderedUpdate,
    frame_from_json,
    frame_to_json,
)
from chat.page.relay.stream_position import StreamPosition

POSITION = StreamPosition(3, "turn", 5)


def step(revision: int, turn_id: str, after: int, seq: int) -> Step:
    """Return a step with these numbers."""
    return Step(conversation_id="conversation", revision=revision, turn_id=turn_id, after=after, seq=seq, text="text")


def opening(revision: int) -> NewRevision:
    """Return the first frame of another turn."""
    return NewRevision(conversation_id="conversation", revision=revision, text="text", turn_id="another")


def test_position_accepts_only_the_next_step_of_the_same_turn() -> None:
    assert POSITION.precedes(step(3, "turn", 5, 6))
    # The end of a turn brings the next revision.
    assert POSITION.precedes(step(4, "turn", 5, 7))
    assert not POSITION.precedes(step(3, "turn", 6, 7))
    assert not POSITION.precedes(step(3, "another", 5, 6))


def test_frame_that_opens_a_revision_is_next_only_after_the_revision_before() -> None:
    assert POSITION.precedes(opening(4))
    assert not POSITION.precedes(opening(5))
    assert not StreamPosition(None).precedes(opening(1))


def test_first_step_of_a_turn_is_next_after_the_frame_that_opens_the_turns_revision() -> None:
    assert StreamPosition.of(opening(4)).precedes(step(4, "another", 0, 1))


def test_frames_up_to_the_position_of_a_page_are_recognized_as_already_shown() -> None:
    assert POSITION.includes(step(3, "turn", 4, 5))
    assert POSITION.includes(step(2, "earlier", 1, 9))
    assert not POSITION.includes(step(3, "turn", 5, 6))
    assert not POSITION.includes(step(4, "turn", 4, 5))


@pytest.mark.parametrize(
    "frame",
    [
        step(3, "turn", 5, 6),
        replace(opening(4), replaced_from=2),
        UnorderedUpdate("conversation", "text"),
        Announcement("conversation", None),
        ExpectedPosition("conversation", 3, "turn", 5),
    ],
)
def test_frame_that_is_serialized_to_json_and_read_back_is_equal(frame: Frame) -> None:
    assert frame_from_json(json.loads(json.dumps(frame_to_json(frame)))) == frame


@pytest.mark.parametrize(
    "data",
    [
        {"conversation_id": "conversation", "text": "text"},
        {"kind": "Later", "conversation_id": "conversation"},
        {"kind": "UnorderedUpdate", "conversation_id": "conversation", "text": "text", "later": 1},
    ],
)
def test_frame_from_another_version_of_plotline_is_ignored(data: dict[str, object]) -> None:
    assert frame_from_json(data) is None
