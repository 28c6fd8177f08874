"""Server-sent events are read the same however the network divides them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.sse import EVENT_LIMIT_BYTES, EventParser, JSONEvent

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)


def read(body: bytes, piece: int | None = None) -> list[JSONEvent]:
    parser = EventParser()
    size = piece or len(body) or 1
    events = [event for start in range(0, len(body), size) for event in parser.feed(body[start : start + size])]
    return [*events, *parser.close()]


@given(values=st.lists(OBJECTS, max_size=5), line_end=st.sampled_from(["\n", "\r\n", "\r"]), piece=st.integers(1, 40))
def test_events_are_the_same_whatever_the_size_of_network_pieces_is(
    values: list[object], line_end: str, piece: int
) -> None:
    lines = [line for value in values for line in (": ping", f"data: {json.dumps(value, ensure_ascii=False)}", "")]
    body = "".join(line + line_end for line in lines).encode()
    assert [event.data for event in read(body, piece)] == values


@pytest.mark.parametrize(
    ("body", "events"),
    [
        ('data: {"a":\ndata: 1}\n\n', [JSONEvent("", {"a": 1})]),
        ('data:{"a": 1}\n\n', [JSONEvent("", {"a": 1})]),
        ('\ufeffdata: {"a": 1}\n\n', [JSONEvent("", {"a": 1})]),
        ('data: {"a": "\u2028"}\n\n', [JSONEvent("", {"a": "\u2028"})]),
        ('id: 1\nretry: 5\n: a comment\ndata: {"a": 1}\n\n', [JSONEvent("", {"a": 1})]),
        ('event: error\ndata: {"a": 1}\n\n', [JSONEvent("error", {"a": 1})]),
        ('error: {"a": 1}\n\n', [JSONEvent("error", {"a": 1})]),
        ('data: {"a": 1}\ndata: {"b": 2}\n\n', [JSONEvent("", {"a": 1}), JSONEvent("", {"b": 2})]),
        ('data: {"a": 1}', [JSONEvent("", {"a": 1})]),
        ("data: [DONE]\n\n", [JSONEvent("", None, is_done=True)]),
        ("data:\n\n", []),
        ("", []),
    ],
    ids=repr,
)
def test_unusual_but_readable_forms_of_events_are_read(body: str, events: list[JSONEvent]) -> None:
    assert read(body.encode()) == events
    assert read(body.encode(), 1) == events


def test_error_about_invalid_json_has_length_and_position_and_quotes_no_data() -> None:
    with pytest.raises(ValueError, match="an event of 18 characters is not JSON") as caught:
        read(b'data: {"a": private text\n\n')
    assert "char 6" in str(caught.value)
    assert "private" not in str(caught.value)


def test_event_that_is_longer_than_the_limit_is_refused() -> None:
    parser = EventParser()
    piece = b"a" * (EVENT_LIMIT_BYTES // 2)
    list(parser.feed(b"data: " + piece))
    with pytest.raises(ValueError, match="longer than"):
        list(parser.feed(piece))
