"""What counts as a word, in many scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.search.words import SEARCHED_CHARS, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plot THIS, please!", "plot this please"),
        ("Größe über Straße", "grosse uber strasse"),
        ("Gro\u0308ße", "grosse"),
        ("naïve café résumé", "naive cafe resume"),
        ("图表 in Python3", "图 表 in python3"),
        ("用Python画图", "用 python 画 图"),
        ("がぎ 한국어 ภาษา", "が ぎ 한 국 어 ภ า ษ า"),
        ("numpy.random/x_1 a-b", "numpy random x 1 a b"),
        ("before\n[GRAPH:0]\nafter [IMAGE:12] [GRAPH:x]", "before after graph x"),
        ("ﬁne ①", "fine 1"),
        ('"*^:(){}<> \x00', ""),
    ],
)
def test_text_becomes_words(text: str, expected: str) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_of_words_are_the_same(text: str) -> None:
    once = words(text)
    assert words(once) == once


def test_only_the_beginning_of_a_very_long_text_counts() -> None:
    assert "end" not in words("a " * SEARCHED_CHARS + "end")
    # One character that stands for eighteen others.
    assert len(words("\ufdfa" * SEARCHED_CHARS)) <= 2 * SEARCHED_CHARS
