"""What is shown of a match."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.search.excerpt import BEFORE_CHARS, EXCERPT_CHARS, Piece, excerpt, marked
from chat.search.query import parse


def shown(pieces: tuple[Piece, ...]) -> str:
    """With brackets around what matches."""
    return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Plot the data", "data", "Plot the [data]"),
        ("Die Größe, die GRÖSSEN", "grösse", "Die [Größe], die [GRÖSSE]N"),
        ("Gro\u0308ße gro", "grosse", "[Gro\u0308ße] gro"),
        ("a red  line, a red\nline", '"red line"', "a [red  line], a [red\nline]"),
        ("reddish red", '"red"', "reddish [red]"),
        ("colored red", "red", "colored [red]"),
        ("画一个图表给我", "图表", "画一个[图表]给我"),
        ("用Python画", "python", "用[Python]画"),
        ("numpy.random", "numpy_random", "[numpy.random]"),
        ("<b>bold</b>", "b", "<[b]>[b]old</[b]>"),
        ("nothing here", "else", "nothing here"),
    ],
)
def test_what_matches_is_told_apart(text: str, question: str, expected: str) -> None:
    assert shown(marked(text, parse(question))) == expected


def test_excerpt_is_a_line_around_the_first_match() -> None:
    text = "one two three\n" * 50 + "the needle \n[GRAPH:0]\n lies here " + "four " * 100
    line = shown(excerpt(text, parse("needle")))
    assert line.startswith("…")
    assert line.endswith("…")
    assert "the [needle] lies here four" in line
    assert "\n" not in line
    assert len(line) <= EXCERPT_CHARS + 4
    assert line.index("[") <= BEFORE_CHARS + 1


def test_excerpt_begins_at_the_beginning_where_no_match_is_seen() -> None:
    assert shown(excerpt("word " * 100, parse("else"))).startswith("word word")


@given(st.text(), st.text())
def test_pieces_are_the_text(text: str, question: str) -> None:
    assert "".join(piece.text for piece in marked(text, parse(question))) == text
    excerpt(text, parse(question))


def test_long_phrase_in_a_long_text_is_looked_for_by_its_beginning() -> None:
    text = "é " + "a " * 100_000 + "b"
    began_at = time.monotonic()
    pieces = excerpt(text, parse('"' + "a " * 95 + 'b"'))
    assert time.monotonic() - began_at < 1
    assert shown(pieces).startswith("é [a a a a a a a a a a a a] [a ")
