r"""What is a formula in Markdown, and what is money or brackets."""

from __future__ import annotations

import pytest

from chat.page.rendering.formula_source import mask_source
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.maths import render_formula
from chat.page.rendering.stream import MarkdownStream
from tests.parsed_html import ParsedHtml
from tests.time_growth import GROWTH_LIMIT, time_growth


def formulas(text: str) -> list[str]:
    """Return the LaTeX of all formulas in a text; those that stand in a line of their own begin with a `!`."""
    formulas = ParsedHtml(render_markdown(text)).find_all("math")
    return [("!" if "display" in formula else "") + formula["alttext"] for formula in formulas]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"a $x^2$ b \(y\) c $$z$$ d \[w = 1\] e", ["x^2", "y", "!z", "!w = 1"]),
        ("$a_1*b*c_2$", ["a_1*b*c_2"]),
        ("the $n$th of $2n$, and $3x + 2y = 5$", ["n", "2n", "3x + 2y = 5"]),
        (r"$5\text{ km per hour}$ and $0.5 \cdot 10^3$ and $2 \sin x$", [
            r"5\text{ km per hour}", r"0.5 \cdot 10^3", r"2 \sin x"]),
        (r"\(1, 2\) and \(n\)", ["1, 2", "n"]),
        ("| $a$ | b |\n|---|---|\n| $x^2$ | $5 |\n", ["a", "x^2"]),
        ("# On $x$\n\n- $y$\n\n> $z$", ["x", "y", "z"]),
        ("```math\nx^2\n```", ["!x^2"]),
        ("$$\na\n- b\n+ c\n=\n# d\n$$\n\n- e", ["!a\n- b\n+ c\n=\n# d"]),
        ("1. a\n   \\[\n   x\n   + y\n   \\]\n2. b $z$", ["!x\n+ y", "z"]),
        ("so $x$, which costs $5, or $y$", ["x", "y"]),
        ("`$a` is $x$ and `b$`", ["x"]),
    ],
)  # fmt: skip
def test_formulas_are_found_between_all_delimiters(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10",
        "$5, $6 and x$",
        "$10, cost is $7 total: a$b",
        "from $5-$6, or US$7 to US$8",
        "it cost $5",
        "5$ and 6$",
        "between $5 and 10$ a day",
        "$5k to 6k$",
        "$USD and AU$",
        "Restaurants: $$ to $$$, or $$$$",
        "cheap and good: $$ here and there $$",
        "$5 in the first line\nand x$ in the second",
        "export $HOME and $PATH",
        "a $ b $ c",
        "$",
    ],
)
def test_money_is_not_a_formula(text: str) -> None:
    assert formulas(text) == []
    assert ParsedHtml(render_markdown(text)).text == f"{text}\n"


def test_prices_in_tables_are_not_formulas() -> None:
    text = "| a | b |\n|---|---|\n| $5 | $6 |\n|$7|$8|\n| from $9 to 10$ | 11$ |\n"
    assert formulas(text) == []
    assert render_markdown(text).count("$") == 7


def test_markdown_beside_money_is_rendered() -> None:
    assert "<strong>bold</strong> x$ and <math" in render_markdown("$5 and **bold** x$ and $y$")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\[1, 2\]", "[1, 2]"),
        (r"see \[1\] and \[citation needed\]", "see [1] and [citation needed]"),
        (r"\[link\](https://e.example)", "[link](https://e.example)"),
        (r"\(see the notes\)", "(see the notes)"),
        (r"\$x$ and \(", "$x$ and ("),
        (r"`\[1\] $5$ \(a\)`", r"\[1\] $5$ \(a\)"),
    ],
)
def test_escaped_brackets_and_code_are_not_formulas(text: str, shown: str) -> None:
    assert formulas(text) == []
    assert ParsedHtml(render_markdown(text)).text == f"{shown}\n"


def test_code_keeps_its_dollars_and_backslashes() -> None:
    code = "echo $a $5 is $b\n\\[\n- x\n\\]\n\n$$\n+ y\n"
    html = render_markdown(f"```text\n{code}```\n\n- z\n")
    assert f"<code>{code}</code>" in html
    assert "<li>z</li>" in html


@pytest.mark.parametrize("character", "⸸⹏᳓꧁߾")
def test_text_with_the_characters_of_masks_stays_as_it_is(character: str) -> None:
    text = f"{character}1{character} costs $5, or $6 and x$"
    assert ParsedHtml(render_markdown(text)).text == f"{text}\n"
    assert mask_source("⸸⹏᳓꧁߾ $5 or $6").text == "⸸⹏᳓꧁߾ $5 or $6"


def test_address_with_a_dollar_is_kept() -> None:
    html = render_markdown("[a](https://e.example/$5?b=$6) costs x$")
    assert 'href="https://e.example/$5?b=$6"' in html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (r"$\unknown{x}$", r"<p><code>\unknown{x}</code></p>"),
        ("$$\n\\unknown{a<b}\n$$", r'<p><code class="formula-source">\unknown{a&lt;b}</code></p>'),
        ("$" + "{" * 101 + "}" * 101 + "$", "<p><code>" + "{" * 101 + "}" * 101 + "</code></p>"),
        ("$" + "x" * 3001 + "$", "<p><code>" + "x" * 3001 + "</code></p>"),
    ],
)
def test_formula_that_cannot_be_converted_is_shown_as_code(text: str, html: str) -> None:
    assert render_markdown(text) == f"{html}\n"


def test_fence_of_a_formula_that_cannot_be_converted_is_a_code_block() -> None:
    assert "<span>math</span>" in render_markdown("```math\n\\unknown\n```\n")


def test_formula_that_arrives_in_pieces_swallows_nothing_and_builds_no_other_block() -> None:
    text = "Before\n\n\\[\nx_1 = *a*\n- b\n+ c\n\\]\n\nAfter $x_1 + y_1$ it.\n"
    stream = MarkdownStream()
    closed = ""
    for character in text:
        stream.append(character)
        update = stream.update()
        closed += update.closed_html
        assert not update.is_reset
        assert "<li" not in closed + update.tail_html
    assert ParsedHtml(closed + update.tail_html).text.startswith("Before")
    assert "After <math" in update.tail_html


@pytest.mark.parametrize(
    "unit",
    ["$", "$x$ ", "$5 ", r"\[", r"\[1\] ", r"\(", "\\[\n- ", "$$\n", "$$ a b $$", "$a\n", r"\\", "- - ", "{$", "[^1] "],
)
def test_time_grows_with_the_length(unit: str) -> None:
    def render(length: int) -> object:
        render_formula.cache_clear()
        return render_markdown(unit * (length // len(unit)))

    assert time_growth(render, 16_000) < GROWTH_LIMIT
