"""Markers of graphs and images in a message's text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from chat.vocabulary.markers import Marker, MarkerSpan, join_text

markers = st.builds(Marker, st.sampled_from(["GRAPH", "IMAGE"]), st.integers(0, 10**6))
strings = st.text(max_size=20) | st.sampled_from(["\n[GRAPH:1]\n", "[IMAGE:0]", "\n", "[GRAPH:", "1]\n"])


@settings(max_examples=500)
@given(st.lists(strings | markers, max_size=12))
def test_spans_cover_the_markers_in_order_and_the_rest_is_the_text_of_the_pieces(pieces: list[str | Marker]) -> None:
    text, spans = join_text(pieces)
    assert [span.marker for span in spans] == [piece for piece in pieces if isinstance(piece, Marker)]
    assert all(text[span.start : span.end] == str(span.marker) for span in spans)
    edges = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
    strings_between = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    assert "".join(strings_between) == "".join(piece for piece in pieces if isinstance(piece, str))


def test_graph_marker_is_on_its_own_line() -> None:
    graph = Marker("GRAPH", 2)
    assert join_text(["Here:", graph, "done"]) == ("Here:\n[GRAPH:2]\ndone", [MarkerSpan(5, 16, graph)])


def test_typed_text_that_looks_like_a_marker_stays_text() -> None:
    typed_text, graph = "\n[GRAPH:0]\n", Marker("GRAPH", 0)
    text, spans = join_text([typed_text, graph, typed_text])
    assert text == typed_text * 3
    assert spans == [MarkerSpan(len(typed_text), 2 * len(typed_text), graph)]
