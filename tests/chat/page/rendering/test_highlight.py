"""Syntax highlighting of code."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.page.rendering.grammars import GRAMMARS, TOKEN_CLASSES
from chat.page.rendering.highlight import HIGHLIGHT_LIMIT_CHARS, LANGUAGES, find_language, highlight_code
from tests.hostile_text import parse, takes_linear_time

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
def test_language_of_code_is_the_first_word_of_the_info_string_of_its_fence(info: str, language: str) -> None:
    assert find_language(info) == language


def test_long_code_is_not_highlighted() -> None:
    code = "x = 1\n" * (HIGHLIGHT_LIMIT_CHARS // 6 + 1)
    assert highlight_code(code, "python") == code


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_highlighting_pattern_has_a_structure_that_takes_linear_time(language: str) -> None:
    for _, pattern in GRAMMARS[language].tokens:
        tree = parse(pattern)
        assert takes_linear_time(tree), pattern
        assert re.compile(pattern).groups == 0, "groups of the whole grammar are numbered by its tokens"
        assert re.compile(pattern).match("") is None, "an empty token would be found for ever"


@pytest.mark.parametrize("pattern", [r"<[^>]*+>", r"(?:a|aa)*", r"a*", r"(?:a++b)*+", r"(?:\w++ ){0,5}", r"x(?=\s*+=)"])
def test_check_of_pattern_structure_finds_patterns_that_can_be_slow(pattern: str) -> None:
    assert not takes_linear_time(parse(pattern))


@pytest.mark.parametrize(
    ("language", "code", "html"),
    [
        ("bash", 'echo "$x" # c', '<nb>echo</nb> <s>"$x"</s> <c># c</c>'),
        ("diff", "-a\n+b\n", "<gd>-a</gd>\n<gi>+b</gi>\n"),
        ("java", "class A {}", "<k>class</k> <nc>A</nc> {}"),
        ("json", '{"a": [1, null]}', '{<nt>"a"</nt>: [<m>1</m>, <kc>null</kc>]}'),
        ("make", "all: x\n", "<nf>all</nf>: x\n"),
        ("sql", "Select 'x' -- c", "<k>Select</k> <s>'x'</s> <c>-- c</c>"),
        ("yaml", "a: no # c", "<nt>a</nt>: <kc>no</kc> <c># c</c>"),
        (
            "html",
            "<style>a{b: #000}</style>let",
            "<nt>&lt;style&gt;</nt>a{<na>b</na>: <m>#000</m>}<nt>&lt;/style&gt;</nt>let",
        ),
        (
            "html",
            "<script>let a//b</script>let",
            "<nt>&lt;script&gt;</nt><k>let</k> a<c>//b</c><nt>&lt;/script&gt;</nt>let",
        ),
    ],
)
def test_tokens_of_each_programming_language_have_the_expected_classes(language: str, code: str, html: str) -> None:
    spans = re.sub(r'<span class="(\w+)">(.*?)</span>', r"<\1>\2</\1>", highlight_code(code, language))
    assert spans == html
