"""Windows of a transcript: in whatever order a reader loads them, they join without a gap or a repetition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.transcript import window
from chat.page.transcript.window import PAGE_MESSAGES, SNAPSHOT_MESSAGES, Window

COUNTS = st.integers(0, 2_000)


def indexes(held: Window, count: int) -> list[int]:
    return list(range(held.first, count if held.last is None else held.last))


@given(COUNTS)
def test_newest_window_and_all_earlier_windows_contain_each_message_once(count: int) -> None:
    held = window.newest(count)
    read = indexes(held, count)
    while held.first:
        more = held.earlier()
        assert 0 < len(indexes(more, count)) <= PAGE_MESSAGES
        read, held = indexes(more, count) + read, held.extended("earlier")
        assert held == Window(more.first, None)
    assert read == list(range(count))


@given(COUNTS.flatmap(lambda count: st.tuples(st.just(count), st.integers(0, max(0, count - 1)))))
def test_window_around_a_message_and_all_later_windows_contain_each_message_once(place: tuple[int, int]) -> None:
    count, index = place
    held = window.around(index, count)
    read = indexes(held, count)
    assert count == 0 or index in read
    while not held.is_at_end:
        more = held.later(count)
        if more.is_at_end:
            # The page then gets a snapshot of the whole window.
            held = window.fit(held.extended("later"), count)
            read = indexes(held, count)
        else:
            assert more.first == held.last
            held, read = held.extended("later"), read + indexes(more, count)
    assert read == list(range(held.first, count))


@given(COUNTS)
def test_links_of_a_page_without_scripts_lead_to_every_message_and_back_to_the_end(count: int) -> None:
    held = window.newest(count)
    seen = set(indexes(held, count))
    while held.first:
        held = window.before(held.first, count)
        assert len(indexes(held, count)) == PAGE_MESSAGES
        seen |= set(indexes(held, count))
    assert seen == set(range(count))
    while held.last is not None:
        assert held.last - 1 in indexes(held, count)
        held = window.after(held.last - 1, count)
    assert held == window.newest(count)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=40), st.integers(0, 50), st.none() | st.integers(0, 90))
def test_message_range_is_shortened_around_the_readers_message_to_the_size_limit(
    sizes: list[int], first: int, near: int | None
) -> None:
    stop = first + len(sizes)
    held = window.within(Window(first), sizes, 1_000, near)
    shown = indexes(held, stop)
    total = sum(sizes[index - first] for index in shown)
    assert (stop - 1 if near is None else min(max(near, first), stop - 1)) in shown
    assert total <= 1_000 or len(shown) == 1
    for neighbour in (shown[0] - 1, shown[-1] + 1):
        assert neighbour not in range(first, stop) or total + sizes[neighbour - first] > 1_000
    assert held.is_at_end == (shown[-1] == stop - 1)


@given(COUNTS, COUNTS, st.none() | COUNTS, st.none() | COUNTS)
def test_snapshot_window_has_a_maximum_size_and_includes_the_newest_messages_at_the_end(
    count: int, first: int, length: int | None, reader_at: int | None
) -> None:
    held = Window(first, None if length is None else first + length)
    fitted = window.fit(held, count, reader_at)
    shown = indexes(fitted, count)
    assert len(shown) <= SNAPSHOT_MESSAGES
    assert set(shown) <= set(range(count))
    if fitted.is_at_end:
        assert shown[-PAGE_MESSAGES:] == list(range(max(0, count - PAGE_MESSAGES), count))
    if reader_at is not None and reader_at in indexes(held, count) and reader_at < count:
        assert reader_at in shown


@pytest.mark.parametrize(
    ("held", "count", "reader_at", "expected"),
    [
        (Window(970), 1000, None, Window(970)),
        (Window(400), 1000, None, Window(970)),
        (Window(400), 1000, 420, Window(400, 480)),
        (Window(400), 1000, 995, Window(965)),
        (Window(970), 5000, 980, Window(970, 1040)),
        (Window(970), 20, None, Window(0)),
        (Window(10, 40), 1000, None, Window(10, 40)),
        (Window(10, 40), 25, None, Window(0)),
        (Window(0, 600), 1000, None, Window(570, 600)),
    ],
)
def test_window_of_a_snapshot_is_chosen_from_the_window_of_the_page_and_the_readers_position(
    held: Window, count: int, reader_at: int | None, expected: Window
) -> None:
    assert window.fit(held, count, reader_at) == expected


def test_window_is_cut_if_all_its_messages_are_replaced_unless_it_begins_at_the_first_message() -> None:
    assert [Window(30).is_cut_at(index) for index in (29, 30, 31, None)] == [True, True, False, False]
    assert not Window(0).is_cut_at(0)
