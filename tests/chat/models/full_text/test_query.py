"""The text of the search box is parsed into terms, and every input is valid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.models.full_text.query import TERMS_LIMIT, Term, parse
from chat.models.full_text.words import extract_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plot sin", (Term("plot", True), Term("sin", True))),
        ('"red line" blue', (Term("red line", False), Term("blue", True))),
        ("„rote Linie“ blau", (Term("rote linie", False), Term("blau", True))),
        ('"still being ty', (Term("still being ty", True),)),
        ("numpy.random", (Term("numpy random", True, ("numpy.", ".random")),)),
        (
            "/etc/ng C++ 12.",
            (Term("etc ng", True, ("/etc", "etc/", "/ng")), Term("c", False, ("c++",)), Term("12", False)),
        ),
        ("🎉 👍🏽", (Term("🎉", False), Term("👍", False))),
        ("机器学习 图表", (Term("机 器 学 习", True), Term("图 表", True))),
        ("می‌خواهم", (Term("مي خواهم", True, (), ("ميخواهم",)),)),
        ("کتاب ها", (Term("كتاب", True), Term("ها", True, (), ("كتابها",)))),
        ("میزها", (Term("ميزها", True, (), ("مي زها", "ميز ها")),)),
        ("half \ud800\x00 pair", (Term("half", True), Term("pair", True))),
        ("same Same SAME", (Term("same", True),)),
        ('a"b c"d', (Term("a", True), Term("b c", False), Term("d", True))),
        ('"" !? [GRAPH:0]', ()),
        ("", ()),
    ],
)
def test_query_is_parsed_into_terms(text: str, expected: tuple[Term, ...]) -> None:
    assert parse(text) == expected


@given(st.text() | st.text(alphabet="ab \"*^:()-+'图“”«\\"))
def test_any_query_gives_a_limited_number_of_valid_terms(text: str) -> None:
    terms = parse(text)
    assert len(terms) <= TERMS_LIMIT
    assert all(term.words and extract_words(term.words) == term.words for term in terms)
