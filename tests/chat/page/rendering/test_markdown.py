"""Markdown: the examples of the specifications, and where Plotline differs from them."""

from __future__ import annotations

import re

import pytest
from django.utils.html import escape

from chat.page.rendering.blocks import make_safe_html, parse_markdown
from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.markdown import render_markdown, render_question
from tests.chat.page.rendering.specifications import load_examples
from tests.parsed_html import ParsedHtml

#: Numbers of examples with a line that is a heading because of the `---` or `===` below it. Here it is text.
UNDERLINED_HEADINGS = {
    "commonmark": {59, 80, 81, 82, 83, 84, 86, 89, 90, 95, 96, 102, 103, 115, 141, 215, 300},
    "gfm": {29, 50, 51, 52, 53, 54, 56, 59, 60, 65, 66, 72, 73, 85, 111, 184, 278},
}
#: Numbers of other examples whose HTML differs on purpose. Bare addresses are links, since GFM's autolink extension is
#: always on. Nested strong text keeps both tags, which follows CommonMark and not GFM. A line with one dash begins a
#: list below any text, so what is indented below it is the text of its item. Asterisks between numbers are plain
#: characters.
EXCLUDED_EXAMPLES = {
    "commonmark": {278, 280, 356, 611, 612, *UNDERLINED_HEADINGS["commonmark"]},
    "gfm": {256, 258, 365, 398, 426, 434, 435, 436, 473, 474, 475, 477, 619, 620, *UNDERLINED_HEADINGS["gfm"]},
}


def outline(html: str, *, is_expected: bool = False) -> str:
    """Return tags without attributes and text, without the whitespace around line ends and without our own elements.

    `is_expected`: the HTML is that of the specification, whose headings are two levels higher.
    """
    html = re.sub(r'<div class="(?:code-head|table-foot)">.*?</div>', "", html)
    pieces = re.sub(r"</?(?:div|button)>", "", "".join(ParsedHtml(html).outline))
    if is_expected:
        pieces = re.sub(r"(</?h)([1-6])>", lambda tag: f"{tag[1]}{min(6, int(tag[2]) + 2)}>", pieces)
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
    assert len(compared) > 490
    for example in compared:
        assert outline(render_markdown(example.markdown)) == outline(example.html, is_expected=True), example


def test_tables_strikethrough_and_task_lists_are_rendered() -> None:
    html = render_markdown("| a | b |\n|:-:|--:|\n| 1 | ~~2~~ |\n\n- [x] done\n- [ ] open\n")
    attributes = 'align="center" scope="col" data-column="0" aria-sort="none"'
    assert f'<th {attributes}><button type="button" data-action="sort">a</button></th>' in html
    assert '<td align="right"><del>2</del></td>' in html
    assert '<li><input type="checkbox" aria-label="Task" checked="" disabled=""> done</li>' in html
    assert '<li><input type="checkbox" aria-label="Task" disabled=""> open</li>' in html


def test_table_header_has_a_sort_button_and_an_accessible_name_unless_it_is_a_link() -> None:
    html = render_markdown("| | [x](http://e.example) |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n")
    assert (
        '<button type="button" data-action="sort"><span class="visually-hidden">Column 1</span></button></th>' in html
    )
    assert html.count('data-action="sort"') == 1
    assert [row.get("data-row") for row in ParsedHtml(html).find_all("tr")] == [None, "0", "1"]
    assert 'role="region" aria-label="Table, 2 rows × 2 columns"' in html
    assert [action in html for action in ('data-action="copy-csv"', 'data-action="save-csv"')] == [True, True]


def test_page_without_scripts_has_no_buttons() -> None:
    text = '| a</th> | `<button type="button" data-action="sort">` | |\n|---|---|---|\n| 1 | 2 | 3 |\n'
    text += "\n```\nx\n```\n\n    y"
    html = render_markdown(text, MarkdownOptions(has_buttons=False))
    assert '<th scope="col">a&lt;/th&gt;</th>' in html
    assert '<th scope="col"><code>&lt;button type="button" data-action="sort"&gt;</code></th>' in html
    assert '<th scope="col"><span class="visually-hidden">Column 3</span></th>' in html
    assert '<div class="table-foot"><span class="muted">1 row × 3 columns</span></div>' in html
    assert html.count('<div class="code-head"><span>code</span></div>') == 2
    assert "<button" not in html


def test_link_opens_in_a_new_tab_and_shows_its_address() -> None:
    assert render_markdown('[here](https://e.example/?a=1&b=2 "https://bank.example")') == (
        '<p><a href="https://e.example/?a=1&amp;b=2" title="https://e.example/?a=1&amp;b=2" target="_blank"'
        ' rel="noopener noreferrer nofollow">here</a></p>\n'
    )


def test_list_item_with_a_suggested_question_is_a_button_if_the_page_has_scripts() -> None:
    item = "- [What is 3 < 5?](#ask)\n"
    assert (
        '<li class="question"><button type="button" data-action="ask">What is 3 &lt; 5?</button></li>'
        in render_markdown(item)
    )
    assert "button" not in render_markdown(item, MarkdownOptions(has_buttons=False))
    for other in ("[What?](#ask)", "- [**What**?](#ask)", "- see [What?](#ask)", "| [What?](#ask) |\n|---|\n| x |"):
        assert "ask" not in render_markdown(other)


def test_one_tilde_strikes_nothing_out() -> None:
    assert render_markdown("~a~ about ~5 to ~6, H~2~O, ~~b~~") == "<p>~a~ about ~5 to ~6, H~2~O, <del>b</del></p>\n"


def test_headings_of_a_text_begin_at_level_3_below_those_of_the_page() -> None:
    page = ParsedHtml(render_markdown("# a\n\n# b\n\n## c\n\n##### d\n\n###### e\n"))
    assert [f"{one.tag} {one.text}" for one in page.elements] == ["h3 a", "h3 b", "h4 c", "h6 d", "h6 e"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**价格(元):**100，**答案:**B", "<strong>价格(元):</strong>100，<strong>答案:</strong>B"),
        (
            "**«цитата»**и **हिन्दी।**अ **مهم؟**ن",
            "<strong>«цитата»</strong>и <strong>हिन्दी।</strong>अ <strong>مهم؟</strong>ن",
        ),
        ("**Note:**text", "<strong>Note:</strong>text"),
        ("**甲**文本:**乙**丙", "<strong>甲</strong>文本:<strong>乙</strong>丙"),
        ("ไทย **(ตัวอย่าง)**ไทย", "ไทย <strong>(ตัวอย่าง)</strong>ไทย"),
        ("และ**(สำคัญ)**มาก **ข**(ก) **ค**", "และ<strong>(สำคัญ)</strong>มาก <strong>ข</strong>(ก) <strong>ค</strong>"),
        ("2**(3)**x, a **b** c:**d**", "2**(3)**x, a <strong>b</strong> c:<strong>d</strong>"),
        ("`**x:**y`", "<code>**x:**y</code>"),
    ],
)
def test_strong_text_may_begin_or_end_with_punctuation_next_to_a_letter(text: str, html: str) -> None:
    assert render_markdown(text) == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "Schüler*innen und Lehrer*innen, ein*e gute*r Freund*in",
        "V = l*w*h, 2*3*4 = 24 and a*b + c*d",
        "面积为3*4*5，体积为2*3*4",
    ],
)
def test_asterisk_inside_a_word_or_between_factors_is_shown_as_an_asterisk(text: str) -> None:
    assert render_markdown(text) == f"<p>{text}</p>\n"
    assert render_markdown(f"`{text}`") == f"<p><code>{text}</code></p>\n"


def test_part_of_a_word_is_emphasised() -> None:
    html = "un<em>glaub</em>lich, <em>a</em>s, x<em>y</em>, <strong>Lehrer*innen</strong>, 这是<em>强调</em>文字"
    assert render_markdown("un*glaub*lich, *a*s, x*y*, **Lehrer*innen**, 这是*强调*文字") == f"<p>{html}</p>\n"
    assert 'href="https://e.example/a*b"' in render_markdown("https://e.example/a*b or c*d")


def test_asterisks_in_the_address_of_a_link_are_unchanged() -> None:
    assert 'href="http://e.example/**b:**c"' in render_markdown("[a](http://e.example/**b:**c)")


@pytest.mark.parametrize(
    ("info", "label"),
    [("python", "python"), ("py", "python"), ("mermaid", "mermaid"), ("", "code"), ("{r}", "r"), ("<b>", "&lt;b&gt;")],
)
def test_code_has_a_header_with_its_language_and_a_button(info: str, label: str) -> None:
    html = render_markdown(f"```{info}\nx\n```\n")
    button = '<button type="button" class="quiet" data-action="copy">Copy</button>'
    head = f'<div class="code-head"><span>{label}</span>{button}'
    assert html.startswith(f'<div class="code-block">{head}</div><pre tabindex="0" role="group" aria-label="Code"')
    assert html.endswith("</code></pre></div>\n")


@pytest.mark.formulas
def test_question_is_rendered_with_its_line_breaks() -> None:
    html = render_question("a **b**\nc\n\n- d\n<b>e</b> $x$[^1]\n\n[^1]: f", "message-7")
    assert html.startswith("<p>a <strong>b</strong><br>\nc</p>\n<ul>\n<li>d<br>\n&lt;b&gt;e&lt;/b&gt; <math")
    assert 'id="message-7-fn-1"' in html


def test_long_question_is_shown_as_typed() -> None:
    text = "**a** <b>\n" * 2000
    assert render_question(text, "message-7") == f'<div class="as-typed">{escape(text)}</div>'


@pytest.mark.formulas
def test_scrollable_tables_code_and_formulas_can_be_focused_by_keyboard() -> None:
    html = render_markdown("| a |\n|---|\n| 1 |\n\n```\nx\n```\n\n$$x$$\n")
    assert html.count('tabindex="0"') == 3


def test_fenced_code_is_highlighted_with_classes() -> None:
    html = render_markdown('```python\nx = "<b>"\n```\n')
    assert '<pre tabindex="0" role="group" aria-label="Code" data-language="python"><code>' in html
    assert '<span class="s">"&lt;b&gt;"</span>' in html
    assert "style=" not in html


def test_fenced_code_is_highlighted_only_when_the_fence_is_closed() -> None:
    assert "<span class" not in render_markdown("```python\nimport os\n")
    assert "<span class" in render_markdown("```python\nimport os\n```")
    assert "<span class" in render_markdown("- ```python\n  import os\n  ```\n")
    assert "<span class" in render_markdown("```python\nimport os\n```\n\nText.")


@pytest.mark.parametrize("line", ["-", "--", "=", "==", "===", "- ", "-\n", "--\n-\nb\n-"])
def test_line_above_dashes_or_equals_signs_does_not_become_a_heading(line: str) -> None:
    for before in ("a", "a\nb", "- a\n  b", "> a"):
        prefix = {"-": "  ", ">": "> "}.get(before[0], "")
        text = f"{before}\n" + "\n".join(f"{prefix}{one}" for one in line.split("\n"))
        tags = {one.tag for one in ParsedHtml(render_markdown(text)).elements}
        assert tags <= {"p", "ul", "li", "blockquote"}, text


def test_three_dashes_below_text_are_a_rule_and_a_table_keeps_its_line_of_dashes() -> None:
    assert render_markdown("a\n---\nb\n") == "<p>a</p>\n<hr>\n<p>b</p>\n"
    assert "<table>" in render_markdown("| a |\n|-|\n| b |\n")
    assert "<ul>\n<li>a</li>\n<li></li>\n</ul>" in render_markdown("- a\n-\n")
    assert "<p></p>" not in render_markdown("- a\n\n-   \n")


def test_list_or_rule_received_in_pieces_makes_no_heading_and_removes_no_shown_block() -> None:
    text = "Points\n- one\n- two\n  - three\n\nSum\n= 42\n\nRule\n---\nText\n-- x\n\n# Title\n- end\n"
    before, growing = 0, MarkdownOptions(may_grow=True)
    for end in range(len(text) + 1):
        tags = [one.tag for one in ParsedHtml(render_markdown(text[:end], growing)).elements]
        assert not {"h4", "table"} & set(tags), text[:end]
        assert len(tags) >= before, text[:end]
        before = len(tags)
    assert render_markdown("a\n-", growing) == render_markdown("a\n--", growing) == "<p>a</p>\n"
    assert render_markdown("# a\n-", growing) == "<h3>a</h3>\n"


def test_suggested_question_is_never_shown_as_markdown_source_while_it_is_received() -> None:
    text, growing = (
        "Ask:\n\n- [What is it?](#ask)\n* [Who (or what)?](#ask)\n\n- [ ] a task",
        MarkdownOptions(may_grow=True),
    )
    shown = [render_markdown(text[:end], growing) for end in range(len(text) + 1)]
    assert not [html for html in shown if "[" in html or "<li></li>" in html]
    assert shown[-1].count("<button") == 2
    assert "- [1, 2" in render_markdown("```\n- [1, 2", growing)


def test_list_mark_or_dashes_at_the_end_of_a_finished_text_are_shown() -> None:
    assert render_markdown("a\n-") == "<p>a</p>\n<ul>\n<li></li>\n</ul>\n"
    assert render_markdown("a\n--") == "<p>a\n--</p>\n"


@pytest.mark.formulas
def test_line_of_dashes_in_code_or_a_formula_is_unchanged() -> None:
    assert render_markdown("```\n-\n-  \n--\n  -\n```").endswith("<code>-\n-  \n--\n  -\n</code></pre></div>\n")
    assert "a\n-</code>" in render_markdown("```\na\n-")
    assert 'alttext="a\n-\nb"' in render_markdown("$$\na\n-\nb\n$$")
    assert render_question("a\n-", "message-7") == "<p>a</p>\n<ul>\n<li></li>\n</ul>\n"


def test_unpaired_surrogate_becomes_a_replacement_character() -> None:
    assert render_markdown("a\ud83db") == "<p>a\ufffdb</p>\n"


def test_deeply_nested_markdown_is_limited_to_64_levels_and_keeps_its_text() -> None:
    html = render_markdown("_" * 2000 + "a" + "_" * 2000 + "\n\n" + ">" * 500 + "b")
    depth = deepest = 0
    for piece in ParsedHtml(html).outline:
        depth += piece.startswith("<") - 2 * piece.startswith("</")
        deepest = max(deepest, depth)
    assert deepest == 64
    assert ParsedHtml(html).text.split() == ["a", "b"]


def test_table_that_would_be_padded_to_millions_of_cells_is_not_rendered_as_a_table() -> None:
    text = "|a" * 5000 + "\n" + "|-" * 5000 + "\n" + "|b\n" * 5000
    assert "<table>" not in render_markdown(text)
    assert "<table>" not in render_markdown(text.replace("\n", "\r"))


def test_markdown_blocks_rendered_separately_equal_blocks_rendered_together() -> None:
    for example in load_examples("commonmark"):
        first, second = parse_markdown(example.markdown), parse_markdown("> *a\n\n" + example.markdown)
        assert make_safe_html(first + second) == make_safe_html(first) + make_safe_html(second)
