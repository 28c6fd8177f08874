"""Conversion of LaTeX formulas to MathML, which browsers show without a script.

Temml (`temml`) converts a formula, and `mathml` keeps what pages may show. A formula that one of them does not support
is not converted: pages show its source. The sanitizer runs last.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.etree.ElementTree import Element, tostring

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString

from chat.page.rendering.mathml import CLASSES, MATHML_ATTRIBUTES, UnknownFormula, adapt_mathml
from chat.page.rendering.temml import convert_formula

LIMIT_CHARS = 3_000
"""Maximum length of formulas and texts that are converted, which takes 13 to 50 µs per character."""
DEPTH_LIMIT = 100
"""Maximum depth of nesting. Deeper formulas are not converted: the converter and the sanitizer are recursive."""
FORMULAS_LIMIT = 50
"""Maximum number of formulas in one LaTeX text."""

CHEMISTRY_LIMIT_CHARS = 300
"""Maximum length of formulas with `\\ce` that are converted. They take six times as long."""

_NOT_CONVERTED = re.compile(
    r"\\(?:pu(?![a-zA-Z])|char|[a-z]*def|let|futurelet|(?:re)?new|provide|Declare|(?:eq)?ref(?![a-zA-Z])|qty(?![a-zA-Z])|arraystretch"
    r"|(?-i:coloncolonsim|Colonsim))",
    re.IGNORECASE,
)
"""Commands that are not converted: commands that define others, because a few definitions can expand to any length;
`\\pu`, whose time doubles with each `/`; and commands that Temml shows wrong.
"""

_NESTING = re.compile(r"(\}|\\right\b|\\end\b)|\{|\\left\b|\\begin\b")
_TOKEN = re.compile(r"\\(?:begin|end)(?![a-zA-Z])|\\.|[{}&%]|(?<!\{)#", re.DOTALL)
_POSITION = re.compile(r"(\\begin\{(?:aligned|alignedat|gathered|array)\})\[[tbc]\]")
_WORDS = re.compile(r"(\\(?:text|textbf|textit|textrm|texttt|mbox)\{)([^{}\\$]*)\}")
_SIGN_IN_WORDS = re.compile("[_&#]")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather|multline|flalign\*?|eqnarray\*?)\}")

_CLEANER = nh3.Cleaner(
    tags=set(MATHML_ATTRIBUTES),
    clean_content_tags=set(),
    attributes={tag: set(attributes) for tag, attributes in MATHML_ATTRIBUTES.items() if attributes},
    allowed_classes=CLASSES,
    link_rel=None,
    url_schemes=set(),
)

_SEGMENT = re.compile(
    r"""
    \$\$(?P<dollars>[^$]+)\$\$
    | \\\[(?P<brackets>.+?)\\\]
    | (?P<environment>\\begin\{(?P<name>(?:equation|align|alignat|aligned|gather|gathered|multline|split|eqnarray|cases
        |array|[bBpvV]?matrix)\*?)\}.+?\\end\{(?P=name)\})
    | \$(?P<dollar>(?:[^$\\]|\\.)+)\$
    | \\\((?P<parentheses>.+?)\\\)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r"[^\\{}$]*")


def render_latex(text: str) -> SafeString | None:
    """Return the HTML of a LaTeX text, such as SymPy's `$\\displaystyle x^{2}$`: formulas, and the text between them.

    Return `None` for a text without a formula, with a command, brace or dollar outside of formulas, with a formula that
    cannot be converted, or beyond a limit.
    """
    if len(text) > LIMIT_CHARS:
        return None
    pieces: list[str] = []
    end = formulas = 0
    text = text.strip()
    for match in _SEGMENT.finditer(text):
        formulas += 1
        between = text[end : match.start()]
        latex = _formula_of(match)
        # A formula in `$…$` or `\(…\)` is inline, unless it is the whole text, as SymPy writes it.
        is_block = match["dollar"] is None and match["parentheses"] is None
        is_alone = match[0] == text
        formula = render_formula(latex, is_block=is_block or is_alone)
        if formula is None or formulas > FORMULAS_LIMIT or not _PLAIN.fullmatch(between):
            return None
        pieces += (escape(between), formula)
        end = match.end()
    if not formulas or not _PLAIN.fullmatch(text[end:]):
        return None
    pieces.append(escape(text[end:]))
    return SafeString("".join(pieces))


def single_formula(text: str) -> str:
    """Return the formula of a LaTeX text that is one formula, without its delimiters; empty for other texts."""
    match = _SEGMENT.fullmatch(text.strip())
    return _formula_of(match) if match else ""


def _formula_of(match: re.Match[str]) -> str:
    return next(value for name, value in match.groupdict().items() if name != "name" and value)


@lru_cache(maxsize=4096)
def render_formula(latex: str, *, is_block: bool) -> SafeString | None:
    """Return the `math` element of a formula, given without delimiters; `None` if it cannot be converted.

    The HTML depends only on the arguments and is cached. A formula with an unknown part is not converted, because that
    part would be wrong.
    """
    limit_chars = CHEMISTRY_LIMIT_CHARS if "\\ce" in latex else LIMIT_CHARS
    if len(latex) > limit_chars or _NOT_CONVERTED.search(latex) or _source_depth(latex) > DEPTH_LIMIT:
        return None
    mathml = convert_formula(_prepare(latex), is_block=is_block)
    try:
        root = adapt_mathml(mathml, is_block=is_block)
    except UnknownFormula:
        return None
    if _tree_depth(root) > DEPTH_LIMIT:
        return None
    # The text for screen readers that do not support MathML.
    root.set("alttext", latex)
    return SafeString(_CLEANER.clean(tostring(root, encoding="unicode", short_empty_elements=False)))


def _prepare(latex: str) -> str:
    r"""Return the LaTeX of a formula, changed so that Temml converts it as intended.

    - Equations get no automatic numbers, which would start at 1 in each formula.
    - `%` and `#` are escaped, because `%` would begin a comment and `#` a parameter. In `{#f00}`, `#` begins a colour.
    - Options that set the vertical position of environments are removed, because Temml would show them as text.
    - Special characters of TeX within words, such as `\text{my_name}`, are escaped.
    - Rows outside of any environment are put into one.
    """
    latex = _ENVIRONMENT.sub(_known_environment, latex)
    latex = _POSITION.sub(r"\1", latex)
    latex = _WORDS.sub(lambda words: words[1] + _SIGN_IN_WORDS.sub(r"\\\g<0>", words[2]) + "}", latex)
    pieces: list[str] = []
    end = depth = 0
    has_rows = has_columns = False
    for match in _TOKEN.finditer(latex):
        token = match[0]
        if token in ("{", "\\begin"):
            depth += 1
        elif token in ("}", "\\end"):
            depth -= 1
        elif token in "%#":
            pieces += (latex[end : match.start()], "\\", token)
            end = match.end()
        elif depth == 0:
            has_rows = has_rows or token == "\\\\"
            has_columns = has_columns or token == "&"
    latex = "".join([*pieces, latex[end:]])
    if not has_rows:
        return latex
    environment = "aligned" if has_columns else "gathered"
    return f"\\begin{{{environment}}}{latex}\\end{{{environment}}}"


def _known_environment(match: re.Match[str]) -> str:
    side, name = match[1], match[2].removesuffix("*")
    if name == "eqnarray":
        return r"\begin{darray}{rcl}" if side == "begin" else r"\end{darray}"
    return f"\\{side}{{{'align' if name == 'flalign' else name}*}}"


def _source_depth(latex: str) -> int:
    """Return an upper bound for the depth at which groups and pairs of delimiters are nested."""
    depth = deepest = 0
    for match in _NESTING.finditer(latex):
        depth += -1 if match[1] else 1
        deepest = max(deepest, depth)
    return deepest


def _tree_depth(root: Element) -> int:
    depth, level = 0, [root]
    while level:
        depth, level = depth + 1, [child for element in level for child in element]
    return depth
