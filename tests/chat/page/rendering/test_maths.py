"""LaTeX as MathML: SymPy's output, formulas that cannot be converted, safety, and bounded work."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.rendering.maths import LIMIT_CHARS, render_formula, render_latex, single_formula
from tests.cases import case
from tests.chat.page.rendering.mathml import MATHML_TAGS, assert_mathml_attributes
from tests.chat.page.rendering.test_safety import EXFILTRATION, SCRIPTS
from tests.display_bundles import MATRIX_LATEX
from tests.parsed_html import ParsedHtml
from tests.time_growth import GROWTH_LIMIT, time_growth

pytestmark = pytest.mark.formulas

KATEX = Path(__file__).with_name("katex.tsv")
"""A sample of each function, sign and environment of KaTeX 0.19.1: LaTeX, the characters that are drawn, and the
numbers of elements that give the shape, or the word `source`. Characters and numbers are those of KaTeX's own MathML.
Where Temml writes the same sign or shape otherwise (`‖` for `∥`), they are Temml's, and the formula was looked at.
"""


def formula(latex: str) -> str:
    """Return the MathML of a formula that stands alone, without the `math` element."""
    html = render_formula(latex, is_block=True)
    assert html is not None
    match = re.fullmatch(r'<math display="block" alttext="[^"]*">(.*)</math>', html, re.DOTALL)
    assert match
    return match[1]


def assert_only_mathml(html: str) -> None:
    """Check that HTML consists of text and of allowed elements of MathML."""
    parsed = ParsedHtml(html)
    assert not parsed.non_elements
    for element in parsed.elements:
        assert element.tag in MATHML_TAGS
        assert_mathml_attributes(element.attributes)


def test_latex_that_sympy_prints_becomes_mathml() -> None:
    html = render_latex(MATRIX_LATEX)
    assert html is not None
    assert re.sub(' alttext="[^"]*"', "", html).startswith(
        '<math display="block"><mstyle scriptlevel="0" displaystyle="true">'
    )
    assert html.count("<mtr>") == 2
    assert html.count("<msqrt>") == 1
    assert_only_mathml(html)


@pytest.mark.parametrize(
    "text",
    [
        r"$\displaystyle \int\limits_{0}^{\infty} e^{- x^{2}}\, dx$",
        r"$\displaystyle \begin{cases} x & \text{for}\: x > 0 \\0 & \text{otherwise} \end{cases}$",
        r"$\displaystyle \left. \frac{d}{d \xi} f{\left(\xi \right)} \right|_{\substack{ \xi=0 }}$",
        r"$\displaystyle \left\{ - \sqrt{2}, \sqrt{2}\right\}$",
        r"$\displaystyle x \in \mathbb{R} \setminus \mathcal{L} \wedge \neg y$",
        "$$x$$",
        r"\[ x \]",
        r"\begin{align*}a &= b\\c &= d\end{align*}",
        r"The root $\sqrt{2}$ is \(\approx 1.41\).",
    ],
)
def test_common_forms_of_latex_are_converted_to_mathml(text: str) -> None:
    html = render_latex(text)
    assert html is not None
    assert_only_mathml(html)


def test_formulas_inside_text_are_inline_and_the_text_is_escaped() -> None:
    html = render_latex("a < b: $x$")
    assert html == 'a &lt; b: <math alttext="x"><mi>x</mi></math>'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no formula",
        r"\textbf{bold} and $x$",
        "$x$ and $",
        r"$\unknowncommand{x}$",
        r"$\frac{1}$",
        r"$\left( x$",
        r"$\newcommand{\a}{\b}\a$",
        r"$\def\a{\a\a}\a$",
        r"$\DeclareMathOperator{\a}{b}$",
        "$" + "x" * LIMIT_CHARS + "$",
        r"\begin{tabular}{l}a\end{tabular}",
        r"$\hspace{1000em}x$",
        r"$\color{url(x)}{x}$",
        r"$\begin{unknown}a\end{unknown}$",
        r"$\not\varSigma$",
        r"$\eqref{a}$",
        r"$\pu{m//m//m//m//m//m//m//m}$",
        r"$\ce{" + "H2O + " * 60 + "}$",
        r"$\smash{\rule{9em}{9em}}$",
        r"$\raisebox{9em}{x}$",
        r"$\set{}_{1}$",
        r"$\char'FFFF0001$",
        "$\ud83d$",
    ],
)
def test_latex_that_is_invalid_or_not_supported_is_not_converted(text: str) -> None:
    assert render_latex(text) is None


def test_latex_is_returned_if_a_text_consists_of_exactly_one_formula() -> None:
    assert single_formula(" $$x$$ ") == "x"
    assert single_formula(r"\begin{align}a\end{align}") == r"\begin{align}a\end{align}"
    assert single_formula("$x$ and $y$") == ""


@pytest.mark.parametrize(
    ("latex", "mathml"),
    [
        ("a=-x", '<mrow><mi>a</mi><mo>=</mo><mo form="prefix" stretchy="false">−</mo><mi>x</mi></mrow>'),
        (r"\mathbf{xy}", "<mrow><mi>𝐱</mi><mi>𝐲</mi></mrow>"),
        (r"\mathop{ab}", "<mrow><mi>a</mi><mi>b</mi></mrow>"),
        (r"\text{a<b}", "<mtext>a&lt;b</mtext>"),
        (r"\text{my_name}", "<mtext>my_name</mtext>"),
        ("5 % #", "<mrow><mn>5</mn><mi>%</mi><mi>#</mi></mrow>"),
        (r"\color{red}{x}", '<mrow><mi mathcolor="#ff0000">x</mi></mrow>'),
        (r"\textcolor{#f00}{x}", '<mrow><mi mathcolor="#f00">x</mi></mrow>'),
        (r"\rule{1em}{2em}", '<mspace width="1em" height="2em" class="ink"></mspace>'),
        (r"\boxed{x}", '<mrow class="boxed"><mi>x</mi></mrow>'),
        (r"\overline{x}", '<mrow class="overlined"><mi>x</mi></mrow>'),
        (r"\xcancel{x}", '<mrow class="struck-up struck-down"><mi>x</mi></mrow>'),
        (r"\cancel{x}", '<mrow class="struck-up"><mi>x</mi></mrow>'),
        (r"a\!b", "<mrow><mi>a</mi><mrow></mrow><mi>b</mi></mrow>"),
        (
            r"\begin{array}{r|c}a&b\\\hline\end{array}",
            '<mtable><mtr><mtd columnalign="right" class="solid-bottom left-0 right-5 solid-right"><mi>a</mi></mtd>'
            '<mtd class="solid-bottom left-5 right-0"><mi>b</mi></mtd></mtr></mtable>',
        ),
    ],
)
def test_latex_constructs_are_converted_to_the_expected_mathml(latex: str, mathml: str) -> None:
    assert formula(latex) == mathml


@pytest.mark.parametrize(
    ("latex", "rows"),
    [
        (r"\begin{align} a &= b \\ c &= d \\ &= e \end{align}", ["a=b", "c=d", "=e"]),
        (r"\begin{flalign*} a &= b & c &= d \\ e &= f \end{flalign*}", ["a=bc=d", "e=f"]),
        (r"\begin{eqnarray} a &=& b \\ c &=& d \nonumber \end{eqnarray}", ["a=b", "c=d"]),
        (r"\begin{multline} a \\ + b \end{multline}", ["a", "+b"]),
        (r"\begin{alignat}{2} a &= b &\quad c &= d \\ e &= f & g &= h \end{alignat}", ["a=bc=d", "e=fg=h"]),
        (r"\begin{equation} \begin{split} a &= b \\ &= c \end{split} \end{equation}", ["a=b=c", "a=b", "=c"]),
        (r"\begin{aligned}[t] a &= b \\[1em] &= c \end{aligned}", ["a=b", "=c"]),
        (r"f = \begin{dcases} a & \text{if } b \\ c & d \end{dcases}", ["aif b", "cd"]),
        (r"a \\ b \\", ["a", "b"]),
        (r"a &= b \\ &= c", ["a=b", "=c"]),
    ],
)
def test_formula_of_several_rows_is_converted_with_all_its_rows(latex: str, rows: list[str]) -> None:
    root = ElementTree.fromstring(str(render_formula(latex, is_block=True)).replace("&nbsp;", " "))
    shown = ["".join(row.itertext()) for row in root.iter("mtr")]
    assert [row.replace("\u2061", "").strip() for row in shown] == rows


def test_each_katex_sample_is_converted_as_recorded_or_shown_as_source() -> None:
    drawn = 0
    for line in KATEX.read_text().splitlines():
        latex, characters, shape = line.split("\t")
        html = render_formula(latex, is_block=True)
        assert (html is None) == (shape == "source"), latex
        if html is not None:
            assert seen(str(html)) == (characters, shape), latex
            drawn += 1
    assert drawn == 1123


def seen(html: str) -> tuple[str, str]:
    """Return the characters of a formula without spaces, and the numbers of the elements that give its shape."""
    root = ElementTree.fromstring(html.replace("&nbsp;", " "))
    characters = unicodedata.normalize("NFKC", "".join(root.itertext()))
    for same, sign in {"−": "-", "∣": "|", "⋅": "·", "′": "'"}.items():
        characters = characters.replace(same, sign)
    counts = Counter(element.tag for element in root.iter() if element.tag in SHAPES)
    return re.sub(r"[\s\u2061-\u2064\u200b\ufe00-\ufe0f]+", "", characters), " ".join(
        f"{tag}={counts[tag]}" for tag in sorted(counts)
    )


SHAPES = {"mtr", "mtd", "msqrt", "mroot", "mfrac"}


def test_limit_of_an_operator_in_an_inline_formula_is_a_subscript() -> None:
    assert "<msub><mi>lim</mi>" in str(render_formula(r"\lim_{x}", is_block=False))


def test_attack_inside_a_formula_gives_only_mathml() -> None:
    forms = [
        "${}$",
        r"$\text{{{}}}$",
        "$$x {} y$$",
        r"$\mathrm{{{}}}$",
        r"$\color{{{}}}{{x}}$",
        "{} $x$",
        "$\\verb|{}|$",
    ]
    forms += [
        r"$\href{{{}}}{{x}}$",
        r"$\style{{{}}}{{x}}$",
        r"$\class{{{}}}{{x}}$",
        r"$\unicode{{{}}}$",
        r"$\hspace{{{}}}$",
    ]
    for payload in SCRIPTS + EXFILTRATION:
        for form in forms:
            with case((payload, form)):
                html = render_latex(form.format(payload))
                if html is not None:
                    assert_only_mathml(html)


TOKENS = [
    *(line.partition("\t")[0] for line in KATEX.read_text().splitlines()),
    *r"{}[]()^_&'|<>$%#~ x1.,é😀",
    r"\\",
    r"\begin{matrix}",
    r"\end{matrix}",
    r"\ce{",
    "{x}",
]


@given(st.lists(st.sampled_from(TOKENS), max_size=25).map("".join))
def test_any_latex_gives_mathml_or_nothing(latex: str) -> None:
    for is_block in (False, True):
        html = render_formula(latex, is_block=is_block)
        if html is not None:
            assert_only_mathml(html)


@pytest.mark.parametrize(
    "latex",
    [
        "{" * 101 + "}" * 101,
        r"\left(" * 101 + r"\right)" * 101,
        r"\frac{" * 400 + "x",
        r"\frac" * 590 + "1",
        r"\sqrt" * 590 + "1",
        r"x^{" * 700,
        r"\begin{matrix}" * 200,
    ],
)
def test_formula_that_is_nested_too_deep_is_not_converted(latex: str) -> None:
    assert len(latex) <= LIMIT_CHARS
    assert render_formula(latex, is_block=True) is None


def test_source_of_a_formula_is_its_alternative_text() -> None:
    assert '<math alttext="a&lt;&quot;b&quot;">' in str(render_formula('a<"b"', is_block=False)).replace("<b", "&lt;b")


# Nesting ends in an error after a few milliseconds, whatever its length, so growth is measured only for flat input.
@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "a&",
        r"\\",
        "x^x_x ",
        r"\text{",
        r"\frac{1}{2}",
        r"\left(x\right)",
        "'",
        "$",
        "#",
        "<",
        r"\LaTeX",
        "{",
        "^",
        "\\\\[",
    ],
)
def test_time_to_convert_hostile_formulas_is_limited(unit: str) -> None:
    def render(length: int) -> object:
        render_formula.cache_clear()
        return render_formula(unit * (length // len(unit)), is_block=True)

    assert time_growth(render, LIMIT_CHARS) < GROWTH_LIMIT


def test_html_of_a_formula_is_equal_in_all_processes() -> None:
    code = (
        "from chat.page.rendering.maths import render_latex\n"
        "from tests.display_bundles import MATRIX_LATEX\n"
        "print(ascii(render_latex(MATRIX_LATEX)))"
    )
    outputs = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(3)}
    assert outputs == {(ascii(render_latex(MATRIX_LATEX)) + "\n").encode()}
