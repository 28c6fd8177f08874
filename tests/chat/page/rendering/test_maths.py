"""LaTeX as MathML: SymPy's output, what cannot be converted, safety, and bounded work."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from latex2mathml import commands

from chat.page.rendering.maths import LIMIT_CHARS, render_formula, render_latex, single_formula
from tests.chat.page.rendering.mathml import MATHML_TAGS, assert_mathml_attributes
from tests.chat.page.rendering.test_safety import EXFILTRATION, SCRIPTS
from tests.display_bundles import MATRIX_LATEX
from tests.parsed_html import ParsedHtml
from tests.time_growth import GROWTH_LIMIT, time_growth


def formula(latex: str) -> str:
    """Return the MathML of a formula that stands alone, without the `math` element and its first row."""
    html = render_formula(latex, is_block=True)
    assert html is not None
    match = re.fullmatch(r'<math display="block" alttext="[^"]*"><mrow>(.*)</mrow></math>', html, re.DOTALL)
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
        '<math display="block"><mrow><mstyle displaystyle="true" scriptlevel="0">'
    )
    assert html.count("<mtr>") == 2
    assert "<msqrt><mrow><mn>2</mn></mrow></msqrt>" in html
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
def test_common_forms_are_converted(text: str) -> None:
    html = render_latex(text)
    assert html is not None
    assert_only_mathml(html)


def test_formulas_inside_text_are_inline_and_the_text_is_escaped() -> None:
    html = render_latex("a < b: $x$")
    assert html == 'a &lt; b: <math alttext="x"><mrow><mi>x</mi></mrow></math>'


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
    ],
)
def test_other_text_is_not_converted(text: str) -> None:
    assert render_latex(text) is None


def test_text_that_is_one_formula_gives_its_latex() -> None:
    assert single_formula(" $$x$$ ") == "x"
    assert single_formula(r"\begin{align}a\end{align}") == r"\begin{align}a\end{align}"
    assert single_formula("$x$ and $y$") == ""


@pytest.mark.parametrize(
    ("latex", "mathml"),
    [
        ("-x", "<mo>−</mo><mi>x</mi>"),
        ("a-x", "<mi>a</mi><mo>−</mo><mi>x</mi>"),
        ("a=-x", '<mi>a</mi><mo>=</mo><mo form="prefix">−</mo><mi>x</mi>'),
        (r"\mathrm{d}x", '<mi mathvariant="normal">d</mi><mi>x</mi>'),
        (r"\operatorname{asinh}x", "<mi>asinh</mi><mi>x</mi>"),
        (r"\lim_{x}", "<munder><mi>lim</mi><mrow><mi>x</mi></mrow></munder>"),
        (r"\mathbb{RQ}", "<mrow><mi>ℝ</mi><mi>ℚ</mi></mrow>"),
        (r"\mathbf{xy}", "<mrow><mi>𝐱</mi><mi>𝐲</mi></mrow>"),
        (r"\mathop{ab}", "<mrow><mrow><mi>a</mi><mi>b</mi></mrow></mrow>"),
        (r"\text{a<b}", "<mtext>a&lt;b</mtext>"),
        (r"\hspace{1000em}", "<mspace></mspace>"),
        (r"\color{red}{x}", '<mstyle mathcolor="red"><mrow><mi>x</mi></mrow></mstyle>'),
        (r"\color{url(x)}{x}", "<mstyle><mrow><mi>x</mi></mrow></mstyle>"),
    ],
)
def test_tree_is_adapted_to_what_browsers_show(latex: str, mathml: str) -> None:
    assert formula(latex) == mathml


def test_limits_of_an_inline_formula_stay_beside_the_name() -> None:
    assert "<msub><mi>lim</mi>" in str(render_formula(r"\lim_{x}", is_block=False))


@pytest.mark.parametrize("payload", SCRIPTS + EXFILTRATION)
def test_payload_gives_only_mathml(payload: str) -> None:
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
    for form in forms:
        html = render_latex(form.format(payload))
        if html is not None:
            assert_only_mathml(html)


NAMES = sorted({value for name, value in vars(commands).items() if name.isupper() and isinstance(value, str)})
TOKENS = [
    *NAMES,
    *commands.CONVERSION_MAP,
    *r"{}[]()^_&'|<>$%#~ x1.,",
    r"\\",
    r"\begin{matrix}",
    r"\end{matrix}",
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
def test_time_is_bounded(unit: str) -> None:
    def render(length: int) -> object:
        render_formula.cache_clear()
        return render_formula(unit * (length // len(unit)), is_block=True)

    assert time_growth(render, LIMIT_CHARS) < GROWTH_LIMIT


def test_html_is_equal_in_other_processes() -> None:
    code = (
        "from chat.page.rendering.maths import render_latex\n"
        "from tests.display_bundles import MATRIX_LATEX\n"
        "print(ascii(render_latex(MATRIX_LATEX)))"
    )
    outputs = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(3)}
    assert outputs == {(ascii(render_latex(MATRIX_LATEX)) + "\n").encode()}
