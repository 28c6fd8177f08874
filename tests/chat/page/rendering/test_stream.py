"""Streamed markdown: the HTML does not depend on the pieces in which the text arrives."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.page.rendering import documents, stream
from chat.page.rendering.blocks import make_safe_html, parse_markdown
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.stream import MarkdownStream, split_markdown
from tests.chat.page.rendering.pages import assert_streams_like_whole
from tests.chat.page.rendering.specifications import load_examples

#: Syntax of blocks, and characters that parsers and sanitizers often handle wrongly.
PIECES = [
    *("a", "b c", "\n", "\n\n", "\r\n", "\r", "\t", "    ", "  ", "\\", ":", "&#13;", "&nbsp;", "&", "<"),
    *("- ", "* ", "1. ", "2. ", "2) ", "> ", ">", "# ", "---", "===", "- [x] ", "```", "~~~", "`", "```py\nx=1\n```\n"),
    *("[a]", "[a]: /u\n", '[b]: /v "t"\n', "[a]: ", "/u", ' "t"', "[^1]: ", "[^1]", "![x](y)", "[l](http://x.example)"),
    *(
        "|",
        "|-|-|\n",
        "| a | b |\n",
        "-|-\n",
        "3. a|b\n",
        "    a|b\n",
        "*",
        "**",
        "_",
        "~~",
        "$",
        "$$",
        "www.x.example",
        *("\\[", "\\]", "\\(", "\\)", "$5 ", "\\\\", "~", "= ", "| "),
        *("$$\n", "\\[\n", "[^1]:\n", "[^2]: a\n\n    b\n", "[^2]"),
        *(
            "\\begin{align}",
            "\\end{align}",
            "\\begin{cases}\n",
            "\\begin{tabular}",
            "\\end{tabular}",
            "& x \\\\\n",
            "\\{",
        ),
        *("x \\[\n", "x $$\n", "https://x.example/", "，", "说", "~~。", "**", "`a|b`", "$|x|$"),
    ),
    *("<div>", "</div>", "<!--", "-->", "<pre>", "<b>", "</b>", "<?", "<![CDATA[", "<script>"),
    *("<br>", "<sub>", "</sub>", "<details>", "</details>", "<details>\n", "\n</details>\n", "<summary>", "</summary>"),
    *("\n-\n", "\n--", "<p>", "</p>\n", "\n<h3>a</h3>\n", "<hr>", "<ul><li>", "\n<ol>\n<li>", "</li>\n", "</ul>\n"),
    *("<a href='https://x.example'>", "</a>", "<div> a"),
    *("\ufeff", "\0", "\f", "\v", "\u2028", "\xa0", "\ud83d", "\ude00", "😀"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@st.composite
def texts_with_cuts(draw: st.DrawFn) -> tuple[str, list[int]]:
    text = draw(texts)
    return text, draw(st.lists(st.integers(0, len(text)), max_size=12))


@settings(max_examples=1500)
@given(texts_with_cuts())
def test_any_text_in_any_pieces_equals_the_text_rendered_at_once(case: tuple[str, list[int]]) -> None:
    assert_streams_like_whole(*case)


@settings(max_examples=1000)
@given(texts)
def test_closed_and_tail_html_equal_the_html_of_the_whole_text(text: str) -> None:
    assert render_markdown(text) == make_safe_html(parse_markdown(text), open_source=text)


def set_limits(patch: pytest.MonkeyPatch, *, document_chars: int, cells: int) -> None:
    """Set limits that are small enough for short texts to reach them."""
    patch.setattr(documents, "DOCUMENT_LIMIT_CHARS", document_chars)
    patch.setattr(stream, "DOCUMENT_LIMIT_CHARS", document_chars)
    patch.setattr(documents, "LATER_LIMIT_CHARS", document_chars // 2)
    patch.setattr(stream, "LATER_LIMIT_CHARS", document_chars // 2)
    patch.setattr(documents, "TABLE_CELLS_LIMIT", cells)
    patch.setattr(documents, "FORMULA_DELIMITERS_LIMIT", 6)


@pytest.mark.parametrize("limit_chars", [20, 40, 97])
@settings(max_examples=300)
@given(texts_with_cuts())
def test_text_longer_than_a_document_equals_the_text_rendered_at_once(
    limit_chars: int, case: tuple[str, list[int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, document_chars=limit_chars, cells=30)
        assert_streams_like_whole(*case)


def test_table_above_the_cell_limit_is_shown_as_text_in_whatever_pieces_it_is_received(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_limits(monkeypatch, document_chars=1000, cells=30)
    text = "before\n\n| a | b |\n|-|-|\n" + "| 1 | 2 |\n" * 20 + "\nafter\n"
    assert "<table>" not in render_markdown(text)
    assert_streams_like_whole(text, range(len(text)))


@pytest.mark.formulas
def test_formulas_of_a_text_with_too_many_formulas_are_shown_as_typed() -> None:
    few, many = "$x$ and \\(y\\)\n\n" * 250, "$x$ and \\(y\\)\n\n" * 251
    assert render_markdown(few).count("<math") == 500
    assert render_markdown(many) == "<p>$x$ and (y)</p>\n" * 251
    assert_streams_like_whole(many, range(0, len(many), 700))
    environments = "\\begin{align}x\\end{align}\n\n" * 501
    assert "<math" not in render_markdown(environments)
    assert_streams_like_whole(environments, range(0, len(environments), 701))


def test_line_that_fills_a_document_and_reopens_a_block_streams_like_the_whole_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_limits(monkeypatch, document_chars=40, cells=30)
    # In the piece that fills the document, the second line turns `[1]:` into a definition, which closes no block.
    assert_streams_like_whole("one\n[two](http://x.example)\n\n[1]: \nf:\n\nfive", [36])


@pytest.mark.parametrize("name", ["commonmark", "gfm"])
def test_examples_of_the_specification_streamed_by_character_equal_the_whole_rendering(name: str) -> None:
    for example in load_examples(name):
        assert_streams_like_whole(example.markdown, range(len(example.markdown)))


@pytest.mark.drill
def test_joined_examples_streamed_in_random_pieces_equal_the_text_rendered_at_once() -> None:
    random = Random(20261120)
    examples = [example.markdown for name in ("commonmark", "gfm") for example in load_examples(name)]
    for _ in range(1500):
        text = random.choice(["", "\n", "\n\n"]).join(random.choices(examples, k=random.randint(1, 5)))
        text = text.replace("\n", random.choices(["\n", "\r\n", "\r"], weights=[8, 1, 1])[0])
        assert_streams_like_whole(text, [random.randrange(len(text) + 1) for _ in range(random.randint(1, 10))])
        assert render_markdown(text) == make_safe_html(parse_markdown(text), open_source=text)


@pytest.mark.parametrize(
    "text",
    [
        "a [x]\n\nb\n\n[x]: /u\n\nc",
        "a [x]\n\nb\n\n> [x]:\n> /u\n\nc\n",
        "a [x]\n\nb\n\n- 1. [x]: /u 'ti\n  tle'\n",
        "[x]: /u\n\n[x]\n\nb\n\n[x]: /other\n",
        "a\n\nb\n===\n\nc\n---\n",
        "- a\n- b\n\n- c\n\n\nd\n",
        "- a\n\n  b\n\n      code\n\nc\n",
        "> a\nlazy\n\n> b\n",
        "| a | b |\n| - | - |\n| 1 | 2 |\nrow\n\nend\n",
        "text\n    a | b\n- | -\nc\n",
        "text\n2. a | b\n- | -\nc\n",
        "    code\n\n\n    more\n\n\nend",
        "<!-- open\n\n# not a heading\n\n--> b\n\nc\n",
        "$$\na\n\nb\n$$\n\nc\n",
        "a  \n\nb\\\n\nc  ",
        "---\ntitle: x\n---\n\ntext[^1]\n\n[^1]: note\n",
        "a[^1]\n\nb[^2]\n\n[^2]: two\n\nc[^1]\n\n[^1]: one\n\n    more\n\n# d\n\ne\n",
        "a\n\n\\[\nx\n+ y\n\\]\n\n- b\n\nc $x$ costs $5\n\nd $6\n\ne",
        "- a\n  $$\n  x\n  - y\n  $$\n- b\n\n> $$\n> # z\n> $$\n\nc\n",
        "so \\[\nx\n+ y\n\\] a\n\n\\begin{align}\n- a &= b\n\n= c &= d\n\\end{align}\n- e $$\n- f\n",
        "- ```\n  a \\[\n- b\n\n    \\begin{cases}\n---\n|-|-|\n> ```\\begin{tabular}\n\\\\===\nc\n",
        "| `a|b` | $|x|$ |\n|-|-|\n| $a | 5$ |\n\n见https://e.example，www.e.example。\n",
        "a\n\n\ufeff# b\n\n\ufeff- c\n\nd\n",
    ],
)
def test_difficult_block_borders_streamed_by_character_equal_the_whole_rendering(text: str) -> None:
    for variant in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        assert_streams_like_whole(variant, range(len(variant)))


def test_each_completed_block_is_sent_once() -> None:
    markdown = MarkdownStream()
    closed_html: list[str] = []
    for line in ["# A\n", "\n", "one\n", "two\n", "\n", "- x\n", "- y\n", "\n", "end", ".\n"]:
        markdown.append(line)
        update = markdown.update()
        assert not update.is_reset
        closed_html.append(update.closed_html)
    assert closed_html == [
        "",
        "",
        "<h3>A</h3>\n",
        "",
        "",
        "<p>one\ntwo</p>\n",
        *[""] * 3,
        "<ul>\n<li>x</li>\n<li>y</li>\n</ul>\n",
    ]
    assert update.tail_html == "<p>end.</p>\n"


def test_link_definition_that_arrives_later_renders_earlier_blocks_again() -> None:
    markdown = MarkdownStream()
    markdown.append("see [1]\n\nand\n\nmore\n")
    assert "<a" not in markdown.update().closed_html
    markdown.append("\n[1]: https://e.example\n")
    update = markdown.update()
    assert update.is_reset
    assert 'href="https://e.example"' in update.closed_html


def test_link_definition_that_no_text_uses_sends_no_earlier_block_again() -> None:
    markdown = MarkdownStream()
    markdown.append("one\n\ntwo\n\nthree\n")
    markdown.update()
    markdown.append("\n[1]: https://e.example\n\nfour\n")
    update = markdown.update()
    assert (update.is_reset, update.closed_html) == (False, "<p>three</p>\n")


def test_update_without_new_text_closes_no_block_and_keeps_the_tail() -> None:
    markdown = MarkdownStream()
    markdown.append("one\n\ntwo")
    first, second = markdown.update(), markdown.update()
    assert (second.is_reset, second.closed_html, second.tail_html) == (False, "", first.tail_html)


def test_very_long_fenced_block_is_split_and_continues_as_code() -> None:
    text = "```python\n" + "x = [1, 2]: foo\n" * 10_000 + "```\n\nend\n"
    closed_html, tail_html = split_markdown(text)
    html = closed_html + tail_html
    # The first 64 KB, and 12 KB each.
    assert html.count("<pre") == 9
    assert html.count("x = [1, 2]: foo") == 10_000
    assert tail_html == "<p>end</p>\n"
    assert_streams_like_whole(text, range(0, len(text), 16_000))


def test_very_long_table_is_split_and_repeats_its_header() -> None:
    row = "| " + "cell " * 20 + "| b |\n"
    html = render_markdown("| h1 | h2 |\n|---|---|\n" + row * 1000)
    assert html.count(">h1</button></th>") == html.count("<table>") == 5
    assert html.count("<td>b</td>") == 1000


def test_very_long_list_is_split_between_its_items() -> None:
    html = render_markdown("- item\n  - inner\n" * 8000)
    assert html.count("<li>") == 16_000
    assert "<pre" not in html
