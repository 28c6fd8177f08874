"""Syntax highlighting of code."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering.highlight import HIGHLIGHT_LIMIT_CHARS, LANGUAGES, TOKEN_CLASSES, find_language, highlight_code

CODE = "\ufeffdef f(x):\r\n\treturn '<b>&amp;' + \"q\"  # é😀\r\n\n\nclass A: pass\n  "


def text_content(html: str) -> str:
    return unescape(re.sub(r"</?span[^>]*>", "", html))


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_text_content_of_highlighted_code_equals_the_code(language: str) -> None:
    assert text_content(highlight_code(CODE, language)) == CODE


@settings(max_examples=300)
@given(st.text(max_size=200), st.sampled_from(["python", "json", "bash", "html", "sql"]))
def test_highlighting_adds_only_spans_with_known_classes(code: str, language: str) -> None:
    html = highlight_code(code, language)
    assert text_content(html) == code
    for tag in re.findall(r"<[^>]*>", html):
        match = re.fullmatch(r'</span>|<span class="(\w+)">', tag)
        assert match
        assert match[1] is None or match[1] in TOKEN_CLASSES


def test_python_is_highlighted() -> None:
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
    assert find_language(info) == language


@pytest.mark.parametrize(
    "code",
    [
        "x = 1\n" * (HIGHLIGHT_LIMIT_CHARS // 6 + 1),
        "x = " + "1 + " * 300,
        "x = 1\n" + "\n" * 300,
        "x = 1\n" + "/*\n" * 300,
    ],
)
def test_code_that_is_slow_to_highlight_is_not_highlighted(code: str) -> None:
    assert highlight_code(code, "python") == code


def test_language_that_another_lexer_highlights_keeps_its_name() -> None:
    assert find_language("java") == "java"
    assert '<span class="kd">class</span>' in highlight_code("public class A {}", "java")
