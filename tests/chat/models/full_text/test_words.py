"""Text is split into words, in many scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.models.full_text.words import INDEXED_CHARS, extract_words


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
def test_text_is_split_into_words(text: str, expected: str) -> None:
    assert extract_words(text) == expected


@given(st.text())
def test_extracting_words_twice_changes_nothing(text: str) -> None:
    once = extract_words(text)
    assert extract_words(once) == once


def test_only_the_beginning_of_a_long_text_is_indexed() -> None:
    assert "end" not in extract_words("a " * INDEXED_CHARS + "end")
    # NFKC expands this character to eighteen characters.
    assert len(extract_words("\ufdfa" * INDEXED_CHARS)) <= 2 * INDEXED_CHARS
