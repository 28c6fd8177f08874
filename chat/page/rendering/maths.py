"""Conversion of LaTeX formulas to MathML, which browsers show without a script.

latex2mathml converts a formula to a tree of elements. It is written in Python, so hostile input raises an error at
worst, and its time is linear in the length. (math-core 0.9, written in Rust, is faster and prettier. But 170 times
`\\\\[` make it hang, and 30,000 opening braces overflow its stack, which ends the process.) The tree is reduced to the
elements and attributes listed here and adapted to what browsers show. The sanitizer runs last.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from xml.etree.ElementTree import Element, tostring

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString
from latex2mathml.converter import convert_to_element

LIMIT_CHARS = 3_000
"""Longer formulas and texts are not converted: the conversion takes up to 12 us per character."""
DEPTH_LIMIT = 100
"""Formulas that are nested deeper are not converted, because both the converter and the sanitizer work recursively."""
FORMULAS_LIMIT = 50
"""Formulas in one LaTeX text."""

_DEFINITIONS = re.compile(r"\\(?:[a-z]*def|let|(?:re)?new|provide|Declare)", re.IGNORECASE)
"""Commands that define others. They are rejected, because a few definitions can expand to any length."""

_NESTING = re.compile(r"(\}|\\right\b)|\{|\\left\b")

_LENGTH = re.compile(r"[-+]?(?:\d{1,2}(?:\.\d{1,8})?|\.\d{1,8})(?:em|ex|px|pt|mu)|0")
"""A length that cannot move a formula far over its neighbours."""
_COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{1,20}")
_BOOLEAN = re.compile("true|false")
_SCRIPT_LEVEL = re.compile(r"[-+]?\d")
MATHML_ATTRIBUTES: dict[str, dict[str, re.Pattern[str]]] = {
    "math": {"display": re.compile("block|inline"), "alttext": re.compile(".*", re.DOTALL)},
    "mi": {"mathvariant": re.compile("normal")},
    "mo": {
        "accent": _BOOLEAN,
        "fence": _BOOLEAN,
        "form": re.compile("prefix|infix|postfix"),
        "largeop": _BOOLEAN,
        "lspace": _LENGTH,
        "maxsize": _LENGTH,
        "minsize": _LENGTH,
        "movablelimits": _BOOLEAN,
        "rspace": _LENGTH,
        "stretchy": _BOOLEAN,
    },
    "mn": {},
    "mtext": {},
    "mspace": {"width": _LENGTH, "height": _LENGTH, "depth": _LENGTH},
    "mrow": {},
    "mstyle": {"displaystyle": _BOOLEAN, "mathcolor": _COLOR, "mathsize": _LENGTH, "scriptlevel": _SCRIPT_LEVEL},
    "mfrac": {"linethickness": _LENGTH},
    "msqrt": {},
    "mroot": {},
    "mpadded": {"width": _LENGTH, "height": _LENGTH, "depth": _LENGTH, "lspace": _LENGTH, "voffset": _LENGTH},
    "mphantom": {},
    # No browser draws the notations. The style sheet draws boxes and strikes.
    "menclose": {"notation": re.compile("box|(updiagonal|downdiagonal|horizontal)strike")},
    "msub": {},
    "msup": {},
    "msubsup": {},
    "munder": {"accentunder": _BOOLEAN},
    "mover": {"accent": _BOOLEAN},
    "munderover": {},
    "mmultiscripts": {},
    "mprescripts": {},
    "mtable": {"displaystyle": _BOOLEAN},
    "mtr": {},
    # The style sheet aligns the cells, because Chrome ignores this attribute.
    "mtd": {"columnalign": re.compile("left|center|right")},
}
"""Allowed elements, and the pattern for the value of each of their attributes."""

_CLEANER = nh3.Cleaner(
    tags=set(MATHML_ATTRIBUTES),
    clean_content_tags=set(),
    attributes={tag: set(attributes) for tag, attributes in MATHML_ATTRIBUTES.items() if attributes},
    link_rel=None,
    url_schemes=set(),
)

_CHILDREN = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
"""Elements that are invalid with another number of children."""
_TOKENS = frozenset({"mi", "mo", "mn", "mtext"})
_UPRIGHT_LETTER = re.compile(r"&#x000([46][1-9A-F]|[57][0-9A]);")
"""How the converter writes the letter of `\\mathrm{d}`. Other letters are written as they are."""
_UNKNOWN_COMMAND = re.compile(r"\\[a-zA-Z]")
_SIGNS = frozenset("+−-±∓")
_CLOSING = frozenset(")]}|‖⟩⌉⌋!′")
_LIMIT_NAMES = frozenset(
    {"lim", "max", "min", "sup", "inf", "det", "gcd", "Pr", "argmax", "argmin", "limsup", "liminf"}
)
_WITH_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_BARS = frozenset("―_¯")

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

    Return `None` for a text that has commands outside of formulas, or a formula that cannot be converted.
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
        # SymPy marks formulas between single dollars that stand alone by `\displaystyle`.
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

    The HTML depends on nothing but the arguments. A formula with an unknown command is not converted, because part of
    it would be wrong.
    """
    if len(latex) > LIMIT_CHARS or _DEFINITIONS.search(latex) or _source_depth(latex) > DEPTH_LIMIT:
        return None
    try:
        root = convert_to_element(latex, display="block" if is_block else "inline")
        if _tree_depth(root) > DEPTH_LIMIT:
            return None
        for element in root.iter():
            element.text = _decode_text(element)
        if not _adapt(root, is_block=is_block):
            return None
        # What a screen reader reads that does not know MathML.
        root.set("alttext", latex)
        serialized = tostring(root, encoding="unicode", short_empty_elements=False)
    except Exception:  # noqa: BLE001 - for invalid LaTeX, the converter raises errors of its own and many built-in ones
        return None
    return SafeString(_CLEANER.clean(serialized))


def _source_depth(latex: str) -> int:
    """Return how deep groups and pairs of delimiters are nested, or more."""
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


def _decode_text(element: Element) -> str:
    """Return the text of an element as characters. Letters of alphabets get the characters of their alphabet."""
    text = element.text or ""
    if element.tag == "mi" and _UPRIGHT_LETTER.fullmatch(text):
        element.set("mathvariant", "normal")
    text = html.unescape(text)
    alphabet = element.get("mathvariant", "")
    if alphabet and alphabet != "normal":
        letters = _alphabets().get(alphabet, {})
        text = "".join(letters.get(character, character) for character in text)
    return text


def _adapt(root: Element, *, is_block: bool) -> bool:
    """Reduce the tree to allowed elements, and improve its spacing. Return False if the formula is not fully known."""
    root.attrib = {"display": "block"} if is_block else {}
    for parent in root.iter():
        if len(parent) != _CHILDREN.get(parent.tag, len(parent)):
            return False
        previous: Element | None = None
        for element in parent:
            if element.tag not in MATHML_ATTRIBUTES or _UNKNOWN_COMMAND.match(element.text or ""):
                return False
            if element.tag in _TOKENS and len(element):
                # A token contains text alone; the sanitizer would remove the elements in it.
                element.tag = "mrow"
            _adapt_operator(element, previous, parent, is_block=is_block)
            patterns = MATHML_ATTRIBUTES[element.tag]
            element.attrib = {
                name: value
                for name, value in element.attrib.items()
                if name in patterns and patterns[name].fullmatch(value)
            }
            previous = element
    return True


def _adapt_operator(element: Element, previous: Element | None, parent: Element, *, is_block: bool) -> None:
    if element.tag != "mo":
        return
    text = element.text or ""
    if text[:1].isalpha() and len(text) > 1:
        # The name of a function. As an operator it would have spaces around it.
        element.tag = "mi"
        name = "".join(filter(str.isalpha, text))
        if is_block and previous is None and name in _LIMIT_NAMES:
            parent.tag = _WITH_LIMITS.get(parent.tag, parent.tag)
    elif text in _SIGNS and previous is not None and previous.tag == "mo" and previous.text not in _CLOSING:
        # A sign, as in `(-x` and `= -y`. Browsers recognize it only at the beginning of a row.
        element.set("form", "prefix")
    elif text in _BARS and previous is not None and parent.tag in ("mover", "munder"):
        element.text = "‾" if parent.tag == "mover" else "_"
        element.attrib = {"stretchy": "true"}


@cache
def _alphabets() -> dict[str, dict[str, str]]:
    """Return the characters of each mathematical alphabet, by the name that MathML gave it.

    Browsers support no other value of the attribute `mathvariant` than `normal`.
    """
    names = {
        "bold": "BOLD",
        "bold-italic": "BOLD ITALIC",
        "double-struck": "DOUBLE-STRUCK",
        "fraktur": "FRAKTUR",
        "bold-fraktur": "BOLD FRAKTUR",
        "monospace": "MONOSPACE",
        "sans-serif": "SANS-SERIF",
        "bold-sans-serif": "SANS-SERIF BOLD",
        "sans-serif-italic": "SANS-SERIF ITALIC",
        "script": "SCRIPT",
        "bold-script": "BOLD SCRIPT",
    }
    return {name: dict(_letters_of(words)) for name, words in names.items()}


def _letters_of(words: str) -> Iterator[tuple[str, str]]:
    """Yield (letter, letter of the alphabet). Some letters are outside of the block of mathematical characters."""
    pattern = re.compile(rf"(?:MATHEMATICAL )?{words} (?:CAPITAL|SMALL|DIGIT|NABLA|PARTIAL)\b.*")
    letter_like = re.compile(rf"{'BLACK-LETTER' if words == 'FRAKTUR' else words} (?:CAPITAL|SMALL) [A-Z]")
    for code_points, names in ((range(0x2100, 0x2150), letter_like), (range(0x1D400, 0x1D800), pattern)):
        for character in map(chr, code_points):
            if names.fullmatch(unicodedata.name(character, "")):
                yield unicodedata.normalize("NFKC", character), character
