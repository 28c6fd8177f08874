r"""Which text in Markdown is a formula, and which is money or brackets."""

from __future__ import annotations

import re

import pytest

from chat.page.rendering.formula_source import mask_source
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.maths import render_formula
from chat.page.rendering.stream import MarkdownStream
from tests.parsed_html import ParsedHtml
from tests.time_growth import GROWTH_LIMIT, time_growth

pytestmark = pytest.mark.formulas


def formulas(text: str) -> list[str]:
    """Return the LaTeX of all formulas in a text. Formulas on separate lines get a `!` before them."""
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
        (r"$\{a\}\,\%$ and \[ (b \\] c) = \#d \] and \( (e \\) f \)", [
            r"\{a\}\,\%", r"!(b \\] c) = \#d", r"(e \\) f"]),
    ],
)  # fmt: skip
def test_formulas_are_found_between_all_delimiters(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


FORMULAS = r"""
$-2$ | $5$ | $5 \times 3$ | $\alpha$-test | $n$th | $p$-value | $k$NN | 5$\times$3 kernel | $\approx$5
H$_2$O and CO$_2$
当$x$为实数，$y$为虚数时 | 设$f(x)$是$n$次多项式，$x>0$时$y<0$ | “$x$”、（$y$）
約$5$個 | 값은 $x$입니다 | $v = 路程 / 时间$ | $a，b$ | $x$/$y$, $x$-$y$ and $x$=$y$
$[0, 1)$ | $]0, 1[$ | $(x, y)$ | $||x||$ and $|y| + |z|$ | $P(A|B)$ | ${x}^2$ and ${}^{14}C$ | $PV = nRT$ | $ABC$
$f'(x)$ | $x!$ | $10 < x < 20$ | $1,000,000$ | $+$ and $-$ | $1, 2, 3$ | $f(5)$ | $sin x$ | 10$^{\circ}$C | $*$
$velocity = distance / time$ | $p \land q$ | $2n + 1$ | **$x$** | $f: A \to B$ | $max(a, b)$ | $|\psi\rangle$
"""

TEXTS = r"""
Use $HOME and ${PATH}. It costs 100$ in all.
Set $A, ${B} and pay 5$.
5$/h und 6$/h
5$, 6$, 7$
5$-10$
20$-bill, 30$-bill
$1,000.50 – $2,000
R$ 5
R$5 e 6 R$
US$5/CA$7
HK$100、NT$200
价格$5，另一个6$
价格是$5到6$
约5$和6$
5$，6$
$HOME和${PATH}
$5 (about 4.50€) or 6$
$5/month, or 50$/year
$100k+/yr or 90k$/yr
with /^a$/ or /b$/
@$ref, %$hash
$HOME/bin:$PATH
$USER@$HOST
$DIR/file.$EXT
$FOO$BAR
${a}${b}
${a}-${b}
${HOME}/bin:$PATH
costs ${price}$ or so
$HOME: 5$
$MY_VAR and 5$
$user_name or 5$
pay $A or 5$
$(date) and $(whoami)
$(pwd) and 5$
$(CC)$(X)
$('#id').hide() and $('.x').show()
$('#a'),$('#b')
$(a).b($(c))
$x = 5; echo $y;
$a->b($c)
$arr[$i]
foreach ($arr as $k=>$v)
$_GET['x'].$_POST['y']
"$name","$age"
v$session and v$process
inner$class$name
$A$1:$B$10
$A1+$B1
^abc$ and ^def$
foo$, bar$
pass $@, get 5$
${{ secrets.A }}-${{ secrets.B }}
$AAPL/$TSLA
Cafe A ($$) and Cafe B ($$$)
$$50 und $$60
sed 's/a$/b$/'
($$), ($$)
"""


def test_every_formula_in_the_list_of_examples_is_found() -> None:
    for text in (text for line in FORMULAS.strip().splitlines() for text in line.split(" | ")):
        assert len(formulas(text)) == text.count("$") // 2, text


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS.strip().splitlines(),
        "Cafe A ($$)\nCafe B ($$)",
        "Hotel: $$\nGrill: $$",
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
        "5 $ or 6 $ c",
        "$($x.Name) and $null",
        "from $80k, EV/$ ratio",
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


def test_markdown_next_to_an_amount_in_dollars_is_rendered() -> None:
    assert "<strong>bold</strong> x$ and <math" in render_markdown("$5 and **bold** x$ and $y$")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\[1, 2\]", "[1, 2]"),
        (r"see \[1\] and \[citation needed\]", "see [1] and [citation needed]"),
        (r"\[link\](https://e.example)", "[link](https://e.example)"),
        (r"\(see the notes\)", "(see the notes)"),
        (r"list\[i\], dp\[i+1\]\[j\], f(x)\[a\]", "list[i], dp[i+1][j], f(x)[a]"),
        (r"\$x$ and \(", "$x$ and ("),
        (r"`\[1\] $5$ \(a\)`", r"\[1\] $5$ \(a\)"),
    ],
)
def test_escaped_brackets_and_code_are_not_formulas(text: str, shown: str) -> None:
    assert formulas(text) == []
    assert ParsedHtml(render_markdown(text)).text == f"{shown}\n"


def test_dollars_and_backslashes_in_code_are_unchanged() -> None:
    code = "echo $a $5 is $b\n\\[\n- x\n\\]\n\n$$\n+ y\n"
    html = render_markdown(f"```text\n{code}```\n\n- z\n")
    assert f"<code>{code}</code>" in html
    assert "<li>z</li>" in html


@pytest.mark.parametrize("character", "⸸⹏᳓꧁߾")
def test_text_with_the_characters_that_mask_formulas_internally_is_unchanged(character: str) -> None:
    text = f"{character}1{character} costs $5, or $6 and x$"
    assert ParsedHtml(render_markdown(text)).text == f"{text}\n"
    assert mask_source("⸸⹏᳓꧁߾ $5 or $6").text == "⸸⹏᳓꧁߾ $5 or $6"


def test_link_address_with_dollar_signs_is_unchanged() -> None:
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


def test_fenced_formula_that_cannot_be_converted_is_shown_as_a_code_block() -> None:
    assert "<span>math</span>" in render_markdown("```math\n\\unknown\n```\n")


def test_formula_received_in_pieces_hides_no_text_and_is_never_shown_as_a_list() -> None:
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
    [
        "$",
        "$x$ ",
        "$5 ",
        r"\[",
        r"\[1\] ",
        r"\(",
        "\\[\n- ",
        "$$\n",
        "$$ a b $$",
        "$a\n",
        r"\\",
        "- - ",
        "{$",
        "[^1] ",
        "`",
        "``a` ",
        "`a|b` ",
        "|$",
        "$A:",
        "www.",
        "中www.a",
        "https://a.example，",
        "\\]\\[\n",
        "x $$\na\n",
        "\\end{align}",
        "\\begin{align}",
        "\\begin{align}\n",
        "\\begin{align}\n&\n\n",
        "\\begin{tabular}\\{",
        "$\\begin{align}\n",
    ],
)
def test_time_to_find_formulas_grows_linearly_with_the_text(unit: str) -> None:
    def render(length: int) -> object:
        render_formula.cache_clear()
        return render_markdown(unit * (length // len(unit)))

    assert time_growth(render, 16_000) < GROWTH_LIMIT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is \\[\nR = \\{t\\} \\\\\n- x\n\\] where \\(t\\) is", ["!R = \\{t\\} \\\\\n- x", "t"]),
        ("a \\[ x = 1\n+ 2 \\] b", ["!x = 1\n+ 2"]),
        ("* In a list: \\[\n  a^2\n  + b\n  \\]\n* so $$\n  c\n  - d\n  $$ and $x$", ["!a^2\n+ b", "!c\n- d", "x"]),
        ("> text \\[\n> x\n> + y\n> \\] more \\[\n> z\n> \\]", ["!x\n+ y", "!z"]),
        ("\\[\n\nx = 1\n\n\\]", ["!x = 1"]),
        ("$f = \\begin{cases} 1 & a \\\\\n- 1 & b \\end{cases}$ and $y$", [
            "f = \\begin{cases} 1 & a \\\\ - 1 & b \\end{cases}", "y"]),
        ("so \\(\nx\n\\) is", ["x"]),
    ],
)  # fmt: skip
def test_formula_of_several_lines_may_begin_and_end_within_a_line_of_text(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is\n\n\\begin{align}\na &= \\{b\\} \\\\\n- c &= d\n\\end{align}\n\nso", [
            "!\\begin{align}\na &= \\{b\\} \\\\\n- c &= d\n\\end{align}"]),
        ("before\n\\begin{gather*}\nx \\\\\n= y\n\\end{gather*}\n*after* $z$", [
            "!\\begin{gather*}\nx \\\\\n= y\n\\end{gather*}", "z"]),
        ("A \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix} b $x$, \\begin{cases} c \\\\ d \\end{cases}", [
            "!\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "x", "!\\begin{cases} c \\\\ d \\end{cases}"]),
        ("- a\n\n  \\begin{equation}\n  x\n  + y\n  \\end{equation}\n- b", [
            "!\\begin{equation}\nx\n+ y\n\\end{equation}"]),
        ("> \\begin{align}\n> a &= b \\\\\n>\n> c &= d\n> \\end{align}", [
            "!\\begin{align}\na &= b \\\\\n\nc &= d\n\\end{align}"]),
        ("\\begin{align}\n\\begin{aligned} a \\\\ b \\end{aligned} \\\\\n\n= c\n\\end{align}\n# H", [
            "!\\begin{align}\n\\begin{aligned} a \\\\ b \\end{aligned} \\\\\n\n= c\n\\end{align}"]),
        ("$$\\begin{align}\na \\\\ b\n\\end{align}$$ x", ["!\\begin{align}\na \\\\ b\n\\end{align}"]),
        ("costs $5 and \\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", ["!\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}"]),
    ],
)  # fmt: skip
def test_latex_environment_is_a_formula_even_without_dollar_signs(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```latex\n\\begin{align}\na &= b \\\\\n\n+ c\n\\end{align}\n```",
        "    \\begin{align}\n    a &= b \\\\\n\n    \\end{align}",
        "`\\begin{align} a \\\\ \\end{align}`",
        "\\begin{itemize}\n\\item 50\\% \\\\ \\& \\_ \\{\n\\item \\[1\\] \\* x\\\n\\end{itemize}",
        "\\begin{tabular}{ll}\n$a$ & b \\\\ \\hline\n\\end{tabular}",
        "Use \\begin{align} and \\end{align} to align. Use \\begin{align} to start.",
        "\\begin{align}\na &= \\{b\\} \\\\\n*c*",
        "- \\begin{align}\n  a &= \\{b\\} \\\\\n- \\begin{gather} x \\\\",
        "\\begin{align}\na &= \\{b\\} \\\\\n\nThen we go on with the text",
    ],
)
def test_latex_environment_that_is_not_a_formula_is_shown_with_its_whole_text(text: str) -> None:
    assert formulas(text) == []
    shown = ParsedHtml(re.sub(r'<div class="code-head">.*?</div>', "", render_markdown(text))).text
    assert shown.split() == re.sub(r"(?m)^- |^```\w*|^`|`$", "", text).split()


def test_latex_environment_that_cannot_be_converted_is_shown_as_code_with_all_its_lines() -> None:
    text = "\\begin{tabular}{ll}\na & b \\\\\n- c & $d$ \\\\\n\\end{tabular}"
    assert ParsedHtml(render_markdown(text)).only("code").text == text


def test_prices_in_a_list_begin_no_formula() -> None:
    assert render_markdown("- Bar: $$\n- Grill: $$$\n- Inn: $$\n").count("<li>") == 3


def rows(text: str) -> list[list[str]]:
    """Return the texts of a table's cells, with formulas as LaTeX."""
    html = re.sub(r'<math[^<>]* alttext="([^"]*)".*?</math>', r"\1", render_markdown(text), flags=re.DOTALL)
    return [re.findall(r"<t[dh][^<>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL)]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| $P(A|B) = \\frac{P(B|A)}{P(B)}$ | b |", ["P(A|B) = \\frac{P(B|A)}{P(B)}", "b"]),
        ("| $|x|$ | $||y||$ |", ["|x|", "||y||"]),
        ("| `cat a | wc` | ``b ` || c`` |", ["<code>cat a | wc</code>", "<code>b ` || c</code>"]),
        ("| `a \\| b` | $\\|v\\|$ |", ["<code>a | b</code>", "|v|"]),
        ("| $|\\psi\\rangle$ | $\\langle a|b\\rangle$ |", ["|\\psi\\rangle", "\\langle a|b\\rangle"]),
        ("| $p(x | y)$ | \\(|z|\\) |", ["p(x | y)", "|z|"]),
        ("| $HOME | 5$ |", ["$HOME", "5$"]),
        ("|$x|of $y|", ["$x", "of $y"]),
        ("| $|$ | $2|x|$ |", ["|", "2|x|"]),
        ("|$A|$B|", ["$A", "$B"]),
        ("|5$|6$|", ["5$", "6$"]),
        ("| `a | b |", ["`a", "b"]),
    ],
)
def test_pipe_in_a_formula_or_in_code_does_not_end_a_cell(row: str, cells: list[str]) -> None:
    assert rows(f"| a | b |\n|---|---|\n{row}\n")[1] == cells
    assert rows(f"- | a | b |\n  |---|---|\n  {row}\n\n> {row}\n> |---|---|\n")[1] == cells


def test_pipes_in_formulas_of_a_table_header_and_in_text_outside_tables_are_kept() -> None:
    assert len(rows("| $|x|$ | `a|b` |\n|---|---|\n| 1 | 2 |\n")) == 2
    assert ParsedHtml(render_markdown("so `a | b` or **c | d**")).text == "so a | b or c | d\n"
