"""Markers of graphs and images in a message's text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering.markers import Marker, MarkerSpan, join_text, split_text

markers = st.builds(Marker, st.sampled_from(["GRAPH", "IMAGE"]), st.integers(0, 10**6))
strings = st.text(max_size=20) | st.sampled_from(["\n[GRAPH:1]\n", "[IMAGE:0]", "\n", "[GRAPH:", "1]\n"])


def plain(pieces: list[str | Marker]) -> list[str | Marker]:
    """Neighbouring strings joined, empty ones left out."""
    joined: list[str | Marker] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return joined


@settings(max_examples=500)
@given(st.lists(strings | markers, max_size=12))
def test_text_comes_apart_as_it_was_joined(pieces: list[str | Marker]) -> None:
    text, spans = join_text(pieces)
    assert split_text(text, spans) == plain(pieces)
    assert join_text(split_text(text, spans)) == (text, spans)


def test_graph_stands_on_a_line_of_its_own() -> None:
    graph = Marker("GRAPH", 2)
    assert join_text(["Here:", graph, "done"]) == ("Here:\n[GRAPH:2]\ndone", [MarkerSpan(5, 16, graph)])


def test_marker_that_someone_typed_stays_text() -> None:
    typed, graph = "\n[GRAPH:0]\n", Marker("GRAPH", 0)
    text, spans = join_text([typed, graph, typed])
    assert text == typed * 3
    assert split_text(text, spans) == [typed, graph, typed]


@pytest.mark.parametrize(("start", "end"), [(0, 11), (1, 12), (6, 16), (5, 17), (50, 61)])
def test_span_that_is_not_on_its_marker_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="GRAPH:2"):
        split_text("Here:\n[GRAPH:2]\ndone", [MarkerSpan(start, end, Marker("GRAPH", 2))])


def test_spans_out_of_order_are_refused() -> None:
    text, spans = join_text([Marker("GRAPH", 0), "x", Marker("GRAPH", 0)])
    with pytest.raises(ValueError, match="GRAPH:0"):
        split_text(text, spans[::-1])
