"""Colours for code."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering.highlight import CLASSES, HIGHLIGHT_LIMIT_CHARS, LANGUAGES, highlight_code, language_of

CODE = "\ufeffdef f(x):\r\n\treturn '<b>&amp;' + \"q\"  # é😀\r\n\n\nclass A: pass\n  "


def text_of(html: str) -> str:
    return unescape(re.sub(r"</?span[^>]*>", "", html))


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_text_of_coloured_code_is_the_code(language: str) -> None:
    assert text_of(highlight_code(CODE, language)) == CODE


@settings(max_examples=300)
@given(st.text(max_size=200), st.sampled_from(["python", "json", "bash", "html", "sql"]))
def test_any_code_keeps_its_text_and_gets_only_our_spans(code: str, language: str) -> None:
    html = highlight_code(code, language)
    assert text_of(html) == code
    for tag in re.findall(r"<[^>]*>", html):
        match = re.fullmatch(r'</span>|<span class="(\w+)">', tag)
        assert match
        assert match[1] is None or match[1] in CLASSES


def test_python_is_coloured() -> None:
    assert highlight_code("def f(): pass", "PYTHON") == (
        '<span class="k">def</span> <span class="nf">f</span>(): <span class="k">pass</span>'
    )


@pytest.mark.parametrize("language", ["", "nonsense", "<b>", "python\x00", "text", "brainfuck"])
def test_code_in_an_unknown_language_is_only_escaped(language: str) -> None:
    assert highlight_code("def <b>", language) == "def &lt;b&gt;"


@pytest.mark.parametrize(
    ("info", "language"),
    [("PYTHON", "python"), ("py {.line}", "python"), ("python:main.py", "python"), ("{python}", ""), ("C++", "cpp")],
)
def test_language_is_the_first_word_of_the_info_string(info: str, language: str) -> None:
    assert language_of(info) == language


@pytest.mark.parametrize(
    "code",
    [
        "x = 1\n" * (HIGHLIGHT_LIMIT_CHARS // 6 + 1),
        "x = " + "1 + " * 300,
        "x = 1\n" + "\n" * 300,
        "x = 1\n" + "/*\n" * 300,
    ],
)
def test_code_that_would_be_slow_to_colour_stays_plain(code: str) -> None:
    assert highlight_code(code, "python") == code


def test_language_read_by_another_lexer_keeps_its_name() -> None:
    assert language_of("java") == "java"
    assert '<span class="kd">class</span>' in highlight_code("public class A {}", "java")
