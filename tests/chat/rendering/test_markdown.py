"""Markdown: the specifications' examples, and what Plotline does its own way."""

from __future__ import annotations

import re

import pytest

from chat.rendering.blocks import finish, parse
from chat.rendering.markdown import render_markdown
from tests.chat.rendering.pages import Elements
from tests.chat.rendering.specifications import load_examples

#: Where ours is meant to differ: bare addresses are links (GFM's extension is on in every example), and strong
#: text in strong text keeps both tags, as CommonMark has it and GitHub's fork has not.
DIFFERENT = {
    "commonmark": {611, 612},
    "gfm": {398, 426, 434, 435, 436, 473, 474, 475, 477, 619, 620},
}


def outline(html: str) -> str:
    """Tags without attributes, and text, without the white space around line ends and without our spans."""
    pieces = "".join(Elements(html).outline)
    pieces = re.sub(r"</?span>|</(?:br|hr|input)>", "", pieces)
    return re.sub(r"\s*\n\s*", "\n", pieces).strip()


@pytest.mark.parametrize("name", ["commonmark", "gfm"])
def test_examples_of_the_specification_give_their_html(name: str) -> None:
    examples = load_examples(name)
    compared = [
        example
        for example in examples
        if example.number not in DIFFERENT[name] and "<" not in example.markdown and "<img" not in example.html
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


def test_link_leads_out_and_says_where() -> None:
    assert render_markdown('[here](https://e.example/?a=1&b=2 "https://bank.example")') == (
        '<p><a href="https://e.example/?a=1&amp;b=2" title="https://e.example/?a=1&amp;b=2" target="_blank"'
        ' rel="noopener noreferrer nofollow">here</a></p>\n'
    )


@pytest.mark.parametrize(
    "address", ["/admin/", "//e.example", "javascript:alert(1)", "data:text/html,x", "ftp://e", "#a"]
)
def test_link_to_anything_but_the_web_or_mail_leads_nowhere(address: str) -> None:
    [(tag, attributes)] = [found for found in Elements(render_markdown(f"[a]({address})")).tags if found[0] == "a"]
    assert tag == "a"
    assert "href" not in attributes


def test_math_keeps_its_source_from_emphasis() -> None:
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


def test_code_in_a_fence_is_coloured_by_classes() -> None:
    html = render_markdown('```python\nx = "<b>"\n```\n')
    assert html.startswith('<pre data-language="python"><code>')
    assert '<span class="s2">"&lt;b&gt;"</span>' in html
    assert "style=" not in html


def test_open_fence_stays_plain_until_it_closes() -> None:
    assert "<span" not in render_markdown("```python\nimport os\n")
    assert "<span" in render_markdown("```python\nimport os\n```")
    assert "<span" in render_markdown("- ```python\n  import os\n  ```\n")
    assert "<span" in render_markdown("```python\nimport os\n```\n\nText.")


def test_half_a_surrogate_pair_is_a_replacement_character() -> None:
    assert render_markdown("a\ud83db") == "<p>a\ufffdb</p>\n"


def test_deep_nesting_is_flattened_and_keeps_its_text() -> None:
    html = render_markdown("_" * 2000 + "a" + "_" * 2000 + "\n\n" + ">" * 500 + "b")
    depth = deepest = 0
    for piece in Elements(html).outline:
        depth += piece.startswith("<") - 2 * piece.startswith("</")
        deepest = max(deepest, depth)
    assert deepest == 64
    assert Elements(html).text.split() == ["a", "b"]


def test_table_padded_to_millions_of_cells_is_no_table() -> None:
    text = "|a" * 5000 + "\n" + "|-" * 5000 + "\n" + "|b\n" * 5000
    assert "<table>" not in render_markdown(text)
    assert "<table>" not in render_markdown(text.replace("\n", "\r"))


def test_blocks_rendered_apart_are_the_blocks_rendered_together() -> None:
    for example in load_examples("commonmark"):
        raw = parse(example.markdown) + parse("> *a\n\n" + example.markdown)
        assert finish(raw) == finish(parse(example.markdown)) + finish(parse("> *a\n\n" + example.markdown))
