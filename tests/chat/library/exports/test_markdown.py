"""The Markdown export, parsed by another CommonMark parser than the one that makes it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chat.library.exports.commonmark import sanitize_markdown
from chat.vocabulary.markdown_source import escape_text, fence_code, unescape_text
from chat.vocabulary.parts import CodeExecutionResult, Display, ExecutableCode, PartKind, Thought
from tests.chat.library.exports.samples import add_parts, exported_bytes, rich_conversation, session_conversation
from tests.factories import make_conversation, make_model_message
from tests.parsed_html import ParsedHtml
from tests.time_growth import GROWTH_LIMIT, time_growth

PARSER = MarkdownIt("commonmark", {"html": True})


def html_of(text: str) -> str:
    return str(PARSER.render(text))


def unescape_html(html: str) -> str:
    for escaped, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        html = html.replace(escaped, character)
    return html


@pytest.mark.django_db
def test_messages_code_graphs_and_sources_are_exported() -> None:
    html = html_of(exported_bytes(rich_conversation(), "md").decode())
    headings = [(one.tag, one.text) for one in ParsedHtml(html).elements if one.tag in ("h1", "h2", "h3")]
    assert headings == [
        ("h1", "Sales, by month"),
        ("h2", "You"),
        ("h2", "Answer (plotline-demo)"),
        ("h2", "You"),
        ("h2", "Answer (plotline-demo)"),
    ]
    assert "Plot *this*:" in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<strong>8</strong>" in html
    assert '<img src="data:image/png;base64,iVBOR' in html
    assert "<em>You stopped this answer. The text received so far is saved.</em>" in html
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
def test_unclosed_block_of_an_answer_does_not_change_the_next_message(text: str) -> None:
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
        "`a` <b>c ``<i>`` \\<u>",
        "    indented\n<b>x",
        "<svg/onload=alert(1)>\n\n```\n<b>\n```\n",
        "<a href='javascript:alert(1)'>x</a>",
    ],
)
def test_raw_html_and_images_of_a_model_become_text(text: str) -> None:
    html = html_of(sanitize_markdown(text))
    assert not re.search(r"<(?!/?(?:p|pre|code|em|strong|a)\b)", html), html
    assert "javascript:alert" not in "".join(re.findall(r"<[^>]*>", html))


def test_allowed_html_tags_are_kept_only_if_they_are_in_pairs() -> None:
    text = "H<sub>2</sub>O<br>**<kbd>a</kbd>**\n\n<details>\n<summary>b</summary>\n\n*c*\n\n</details>\n"
    assert sanitize_markdown(text) == text
    assert sanitize_markdown(text + "\n<div>") == text + "\n&lt;div>"
    for unpaired in ("a <b>b", "*a <b>b* c</b>", "<details>\n\na", '<b title="x">a</b>'):
        assert "<b" not in html_of(sanitize_markdown(unpaired)), unpaired
        assert "<details" not in html_of(sanitize_markdown(unpaired)), unpaired
    # A reader of CommonMark shows no Markdown, such as code, in the lines after this tag.
    assert "<script" not in html_of(sanitize_markdown("<details>\n`<script>`\n</details>"))


def test_characters_in_code_are_not_escaped() -> None:
    text = "Write `<b>` or\n\n```html\n<script>x</script> ![y](z)\n```\n\nbut not <b>."
    assert "&lt;script&gt;x&lt;/script&gt; ![y](z)" in html_of(sanitize_markdown(text))
    assert "<code>&lt;b&gt;</code>" in html_of(sanitize_markdown(text))


@given(st.text(alphabet=st.sampled_from("ab1 .-+*_#<>&[]()`~\\|!=:\n\t$"), max_size=60))
def test_escaped_text_is_shown_as_it_was_typed(text: str) -> None:
    html = html_of(escape_text(text))
    assert not re.search(r"<(?!/?p>|br />)", html), (text, escape_text(text))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    shown = [" ".join(line.split()) for line in unescape_html(re.sub(r"<[^>]+>", "", html)).split("\n")]
    assert [line for line in shown if line] == [line for line in lines if line]
    assert [line.rstrip() for line in unescape_text(escape_text(text)).split("\n")] == [
        line.expandtabs(4).rstrip() if not line.strip() else _expanded(line) for line in text.split("\n")
    ]


def _expanded(line: str) -> str:
    """Return the line with its leading blanks as spaces."""
    rest = line.lstrip(" \t")
    return " " * len(line[: len(line) - len(rest)].expandtabs(4)) + rest.rstrip()


@given(st.text(alphabet=st.sampled_from("`~ab\n "), max_size=40))
def test_code_block_does_not_end_before_the_end_of_its_code(code: str) -> None:
    html = html_of(f"{fence_code(code)}\n\nend")
    assert html.count("<pre>") == 1
    assert html.endswith("<p>end</p>\n")


@given(st.text(alphabet=st.sampled_from("ab <>!-/`~[]()*_\\\n&;\"'="), max_size=60))
def test_sanitized_markdown_never_changes_how_the_text_after_it_is_rendered(text: str) -> None:
    html = html_of(f"{sanitize_markdown(text)}\n\n# end")
    assert html.endswith("<h1>end</h1>\n"), (text, sanitize_markdown(text))
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
def test_unclosed_code_is_sanitized_in_linear_time(text: str) -> None:
    def sanitize(characters: int) -> str:
        return sanitize_markdown(f"{text[:characters]}\n<b>x ![a](b)\n")

    assert time_growth(sanitize, len(text)) < GROWTH_LIMIT
    sanitized = sanitize(len(text))
    assert "<b>" not in html_of(sanitized)
    assert "<img" not in html_of(sanitized)


def test_fenced_code_is_not_changed_if_the_text_also_has_raw_html() -> None:
    text = "a <a>\n\n```html\n<b>`\n~~~\n```\n\n- ~~~\n  <i>\n  ~~~\n\n`<u>` <p> ``` x\n"
    sanitized = sanitize_markdown(text)
    assert "```html\n<b>`\n~~~\n```" in sanitized
    assert "- ~~~\n  <i>\n  ~~~" in sanitized
    assert sanitized.count("&lt;") == 2
    assert "`<u>` &lt;p>" in sanitized


@pytest.mark.django_db
def test_function_calls_and_displays_are_exported_as_text() -> None:
    conversation = session_conversation()
    add_parts(conversation.messages.get(role="model"), Display({"a*b": 1, "text/x-html": "<b>bold</b>"}))
    html = html_of(exported_bytes(conversation, "md").decode())
    assert "<em>Function called: run_python</em>" in html
    assert '<pre><code class="language-python">plot()\n</code></pre>' in html
    assert '<img src="data:image/png;base64,' in html
    assert "\n| 1 |" in html
    assert "<em>Function returned: run_python</em>" in html
    assert "<em>Function failed: list_files</em>" in html
    values = [json.loads(one.text) for one in ParsedHtml(html).select("code", class_="language-json")]
    # The arguments and the result of `run_python` are left out, because its code and its output show them.
    assert values == [{"below": "a*b"}, {"error": "away"}]
    assert "<em>Output of type a*b, text/x-html that cannot be shown here.</em>" in html
    assert "bold" not in html


@pytest.mark.django_db
def test_markdown_contains_provider_endpoint_and_model_of_an_answer() -> None:
    text = exported_bytes(rich_conversation(), "md").decode()
    assert text.count("*Model: plotline-demo (gemini); no code*") == 2
    conversation = make_conversation()
    make_model_message(conversation, endpoint="local", engine="session")
    html = html_of(exported_bytes(conversation, "md").decode())
    assert "<em>Model: plotline-demo (gemini, endpoint local); code: in the Python session</em>" in html


@pytest.mark.django_db
def test_code_without_a_result_and_code_with_an_unknown_outcome_are_described_as_such() -> None:
    answer = make_model_message(make_conversation(), parts=[])
    add_parts(
        answer,
        ExecutableCode("a", language="PYTHON", call_id="1"),
        ExecutableCode("b", language="PYTHON", call_id="2"),
        CodeExecutionResult("1", outcome="OUTCOME_OF_TOMORROW", call_id="2"),
    )
    html = html_of(exported_bytes(answer.conversation, "md").decode())
    assert html.count("<em>The code has no result</em>") == 1
    assert html.index("has no result") < html.index('<code class="language-python">b')
    assert "<em>The code ended; its service does not say how</em>" in html
    assert "failed" not in html


@pytest.mark.django_db
def test_markdown_export_shows_a_thought_as_a_quote_below_its_duration() -> None:
    answer = make_model_message(make_conversation(), parts=[])
    add_parts(answer, Thought("It is long.", duration_ms=4200), Thought("It is *old*."))
    html = html_of(exported_bytes(answer.conversation, "md").decode())
    assert "<blockquote>\n<p><strong>Thought for 4.2 s</strong></p>\n<p>It is long.</p>\n</blockquote>" in html
    assert "<blockquote>\n<p><strong>Thoughts</strong></p>\n<p>It is <em>old</em>.</p>\n</blockquote>" in html
