"""What is typed into the box becomes terms; nothing is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.search.query import TERMS_LIMIT, Term, parse
from chat.search.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plot sin", (Term("plot", True), Term("sin", True))),
        ('"red line" blue', (Term("red line", False), Term("blue", True))),
        ("„rote Linie“ blau", (Term("rote linie", False), Term("blau", True))),
        ('"still being ty', (Term("still being ty", True),)),
        ("numpy.random", (Term("numpy random", True),)),
        ("机器学习 图表", (Term("机 器 学 习", True), Term("图 表", True))),
        ("half \ud800\x00 pair", (Term("half", True), Term("pair", True))),
        ("same Same SAME", (Term("same", True),)),
        ('a"b c"d', (Term("a", True), Term("b c", False), Term("d", True))),
        ('"" !? [GRAPH:0]', ()),
        ("", ()),
    ],
)
def test_typed_text_becomes_terms(text: str, expected: tuple[Term, ...]) -> None:
    assert parse(text) == expected


@given(st.text() | st.text(alphabet="ab \"*^:()-+'图“”«\\"))
def test_any_text_gives_terms_that_are_words(text: str) -> None:
    terms = parse(text)
    assert len(terms) <= TERMS_LIMIT
    assert all(term.words and words(term.words) == term.words for term in terms)
