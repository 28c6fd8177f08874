"""Where a message's text holds markers, whatever was typed around them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from chat.messages.markers_in_text import find_markers, text_pieces
from chat.vocabulary.markers import Marker, MarkerSpan, join_text
from chat.vocabulary.parts import Part, Text, Thought

strings = st.text(max_size=8) | st.sampled_from(["\n[GRAPH:0]\n", "[IMAGE:1]", "\n"])
markers = st.builds(Marker, st.sampled_from(["GRAPH", "IMAGE"]), st.integers(0, 3))


@dataclass
class FakeAttachment:
    part_index: int | None
    marker: Marker | None


@given(st.lists(strings | markers, max_size=12))
def test_markers_are_found_at_the_positions_where_join_text_put_them(pieces: list[str | Marker]) -> None:
    text, spans = join_text(pieces)
    assert find_markers(text, pieces) == spans


def test_marker_of_a_file_that_is_missing_from_an_import_is_skipped() -> None:
    graph = Marker("GRAPH", 1)
    assert find_markers("a\n[GRAPH:0]\nb\n[GRAPH:1]\n", ["a", "b", graph]) == [MarkerSpan(13, 24, graph)]


def test_no_marker_is_found_if_the_text_does_not_contain_the_pieces() -> None:
    graph = Marker("GRAPH", 0)
    assert find_markers("\n[GRAPH:0]\n", ["another text", graph]) == []


def test_pieces_of_an_answer_are_its_texts_each_followed_by_the_images_of_its_part() -> None:
    graph = Marker("GRAPH", 0)
    parts: list[Part] = [Text("a"), Thought("no text of the answer"), Text(""), Text("b")]
    placed = [FakeAttachment(1, graph), FakeAttachment(0, None), FakeAttachment(None, Marker("GRAPH", 7))]
    assert list(text_pieces(parts, placed)) == ["a", graph, "b"]
