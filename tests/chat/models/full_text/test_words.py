"""Text is split into words, in many scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.models.full_text.words import INDEXED_CHARS, extract_index_words, extract_words


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
        ("قَوَاعِدَ مُحَمَّد، الإدارة أُحِبُّ آمَن ٱلكتـاب", "قواعد محمد الاداره احب امن الكتاب"),
        ("مدرسة علی کتاب می‌خواهم ۱۲٣", "مدرسه علي كتاب مي خواهم 123"),
        ("שָׁלוֹם עוֹלָם", "שלום עולם"),
        ("काल और कील।", "काल और कील"),
        ("đường Łódź Øresund Ærø", "duong lodz oresund aero"),
        ("ışık ISIK İstanbul ΣΊΣΥΦΟΣ σίσυφος", "isik isik istanbul σισυφοσ σισυφοσ"),
        ("🎉 party 👍🏽❤️", "🎉 party 👍 ❤"),
        ("क़लम क\u093cलम ज़रा हँस", "कलम कलम जरा हंस"),
        ("२०२४ ٢٠٢٤ ２０２４ ๒๐๒๔", "2024 2024 2024 2024"),
        ("അവൻ അവന്\u200d ന്റ ൻ്റ", "അവന് അവന് ന്റ ന്റ"),
        ("น้ำ น\u0e4d\u0e49\u0e32 นำ้", "น ํ ้ า น ํ ้ า น ํ ้ า"),
        ("װאָס וואָס", "וואס וואס"),
        ("🇺🇦🇩🇪 👨‍👩‍👧", "🇺🇦 🇩🇪 👨‍👩‍👧"),
        ("क्\u200dष \u200ca", "क्ष a"),
        ("x" * 501 + " y", "y"),
    ],
)
def test_text_is_split_into_words(text: str, expected: str) -> None:
    assert extract_words(text) == expected


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("How do templates work in C++?", "c+ c++"),
        ("(C#), .NET; **F#**", "c# .net *f **f f# f#* f#**"),
        ("in /etc/nginx.conf.", "/etc etc/ /nginx nginx. .conf"),
        ("10–20 °C, 5€!", "10- -20 °c 5€"),
        ("用C++画", "c+ +画 c++ ++画"),
        ('A sentence: "with" (brackets), and an end... Really?!', ""),
        ("a -> b && c # d", ""),
        ("${HOME} and $(PWD)", "$home $pwd"),
        ("می‌خواهم", "ميخواهم"),
    ],
)
def test_words_are_also_indexed_with_adjoining_signs_such_as_plus_signs(text: str, signed: str) -> None:
    words = extract_words(text)
    assert extract_index_words(text).removeprefix(words).split() == signed.split()


@given(st.text())
def test_extracting_words_from_extracted_words_changes_nothing(text: str) -> None:
    once = extract_words(text)
    assert extract_words(once) == once


def test_only_the_beginning_of_a_long_text_is_indexed() -> None:
    assert "end" not in extract_words("a " * INDEXED_CHARS + "end")
    # NFKC expands this character to eighteen characters.
    assert len(extract_words("\ufdfa" * INDEXED_CHARS)) <= 2 * INDEXED_CHARS
