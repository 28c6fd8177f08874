"""The frames that were sent to one client and are not acknowledged yet."""

from __future__ import annotations

from chat.page.relay.send_window import UNACKNOWLEDGED_BYTES, WINDOW_BYTES, WINDOW_FRAMES, SendWindow


def test_send_window_is_full_after_unacknowledged_frames_and_emptied_by_acknowledgements() -> None:
    window = SendWindow()
    for seq in range(WINDOW_FRAMES):
        window.add("t", seq, 10)
    assert not window.is_full, "the server does not wait for a client that never acknowledges"
    window.acknowledge("t", 0)
    assert len(window.sent) == WINDOW_FRAMES - 1
    window.add("t", WINDOW_FRAMES, 10)
    assert window.is_full
    window.acknowledge("t", 999)
    assert window.is_full, "an acknowledgement of a frame that was never sent is ignored"
    window.acknowledge("t", WINDOW_FRAMES // 2)
    assert not window.is_full
    assert window.size_bytes == 10 * len(window.sent)


def test_send_window_accepts_a_first_acknowledgement_of_a_much_later_frame() -> None:
    window = SendWindow()
    for seq in range(3 * WINDOW_FRAMES):
        window.add("t", seq, 10)
    window.acknowledge("t", 3 * WINDOW_FRAMES - 2)
    assert not window.is_full
    assert list(window.sent) == [("t", 3 * WINDOW_FRAMES - 1, 10)]


def test_unordered_messages_do_not_fill_the_send_window() -> None:
    window = SendWindow()
    window.add("t", 0, 10)
    window.acknowledge("t", 0)
    window.unordered_bytes += 2 * WINDOW_BYTES
    assert not window.is_full, "unordered messages are never acknowledged by themselves"


def test_client_is_stalled_if_it_acknowledges_nothing_after_too_many_unordered_bytes() -> None:
    window = SendWindow()
    window.add("t", 0, 10)
    window.acknowledge("t", 99)
    window.unordered_bytes = UNACKNOWLEDGED_BYTES + 1
    window.acknowledge("t", 99)
    assert window.is_client_stalled, "an acknowledgement of a frame that was never sent is ignored"
    window.acknowledge("t", 0)
    assert not window.is_client_stalled


def test_client_is_stalled_by_two_large_unacknowledged_messages_but_not_by_one() -> None:
    window = SendWindow()
    window.add("t", 1, 17 * 1024 * 1024)
    assert not window.is_client_stalled, "a page acknowledges a large message only when it has shown it"
    window.add("t", 2, 17 * 1024 * 1024)
    assert window.is_client_stalled
