"""HTML tags that models write: tags of a fixed list become elements, all others are shown as text."""

from __future__ import annotations

import time

import pytest

from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.markdown import render_markdown
from tests.chat.page.rendering.pages import assert_streams_like_whole
from tests.parsed_html import ParsedHtml

FOLD = "<details>\n<summary>**T** `c`</summary>\n\nText\n\n- a\n- b\n</details>\n\nafter\n"


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("one<br>two<br/>three<BR />four", "one<br>\ntwo<br>\nthree<br>\nfour"),
        ("<br>\n*a*", "<br>\n\n<em>a</em>"),
        ("H<sub>2</sub>O m<sup>2</sup>", "H<sub>2</sub>O m<sup>2</sup>"),
        ("<kbd>Ctrl</kbd>+<KBD>C</kbd>", "<kbd>Ctrl</kbd>+<kbd>C</kbd>"),
        ("<b>**x**</b> <i>*y*</i>", "<b><strong>x</strong></b> <i><em>y</em></i>"),
        ("<u>a</u> <mark>b</mark> <s>c</s> <del>d</del>", "<u>a</u> <mark>b</mark> <s>c</s> <del>d</del>"),
        (
            "<ins>a</ins> <small>b</small> <code>c < *d*</code>",
            "<ins>a</ins> <small>b</small> <code>c &lt; <em>d</em></code>",
        ),
        ("<span style=\"color:red\">a</span> <font color='b'>*c*</font> <span>", "a <em>c</em> &lt;span&gt;"),
        ("<strong>a</strong> <em>b</em>", "<strong>a</strong> <em>b</em>"),
        ("<b>a <i>b</i> c</b>", "<b>a <i>b</i> c</b>"),
        ("**a<br>b** <sub>*x*</sub>", "<strong>a<br>\nb</strong> <sub><em>x</em></sub>"),
        ('<mark style="color: red" onclick=x>a</mark>', "<mark>a</mark>"),
        # Without its counterpart in the same element, a tag is text.
        ("a <b>b", "a &lt;b&gt;b"),
        ("a</b>", "a&lt;/b&gt;"),
        ("<b>a <i>b</b> c</i>", "<b>a &lt;i&gt;b</b> c&lt;/i&gt;"),
        ("*a <b>b* c</b>", "<em>a &lt;b&gt;b</em> c&lt;/b&gt;"),
        # Escapes, code, formulas and other tags.
        (r"\<b>a</b> &lt;i&gt;b</i> \\<u>c</u>", r"&lt;b&gt;a&lt;/b&gt; &lt;i&gt;b&lt;/i&gt; \<u>c</u>"),
        ("`a<br>b` `<!-- c -->`", "<code>a&lt;br&gt;b</code> <code>&lt;!-- c --&gt;</code>"),
        ("List<String> <your name> a < b", "List&lt;String&gt; &lt;your name&gt; a &lt; b"),
        ("x<img src=y> <a href='z'>w</a>", "x&lt;img src=y&gt; &lt;a href='z'&gt;w&lt;/a&gt;"),
        ("<ruby>字<rt>じ</rt></ruby> <q>a</q> <time>12:00</time>", "<ruby>字<rt>じ</rt></ruby> <q>a</q> 12:00"),
        ("<big>a</big> <b/> <bb>c</bb>", "&lt;big&gt;a&lt;/big&gt; &lt;b/&gt; &lt;bb&gt;c&lt;/bb&gt;"),
        ("<\ufdd0b>a</b>", "<b>a</b>"),
        # Comments.
        ("a <!-- b *c* --> d", "a  d"),
        ("a <!-- b", "a &lt;!-- b"),
        (r"\<!-- a --> &lt;!-- b -->", "&lt;!-- a --&gt; &lt;!-- b --&gt;"),
    ],
)
def test_known_html_tags_are_rendered_and_others_are_shown_as_text(source: str, html: str) -> None:
    assert render_markdown(source) == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ('<p align="center">Hello **you**</p>\n\nNext', "<p>Hello <strong>you</strong></p>\n<p>Next</p>\n"),
        ("<center>Hi</center>", "<p>Hi</p>\n"),
        ('<div class="x" onclick="y()"><b>x</b></div>', "<p><b>x</b></p>\n"),
        ("<p>a</p><p>b</p>", "<p>a</p><p>b</p>\n"),
        ("<DIV>\n  <p>One</p>\n  <h4>Two</h4>\n</DIV>", "<p>One</p>\n<h6>Two</h6>\n\n"),
        ('<h3 align="center">A <b>b</b> *c*</h3>\nText', "<h5>A <b>b</b> <em>c</em></h5>\n<p>Text</p>\n"),
        ("a\n<hr>\nb", "<p>a\n</p><hr>\n<p>\nb</p>\n"),
        ("> <p>q</p>", "<blockquote>\n<p>q</p>\n</blockquote>\n"),
        # Elsewhere in a line, in code, and not whole, a tag is text.
        ("Use the <p> tag and </div>.", "<p>Use the &lt;p&gt; tag and &lt;/div&gt;.</p>\n"),
        ("<div> is a block.\n\n<p> ends", "<p>&lt;div&gt; is a block.</p>\n<p>&lt;p&gt; ends</p>\n"),
        ("`<p>` and <p", "<p><code>&lt;p&gt;</code> and &lt;p</p>\n"),
        ("<script>a</script><p onclick=x>y", "&lt;script&gt;a&lt;/script&gt;&lt;p onclick=x&gt;y\n"),
    ],
)
def test_block_tag_on_its_own_line_ends_a_paragraph_or_makes_a_heading_or_rule(source: str, html: str) -> None:
    assert render_markdown(source) == html
    assert_streams_like_whole(source, range(len(source)))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<ul>\n<li>One</li>\n<li>*Two*</li>\n</ul>\nafter", "<ul><li>One</li><li><em>Two</em></li></ul><p>after</p>"),
        ("a\n<ul><li>b</li></ul>", "<p>a</p><ul><li>b</li></ul>"),
        ('<ol start="3" class="x">\n  <li onclick="y()">c', "<ol><li>c</li></ol>"),
        (
            "<ul>\n  <li>a\n    <ol><li>b</li></ol>\n  </li>\n\n  <li><p>c</p><p>d</p></li>\n</ul>",
            "<ul><li>a<ol><li>b</li></ol></li><li>c<p>d</p></li></ul>",
        ),
        ("> <ul><li>a\n\nb", "<blockquote><ul><li>a</li></ul></blockquote><p>b</p>"),
        (
            "<details>\n<summary>T</summary>\n<ul><li>a</li></ul>\n</details>\nb",
            "<details><summary>T</summary><ul><li>a</li></ul></details><p>b</p>",
        ),
        ("<ul><li>a\n\n```\n</ul>\n```\n\n- b\n\n</ul>", None),
        # Elsewhere in a line, and outside of a list, these are text.
        ("Use <ul><li>a</li></ul> for lists.", "<p>Use <ul><li>a</li></ul> for lists.</p>"),
        ("<li>a</li>\n</ul>\n\n<ul> b", "<p><li>a</li></ul></p><ul> b"),
    ],
)
def test_html_list_may_contain_blocks_of_markdown(source: str, expected: str | None) -> None:
    if expected is not None:
        assert outline(source) == expected
    assert_streams_like_whole(source, range(len(source)))


@pytest.mark.parametrize(
    ("source", "links", "text"),
    [
        ('a <a href="https://x.example/a_b?c=1&amp;d" target="_top">*b*</a>.', ["https://x.example/a_b?c=1&d"], "a b."),
        ("<a href=https://x.example>https://x.example</a>", ["https://x.example"], "https://x.example"),
        ("<A HREF='mailto:a@x.example'>a@x.example</A>", ["mailto:a@x.example"], "a@x.example"),
        ('[a](https://x.example) <a href="https://y.example">b', ["https://x.example"], None),
        ('[a <a href="https://y.example">b</a>](https://x.example)', ["https://x.example"], None),
        ('<a href="https://x.example"><img src="https://y.example/z.png" alt="q"></a>', ["https://x.example"], "q"),
        ('<img alt="q" src="https://y.example/z.png">', ["https://y.example/z.png"], "q"),
        # Links to other addresses are text.
        ('<a href="javascript:alert(1)">b</a>', [], '<a href="javascript:alert(1)">b</a>'),
        ('<a href="/x" title="https://y.example">b</a>', [], '<a href="/x" title="https://y.example">b</a>'),
        ('`<a href="https://x.example">b</a>`', [], '<a href="https://x.example">b</a>'),
        ('<img src="data:image/png;base64,AAAA">', [], '<img src="data:image/png;base64,AAAA">'),
    ],
)
def test_link_tag_is_a_link_to_a_web_address_or_text(source: str, links: list[str], text: str | None) -> None:
    page = ParsedHtml(render_markdown(source))
    assert [link["href"] for link in page.find_all("a")] == links
    assert text is None or page.text.strip() == text
    assert_streams_like_whole(source, range(len(source)))


def test_html_table_in_markdown_is_shown_as_text() -> None:
    source = "<table>\n<tr><td><b>a</b></td></tr>\n</table>"
    assert ParsedHtml(render_markdown(source)).text.strip() == source


def test_html_block_tags_in_code_are_unchanged() -> None:
    code = "<h3>T</h3>\n# <h1>U</h1>\n<div>x</div>\n<details>\n"
    page = ParsedHtml(render_markdown(f"```\n{code}```\n"))
    assert code in page.text


@pytest.mark.formulas
def test_tags_in_formulas_in_raw_html_and_in_code_stay_text() -> None:
    assert 'alttext="a&lt;b&gt;c"' in render_markdown("$a<b>c$")
    # `<div>` would only end a paragraph; `<table>` begins raw HTML, which the parser shows as source.
    assert "<b>" not in render_markdown("<table>\n<b>x</b>\n</table>")
    assert ParsedHtml(render_markdown("```\n<details>\n  <b>x</b>\n```")).only("code").text == "<details>\n  <b>x</b>\n"


def test_bare_web_address_in_a_text_ends_at_a_following_tag() -> None:
    links = ParsedHtml(render_markdown("http://a.example<br>b [<b>c</b>](http://d.example/?<b>)")).find_all("a")
    assert [link["href"] for link in links] == ["http://a.example", "http://d.example/?%3Cb%3E"]


def test_line_break_tag_makes_a_new_line_in_a_table_cell() -> None:
    html = render_markdown("| a<br>b | c |\n|-|-|\n| 1<br/>2 | `x<br>y` |\n")
    assert '<button type="button" data-action="sort">a<br>\nb</button>' in html
    assert "<td>1<br>\n2</td>\n<td><code>x&lt;br&gt;y</code></td>" in html


def test_list_tags_make_a_list_in_a_table_cell() -> None:
    html = render_markdown("| a |\n|-|\n| b<ul><li>*c*</li><LI>`<li>`</LI></ul> |\n| <ol><li>d |\n")
    assert "<td>b\n<ul>\n<li><em>c</em></li>\n<li><code>&lt;li&gt;</code></li></ul></td>" in html
    assert "<td>&lt;ol&gt;&lt;li&gt;d</td>" in html
    assert "<li>" not in render_markdown("a <ul><li>b</li></ul>\n\n<li>c</li>\n\n<ul> d\n")


def test_html_comment_that_spans_several_blocks_is_left_out() -> None:
    assert ParsedHtml(render_markdown("a\n\n<!-- b\n\n# c\n-->\n\nd")).text.split() == ["a", "d"]


def test_tags_that_people_typed_are_shown_as_typed() -> None:
    html = render_markdown("<b>a</b><br> <!-- b -->", MarkdownOptions(has_tags=False))
    assert html == "<p>&lt;b&gt;a&lt;/b&gt;&lt;br&gt; &lt;!-- b --&gt;</p>\n"


def outline(source: str) -> str:
    return "".join(ParsedHtml(render_markdown(source)).outline).replace("\n", "")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            FOLD,
            "<details><summary><strong>T</strong> <code>c</code></summary><p>Text</p>"
            "<ul><li>a</li><li>b</li></ul></details><p>after</p>",
        ),
        (
            "<details><summary>T</summary>a *b*</details> c",
            "<details><summary>T</summary><p>a <em>b</em></p></details><p> c</p>",
        ),
        (
            "<details>\n<summary>\nT\n</summary>\na</details>",
            "<details><summary><p>T</p></summary><p>a</p></details>",
        ),
        (
            "a <details><summary>T</summary>b</details>",
            "<p>a </p><details><summary>T</summary><p>b</p></details>",
        ),
        (
            "1. a\n   <details>\n   <summary>T</summary>\n   b\n   </details>\n2. c",
            "<ol><li>a<details><summary>T</summary>b</details></li><li>c</li></ol>",
        ),
        (
            "<details>\n<summary>A</summary>\n<details>\n<summary>B</summary>\n</details>\n</details>",
            "<details><summary>A</summary><details><summary>B</summary></details></details>",
        ),
        ("a </details> b", "<p>a </details> b</p>"),
        ("<summary>a</summary>", "<p><summary>a</summary></p>"),
        ("# <details>", "<h3><details></h3>"),
    ],
)
def test_details_element_may_contain_blocks_of_markdown(source: str, expected: str) -> None:
    assert outline(source) == expected


def test_details_element_without_an_end_tag_is_shown_open() -> None:
    assert render_markdown("> <details>\n> a\n\nb").startswith('<blockquote>\n<details open="">\n<p>a</p>\n</details>')
    assert 'open=""' in render_markdown("<details>\na\n")
    assert 'open=""' in render_markdown("<details open>\na\n</details>\n")
    assert "open" not in render_markdown("<details>\na\n</details>\n")


@pytest.mark.parametrize(
    "text",
    [
        FOLD,
        "x\n\n<details><summary>T</summary>\n\n```py\nx = 1\n```\n\n</details> y\n\nz\n",
        "a <details>b</details>\n| c |\n|-|\n\nd\n",
        "| a |\n|-|\n| <ul><li>b</li>\n| <ul><li>c</li></ul> | <span>d</span>\n\n**e:**1 <span>f\n",
        "<details>\na[^1]\n\n[^1]: b\n\n</details>\n\nc [x]\n\n[x]: /u\n",
        "<details>\n<details>\na</details>\n1. b|c\n-|-\n</details>\nd|e\n-|-\n\nf\n",
        "<div>\n</details>\n<b>\n\n<!-- a\n\n--> b\n\nc\n",
        "Three points.\n- one\n- two\n\nA sum\n= 42\n\n--\n-\nb\n",
    ],
)
def test_tags_streamed_by_character_equal_the_text_rendered_at_once(text: str) -> None:
    for variant in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        assert_streams_like_whole(variant, range(len(variant)))


def test_very_long_details_element_continues_in_the_next_document() -> None:
    html = render_markdown("<details>\n\n" + "text\n\n" * 12_000 + "</details>\n\nend\n")
    assert html.count("<details") == html.count("</details>") == 2
    assert "&lt;" not in html
    assert html.endswith("<p>end</p>\n")


@pytest.mark.parametrize(
    "text",
    [
        "<b>" * 10_000,
        "| a |\n|-|\n" + "| <ul><li>b</li></ul> |\n" * 1_000 + "| <ul><li>",
        "**a:" * 4_000,
        "<b>" * 5_000 + "</i>" * 5_000,
        "<b>" * 4_000 + "</b>" * 4_000,
        "<details>\n" * 5_000,
        "<ul><li>" * 4_000,
        "x<a href='https://x'>*" * 2_000 + "</a>" * 2_000,
        "<a href=" * 8_000,
        "a </details>" * 4_000,
        "<!-- " * 10_000 + "*a*" + "-->" * 1_000,
        "<b a='" * 8_000,
        "a\n-\n" * 10_000,
    ],
)
def test_hostile_tags_are_rendered_in_limited_time_and_nested_at_most_64_levels_deep(text: str) -> None:
    start = time.thread_time()
    html = render_markdown(text)
    # Linear time is 0.1 to 0.5 s.
    assert time.thread_time() - start < 10
    depth = deepest = 0
    for piece in ParsedHtml(html).outline:
        depth += piece.startswith("<") - 2 * piece.startswith("</")
        deepest = max(deepest, depth)
    assert deepest <= 64
