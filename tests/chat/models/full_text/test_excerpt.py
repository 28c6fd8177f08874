"""Matches are marked in titles and excerpts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.models.full_text.excerpt import BEFORE_CHARS, EXCERPT_CHARS, Piece, build_excerpt, mark_matches
from chat.models.full_text.query import parse


def render(pieces: tuple[Piece, ...]) -> str:
    """Return the text with brackets around the matches."""
    return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Plot the data", "data", "Plot the [data]"),
        ("Die Größe, die GRÖSSEN", "grösse", "Die [Größe], die [GRÖSSE]N"),
        ("Gro\u0308ße gro", "grosse", "[Gro\u0308ße] gro"),
        ("a red  line, a red\nline", '"red line"', "a [red  line], a [red\nline]"),
        ("reddish red", '"red"', "reddish [red]"),
        ("colored red", "red", "colored [red]"),
        ("画一个图表给我", "图表", "画一个[图表]给我"),
        ("用Python画", "python", "用[Python]画"),
        ("numpy.random", '"numpy random"', "[numpy.random]"),
        ("numpy random, numpy.random", "numpy.random", "numpy random, [numpy.random]"),
        ("c, C# and C++17", "c++", "c, C# and [C++]17"),
        ("etc, /etc/nginx.conf", "/etc/ng", "etc, [/etc/ng]inx.conf"),
        ("Answer 129, Answer 12", "12.", "Answer 129, Answer [12]"),
        ("قَوَاعِدَ مُحَمَّد", "قواعد", "[قَوَاعِدَ] مُحَمَّد"),
        ("שָׁלוֹם עוֹלָם", "שלום", "[שָׁלוֹם] עוֹלָם"),
        ("काल और कील", "कील", "काल और [कील]"),
        ("đường", "duong", "[đường]"),
        ("so 👍🏽!", "👍", "so [👍🏽]!"),
        ("🇺🇦🇩🇪 🇦🇩", "🇦🇩", "🇺🇦🇩🇪 [🇦🇩]"),
        ("👨‍👩‍👧 👩", "👩", "👨‍👩‍👧 [👩]"),
        ("HOME=${HOME}", "${HOME}", "HOME=[${HOME]}"),
        ("من میخواهم", "می‌خواهم", "من [میخواهم]"),
        ("من می‌خواهم", "میخواهم", "من [می‌خواهم]"),
        ("น้ำ", "น\u0e4d\u0e49\u0e32", "[น้ำ]"),
        ("か\u3099 अवन्", "が", "[か\u3099] अवन्"),
        ("<b>bold</b>", "b", "<[b]>[b]old</[b]>"),
        ("nothing here", "else", "nothing here"),
    ],
)
def test_matches_of_a_search_are_marked_in_a_text(text: str, query: str, expected: str) -> None:
    assert render(mark_matches(text, parse(query))) == expected


def test_excerpt_is_one_line_around_the_first_match() -> None:
    text = "one two three\n" * 50 + "the needle \n[GRAPH:0]\n lies here " + "four " * 100
    line = render(build_excerpt(text, parse("needle")))
    assert line.startswith("…")
    assert line.endswith("…")
    assert "the [needle] lies here four" in line
    assert "\n" not in line
    assert len(line) <= EXCERPT_CHARS + 4
    assert line.index("[") <= BEFORE_CHARS + 1


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("## Head\n\n- **Bold** and [a link](https://a.example)\n", "bold", "Head [Bold] and a link"),
        ("[a link](https://a.example)", "example", "[a link](https://a.[example])"),
        ("| a | b |\n|---|---|\n| needle | 2 |", "needle", "a b [needle] 2"),
        ("Use `a_b`, $x^2$<br>and **C++** &amp; 1 < 2", "c++", "Use a_b, x^2 and [C++] & 1 < 2"),
        (r"It is $x \le \frac{a+1}{2}\;\vee\; \text{any } \{y_{1}\}$.", "it", "[It] is x ≤ (a+1)/2 ∨ any {y_1}."),
        (
            "word " * 400 + "\n```c\n#include <a>\n" + "// line\n" * 200 + "*p = needle;\n```",
            "needle",
            "*p = [needle];",
        ),
    ],
)
def test_excerpt_is_plain_text_without_markdown(text: str, query: str, expected: str) -> None:
    assert render(build_excerpt(text, parse(query))).endswith(expected)


def test_excerpt_shows_the_best_match() -> None:
    filling = "filling " * 40
    text = f"Answer 129 {filling} Reply, answers 12 {filling} Answer 12. {filling}"
    assert "[Answer] [12]. filling" in render(build_excerpt(text, parse("answer 12")))
    assert "[answers] [12] filling" in render(build_excerpt(text, parse("12 answers")))


@pytest.mark.parametrize(("has_tags", "expected"), [(True, "a [bold] word"), (False, "a <b>[bold]</b> word")])
def test_excerpt_keeps_tags_that_a_person_typed(has_tags: bool, expected: str) -> None:
    assert render(build_excerpt("a <b>bold</b> *word*", parse("bold"), has_tags=has_tags)) == expected


def test_excerpt_without_a_match_is_the_beginning_of_the_text() -> None:
    assert render(build_excerpt("word " * 100, parse("else"))).startswith("word word")


@given(st.text(), st.text())
def test_joined_pieces_of_a_marked_text_equal_the_text(text: str, query: str) -> None:
    assert "".join(piece.text for piece in mark_matches(text, parse(query))) == text
    build_excerpt(text, parse(query))


def test_only_the_first_words_of_a_match_of_a_long_phrase_are_marked() -> None:
    text = "é " + "a " * 100_000 + "b"
    pieces = build_excerpt(text, parse('"' + "a " * 95 + 'b"'))
    assert render(pieces).startswith("é [a a a a a a a a a a a a] [a ")
