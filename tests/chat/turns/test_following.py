"""Places, windows and paces of readers."""

from __future__ import annotations

from chat.turns.broadcast import Frame
from chat.turns.following import (
    ACTIONS_AT_ONCE,
    UNACKNOWLEDGED_BYTES,
    WINDOW_BYTES,
    WINDOW_FRAMES,
    Pace,
    Place,
    Window,
)


def frame(revision: int, turn_id: str, after: int, seq: int) -> Frame:
    return Frame("c", revision, turn_id, after, seq, "text")


def test_place_follows_only_the_very_next_step() -> None:
    place = Place(3, "t", 5)
    assert place.follows(frame(3, "t", 5, 6))
    assert place.follows(frame(4, "t", 5, 7))
    assert not place.follows(frame(3, "t", 6, 7))
    assert not place.follows(frame(3, "u", 5, 6))
    assert place.follows(frame(4, "u", -1, 0))
    assert not place.follows(frame(5, "u", -1, 0))
    assert not Place(None).follows(frame(1, "u", -1, 0))


def test_place_knows_what_it_has_seen() -> None:
    place = Place(3, "t", 5)
    assert place.has_seen(frame(3, "t", 4, 5))
    assert place.has_seen(frame(2, "s", 1, 9))
    assert not place.has_seen(frame(3, "t", 5, 6))
    assert not place.has_seen(frame(4, "t", 4, 5))


def test_window_fills_and_empties_up_to_what_was_acknowledged() -> None:
    window = Window()
    for seq in range(WINDOW_FRAMES):
        window.add("t", seq, 10)
    assert not window.is_full, "a client that never acknowledges is not waited for"
    window.acknowledge("t", 0)
    assert len(window.sent) == WINDOW_FRAMES - 1
    window.add("t", WINDOW_FRAMES, 10)
    assert window.is_full
    window.acknowledge("t", 999)
    assert window.is_full, "an acknowledgement of what was never sent frees nothing"
    window.acknowledge("t", WINDOW_FRAMES // 2)
    assert not window.is_full
    assert window.size_bytes == 10 * len(window.sent)


def test_window_knows_the_newest_frames_of_a_client_that_acknowledges_late() -> None:
    window = Window()
    for seq in range(3 * WINDOW_FRAMES):
        window.add("t", seq, 10)
    window.acknowledge("t", 3 * WINDOW_FRAMES - 2)
    assert not window.is_full
    assert list(window.sent) == [("t", 3 * WINDOW_FRAMES - 1, 10)]


def test_window_waits_for_no_acknowledgement_that_cannot_come() -> None:
    window = Window()
    window.add("t", 0, 10)
    window.acknowledge("t", 0)
    window.beside_bytes += 2 * WINDOW_BYTES
    assert not window.is_full, "what is beside the transcript is never acknowledged by itself"


def test_window_ends_also_where_only_what_is_beside_the_transcript_is_ignored() -> None:
    window = Window()
    window.add("t", 0, 10)
    window.acknowledge("t", 99)
    window.beside_bytes = UNACKNOWLEDGED_BYTES + 1
    window.acknowledge("t", 99)
    assert window.is_ignored, "an acknowledgement of what was never sent frees nothing"
    window.acknowledge("t", 0)
    assert not window.is_ignored


def test_window_of_a_client_that_ignores_it_ends() -> None:
    window = Window()
    window.add("t", 1, 17 * 1024 * 1024)
    assert not window.is_ignored, "one message may have any size: a page acknowledges it when it is shown"
    window.add("t", 2, 17 * 1024 * 1024)
    assert window.is_ignored


def test_pace_lets_a_burst_through_and_then_refuses() -> None:
    pace = Pace()
    answers = [pace.allows() for _ in range(int(ACTIONS_AT_ONCE) * 3)]
    assert all(answers[: int(ACTIONS_AT_ONCE)])
    assert not answers[-1]
    assert pace.refused
    pace.at_s -= 1
    assert pace.allows()
