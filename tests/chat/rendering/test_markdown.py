"""Markdown: the examples of the specifications, and where Plotline differs from them."""

from __future__ import annotations

import re

import pytest

from chat.rendering.blocks import make_safe_html, parse_markdown
from chat.rendering.markdown import render_markdown
from tests.chat.rendering.pages import Elements
from tests.chat.rendering.specifications import load_examples

#: Numbers of examples whose HTML differs on purpose. Bare addresses are links, since GFM's autolink extension is always
#: on. Nested strong text keeps both tags, which follows CommonMark and not GFM.
EXCLUDED_EXAMPLES = {
    "commonmark": {611, 612},
    "gfm": {398, 426, 434, 435, 436, 473, 474, 475, 477, 619, 620},
}


def outline(html: str) -> str:
    """Return tags without attributes and text, without the whitespace around line ends and without our spans."""
    pieces = "".join(Elements(html).outline)
    pieces = re.sub(r"</?span>|</(?:br|hr|input)>", "", pieces)
    return re.sub(r"\s*\n\s*", "\n", pieces).strip()


@pytest.mark.parametrize("name", ["commonmark", "gfm"])
def test_examples_of_the_specification_have_the_expected_html(name: str) -> None:
    examples = load_examples(name)
    compared = [
        example
        for example in examples
        if example.number not in EXCLUDED_EXAMPLES[name] and "<" not in example.markdown and "<img" not in example.html
    ]
    assert len(compared) > 500
    for example in compared:
        assert outline(render_markdown(example.markdown)) == outline(example.html), example


def test_tables_strikethrough_and_task_lists_are_rendered() -> None:
    html = render_markdown("| a | b |\n|:-:|--:|\n| 1 | ~~2~~ |\n\n- [x] done\n- [ ] open\n")
    assert '<th align="center">a</th>' in html
    assert '<td align="right"><del>2</del></td>' in html
    assert '<li><input type="checkbox" checked="" disabled=""> done</li>' in html
    assert '<li><input type="checkbox" disabled=""> open</li>' in html


def test_raw_html_is_shown_as_typed() -> None:
    html = render_markdown("<div onclick=x>\n*a*\n</div>\n\nb <b>c</b><br>\n")
    assert Elements(html).text.split() == ["<div", "onclick=x>", "*a*", "</div>", "b", "<b>c</b><br>"]


def test_image_is_shown_as_its_source_text() -> None:
    assert render_markdown('![a *plot*](http://e.example/i.png "t")') == "<p>![a plot](http://e.example/i.png)</p>\n"


def test_link_opens_in_a_new_tab_and_shows_its_address() -> None:
    assert render_markdown('[here](https://e.example/?a=1&b=2 "https://bank.example")') == (
        '<p><a href="https://e.example/?a=1&amp;b=2" title="https://e.example/?a=1&amp;b=2" target="_blank"'
        ' rel="noopener noreferrer nofollow">here</a></p>\n'
    )


@pytest.mark.parametrize(
    "address", ["/admin/", "//e.example", "javascript:alert(1)", "data:text/html,x", "ftp://e", "#a"]
)
def test_link_with_a_scheme_other_than_http_or_mailto_has_no_address(address: str) -> None:
    [(tag, attributes)] = [
        element for element in Elements(render_markdown(f"[a]({address})")).tags if element[0] == "a"
    ]
    assert tag == "a"
    assert "href" not in attributes


def test_math_is_not_parsed_as_emphasis() -> None:
    html = render_markdown("so $a_1*b*c_2$ and\n\n$$\nx_1 < y_2\n$$\n")
    assert '<span class="math math-inline">$a_1*b*c_2$</span>' in html
    assert '<span class="math math-block">$$\nx_1 &lt; y_2\n$$</span>' in html


@pytest.mark.parametrize(
    "text", ["$5 and $6", "from $5-$6, or US$7 to US$8", "it cost $5", "5$ and 6$", r"\$5 and \$6"]
)
def test_money_is_not_math(text: str) -> None:
    html = render_markdown(text)
    assert "math" not in html
    assert Elements(html).text == text.replace("\\", "") + "\n"


def test_fenced_code_is_highlighted_with_classes() -> None:
    html = render_markdown('```python\nx = "<b>"\n```\n')
    assert html.startswith('<pre data-language="python"><code>')
    assert '<span class="s2">"&lt;b&gt;"</span>' in html
    assert "style=" not in html


def test_fenced_code_is_highlighted_only_when_the_fence_is_closed() -> None:
    assert "<span" not in render_markdown("```python\nimport os\n")
    assert "<span" in render_markdown("```python\nimport os\n```")
    assert "<span" in render_markdown("- ```python\n  import os\n  ```\n")
    assert "<span" in render_markdown("```python\nimport os\n```\n\nText.")


def test_unpaired_surrogate_becomes_a_replacement_character() -> None:
    assert render_markdown("a\ud83db") == "<p>a\ufffdb</p>\n"


def test_deep_nesting_is_flattened_and_keeps_its_text() -> None:
    html = render_markdown("_" * 2000 + "a" + "_" * 2000 + "\n\n" + ">" * 500 + "b")
    depth = deepest = 0
    for piece in Elements(html).outline:
        depth += piece.startswith("<") - 2 * piece.startswith("</")
        deepest = max(deepest, depth)
    assert deepest == 64
    assert Elements(html).text.split() == ["a", "b"]


def test_table_that_would_be_padded_to_millions_of_cells_is_not_rendered_as_a_table() -> None:
    text = "|a" * 5000 + "\n" + "|-" * 5000 + "\n" + "|b\n" * 5000
    assert "<table>" not in render_markdown(text)
    assert "<table>" not in render_markdown(text.replace("\n", "\r"))


def test_blocks_rendered_separately_equal_blocks_rendered_together() -> None:
    for example in load_examples("commonmark"):
        first, second = parse_markdown(example.markdown), parse_markdown("> *a\n\n" + example.markdown)
        assert make_safe_html(first + second) == make_safe_html(first) + make_safe_html(second)
