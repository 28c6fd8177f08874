"""The Markdown export, read by a parser of CommonMark that is not the one it was made with."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chat.exports.commonmark import fenced, plain, tame, unplain
from chat.parts import PartKind
from tests.chat.exports.building import exported_bytes, rich_conversation
from tests.factories import make_conversation, make_model_message

PARSER = MarkdownIt("commonmark", {"html": True})


def html_of(text: str) -> str:
    return str(PARSER.render(text))


def text_of(html: str) -> str:
    for escaped, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        html = html.replace(escaped, character)
    return html


@pytest.mark.django_db
def test_conversation_reads_as_it_was_meant() -> None:
    html = html_of(exported_bytes(rich_conversation(), "md").decode())
    assert re.findall(r"<h(\d)>(.*?)</h", html) == [
        ("1", "Sales, by month"),
        ("2", "You"),
        ("2", "Answer (plotline-demo)"),
        ("2", "You"),
        ("2", "Answer (plotline-demo)"),
    ]
    assert "Plot *this*:" in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<strong>8</strong>" in html
    assert '<img src="data:image/png;base64,iVBOR' in html
    assert "<em>You stopped this answer. What came is kept.</em>" in html
    assert '<a href="https://example.org/a?b=1">Example</a>' in html
    assert "An older answer" not in html


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text",
    [
        "```python\nx = 1",
        "Text\n\n~~~~\nopen",
        "<!-- open",
        "<script>alert(1)",
        "<pre>\nopen",
        "1. a\n   ```\n   open in a list",
        "> ```\n> open in a quote",
        "`````\n```\n",
        "<div>\n\n```\n",
    ],
)
def test_no_answer_swallows_the_next_message(text: str) -> None:
    conversation = make_conversation()
    make_model_message(conversation, parts=[(PartKind.TEXT, text)])
    make_model_message(conversation)
    html = html_of(exported_bytes(conversation, "md").decode())
    assert html.count("<h2>You</h2>") == 2
    assert html.count("<h2>Answer") == 2
    assert "<script" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "![x](https://example.org/?q=1)",
        "![x][1]\n\n[1]: https://example.org/p.png",
        "<div>\n*x*\n</div>",
        "`a` <b>c</b> ``<i>`` \\<u>",
        "    indented\n<b>x",
        "<svg/onload=alert(1)>\n\n```\n<b>\n```\n",
        "<a href='javascript:alert(1)'>x</a>",
    ],
)
def test_markup_of_a_model_is_text(text: str) -> None:
    html = html_of(tame(text))
    assert not re.search(r"<(?!/?(?:p|pre|code|em|strong|a)\b)", html), html
    assert "javascript:alert" not in "".join(re.findall(r"<[^>]*>", html))


def test_code_keeps_its_signs() -> None:
    text = "Write `<b>` or\n\n```html\n<script>x</script> ![y](z)\n```\n\nbut not <b>."
    assert "&lt;script&gt;x&lt;/script&gt; ![y](z)" in html_of(tame(text))
    assert "<code>&lt;b&gt;</code>" in html_of(tame(text))


@given(st.text(alphabet=st.sampled_from("ab1 .-+*_#<>&[]()`~\\|!=:\n\t$"), max_size=60))
def test_typed_text_reads_as_typed(text: str) -> None:
    html = html_of(plain(text))
    assert not re.search(r"<(?!/?p>|br />)", html), (text, plain(text))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    shown = [" ".join(line.split()) for line in text_of(re.sub(r"<[^>]+>", "", html)).split("\n")]
    assert [line for line in shown if line] == [line for line in lines if line]
    assert [line.rstrip() for line in unplain(plain(text)).split("\n")] == [
        line.expandtabs(4).rstrip() if not line.strip() else _expanded(line) for line in text.split("\n")
    ]


def _expanded(line: str) -> str:
    """With its leading blanks as spaces."""
    rest = line.lstrip(" \t")
    return " " * len(line[: len(line) - len(rest)].expandtabs(4)) + rest.rstrip()


@given(st.text(alphabet=st.sampled_from("`~ab\n "), max_size=40))
def test_code_cannot_leave_its_fence(code: str) -> None:
    html = html_of(f"{fenced(code)}\n\nend")
    assert html.count("<pre>") == 1
    assert html.endswith("<p>end</p>\n")


@given(st.text(alphabet=st.sampled_from("ab <>!-/`~[]()*_\\\n&;\"'="), max_size=60))
def test_nothing_gets_past(text: str) -> None:
    html = html_of(f"{tame(text)}\n\n# end")
    assert html.endswith("<h1>end</h1>\n"), (text, tame(text))
    assert "<img" not in html


@pytest.mark.parametrize(
    "text",
    [
        "```a`\n" * 40_000,
        "x\n\n" + "    ```a\n" * 27_000,
        "> ```a\n\n" * 20_000,
        "".join("`" * length + " " for length in range(1, 700)),
    ],
)
def test_code_that_nothing_closes_is_looked_for_once(text: str) -> None:
    began_at = time.monotonic()
    told = tame(f"{text}\n<b>x ![a](b)\n")
    assert time.monotonic() - began_at < 5
    assert "<b>" not in html_of(told)
    assert "<img" not in html_of(told)


def test_code_between_fences_stays_as_it_is_beside_raw_html() -> None:
    text = "a <b>\n\n```html\n<b>`\n~~~\n```\n\n- ~~~\n  <i>\n  ~~~\n\n`<u>` <s> ``` x\n"
    told = tame(text)
    assert "```html\n<b>`\n~~~\n```" in told
    assert "- ~~~\n  <i>\n  ~~~" in told
    assert told.count("&lt;") == 2
    assert "`<u>` &lt;s>" in told
