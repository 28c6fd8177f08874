"""Markers of graphs and images in a message's text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.vocabulary.markers import Marker, MarkerSpan, join_text, split_text

markers = st.builds(Marker, st.sampled_from(["GRAPH", "IMAGE"]), st.integers(0, 10**6))
strings = st.text(max_size=20) | st.sampled_from(["\n[GRAPH:1]\n", "[IMAGE:0]", "\n", "[GRAPH:", "1]\n"])


def merge_strings(pieces: list[str | Marker]) -> list[str | Marker]:
    """Return the pieces with adjacent strings joined and empty strings removed."""
    merged: list[str | Marker] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    return merged


@settings(max_examples=500)
@given(st.lists(strings | markers, max_size=12))
def test_split_text_returns_the_pieces_that_join_text_joined(pieces: list[str | Marker]) -> None:
    text, spans = join_text(pieces)
    assert split_text(text, spans) == merge_strings(pieces)
    assert join_text(split_text(text, spans)) == (text, spans)


def test_graph_marker_is_on_its_own_line() -> None:
    graph = Marker("GRAPH", 2)
    assert join_text(["Here:", graph, "done"]) == ("Here:\n[GRAPH:2]\ndone", [MarkerSpan(5, 16, graph)])


def test_typed_text_that_looks_like_a_marker_stays_text() -> None:
    typed_text, graph = "\n[GRAPH:0]\n", Marker("GRAPH", 0)
    text, spans = join_text([typed_text, graph, typed_text])
    assert text == typed_text * 3
    assert split_text(text, spans) == [typed_text, graph, typed_text]


@pytest.mark.parametrize(("start", "end"), [(0, 11), (1, 12), (6, 16), (5, 17), (50, 61)])
def test_marker_span_that_does_not_match_the_marker_in_the_text_raises_an_error(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="GRAPH:2"):
        split_text("Here:\n[GRAPH:2]\ndone", [MarkerSpan(start, end, Marker("GRAPH", 2))])


def test_marker_spans_in_wrong_order_raise_an_error() -> None:
    text, spans = join_text([Marker("GRAPH", 0), "x", Marker("GRAPH", 0)])
    with pytest.raises(ValueError, match="GRAPH:0"):
        split_text(text, spans[::-1])
