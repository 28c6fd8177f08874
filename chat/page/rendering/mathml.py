"""Reduces Temml's MathML to elements, attributes and classes that pages may have, and that browsers show correctly.

Temml styles many elements by the attribute `style`, which the content security policy forbids. Known styles become
attributes of MathML or classes of `static/css/displays.css`. A formula with anything that is not known here is shown as
its source, so that no formula is drawn wrong.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ParseError, fromstring

_LENGTH = re.compile(r"[-+]?(?:\d(?:\.\d{1,8})?|\.\d{1,8})(?:em|ex|cm)|[-+]?\d{1,2}(?:\.\d{1,8})?(?:px|pt|mu|mm)|0")
"""An allowed length: it is so short that it cannot move a formula far over its neighbours."""
_SHORT_LENGTH = re.compile(r"[-+]?(?:[0-2](?:\.\d{1,8})?|\.\d{1,8})(?:em|ex)|0(?:\.1)?(?:px)?")
"""A length of boxes that may overlap their neighbours: raised boxes, ink, and boxes smaller than their content."""
_COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{1,20}")
_BOOLEAN = re.compile("true|false")
_FONT_SIZE = re.compile(r"[0-2]\.\d{4}em|70%")
_ENCLOSURES = {
    "box": "boxed",
    "circle": "circled",
    "top": "overlined",
    "bottom": "underlined",
    "actuarial": "overlined barred",
    "updiagonalstrike": "struck-up",
    "downdiagonalstrike": "struck-down",
    "updiagonalstrike downdiagonalstrike": "struck-up struck-down",
    "horizontalstrike": "struck",
}
"""Notation of `menclose` -> classes of `mrow`. Chromium does not draw `menclose`, and other browsers differ."""
_PADDINGS = {0.0: "0", 0.1389: "1", 0.25: "2", 0.4: "4", 0.5: "5", 1.0: "10", 2.0: "20"}
"""Padding of a cell in em -> its class in tenths, `left-5` or `right-5`. Other paddings get the nearest class."""

CLASSES = {
    "mtable": {"tml-jot", "tml-small"},
    "mtext": {"tml-tag"},
    "mo": {"tml-vec", *(f"tml-{accent}-{size}" for accent in ("hat", "tilde") for size in (1, 2, 3, 4))},
    "mpadded": {"llap", "clap"},
    "mrow": {"bold", "filled", "lapped", "tml-tag", *" ".join(_ENCLOSURES.values()).split()},
    "mspace": {"ink"},
    "mtd": {
        *(f"{side}-{number}" for side in ("left", "right") for number in _PADDINGS.values()),
        *(f"{line}-{side}" for line in ("solid", "dashed") for side in ("left", "right", "top", "bottom")),
    },
}
"""Element -> classes of `static/css/displays.css` that it may have."""

_OWN_ATTRIBUTES: dict[str, dict[str, re.Pattern[str]]] = {
    "math": {"display": re.compile("block|inline"), "alttext": re.compile(".*", re.DOTALL)},
    "mi": {"mathvariant": re.compile("normal")},
    "mo": {
        "fence": _BOOLEAN,
        "form": re.compile("prefix|infix|postfix"),
        "largeop": _BOOLEAN,
        "lspace": _LENGTH,
        "mathsize": _FONT_SIZE,
        "maxsize": _LENGTH,
        "minsize": _LENGTH,
        "movablelimits": _BOOLEAN,
        "rspace": _LENGTH,
        "separator": _BOOLEAN,
        "stretchy": _BOOLEAN,
        "symmetric": _BOOLEAN,
    },
    "mn": {},
    "mtext": {},
    "mspace": {"width": _LENGTH, "height": _LENGTH, "depth": _LENGTH},
    "mrow": {"mathbackground": _COLOR},
    "mstyle": {"mathsize": _FONT_SIZE},
    "mfrac": {"linethickness": _LENGTH},
    "msqrt": {},
    "mroot": {},
    "mpadded": {
        **dict.fromkeys(("height", "depth", "lspace", "voffset"), _SHORT_LENGTH),
        "width": _LENGTH,
    },
    "mphantom": {},
    "msub": {},
    "msup": {},
    "msubsup": {},
    "munder": {"accent": _BOOLEAN, "accentunder": _BOOLEAN},
    "mover": {"accent": _BOOLEAN},
    "munderover": {"accent": _BOOLEAN},
    "mmultiscripts": {},
    "mprescripts": {},
    "mtable": {},
    "mtr": {},
    # The style sheet aligns the cells, because Chrome ignores this attribute.
    "mtd": {"columnalign": re.compile("left|center|right")},
}
_COMMON_ATTRIBUTES = {"displaystyle": _BOOLEAN, "mathcolor": _COLOR, "scriptlevel": re.compile("[0-3]")}
MATHML_ATTRIBUTES = {tag: own | _COMMON_ATTRIBUTES for tag, own in _OWN_ATTRIBUTES.items()}
"""Allowed element -> its allowed attributes, each with a pattern for its value."""

_CHILDREN = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
"""Element -> number of children without which it is invalid."""
_TOKENS = frozenset({"mi", "mo", "mn", "mtext"})

_HINTS = re.compile(
    r"(?:chr|wbk|ff)-[a-z-]+|tml-(?:display|prime|tageqn|label|eqn|(?:sml|med|lrg)-pad)|mathcal|mathscr"
)
"""Classes that move characters by at most a twentieth of their width, or choose a font. They are removed."""
_ENCLOSURE_HINTS = frozenset({"tml-overline", "tml-underline", "tml-fbox", "circle-pad", "actuarial"})
"""Classes of Temml's `menclose` that repeat its notation. They are removed."""
_STRIKES = frozenset({"tml-cancel", "textcircle"})
"""Classes of empty elements with which Temml's style sheet draws a notation. They are removed."""

# Properties that repeat other attributes, or that Temml sets for cells that do not exist. They are removed.
_IGNORED_STYLES = re.compile(
    r"(?:math-depth|level|font|font-family|font-size|font-weight|font-shape|max-size):[\w.,-]*|color:undefined"
    r"|display:block math|padding:-?[\d.]+em 0 0 0|padding:0 0 [\d.]+em 0|width:(?:100|50|7\.5)%|height:1em"
)
_CELL_PADDING = re.compile(r"padding-(left|right):([\d.]+)(em|pt)")
_CELL_LINE = re.compile(r"border-(left|right|top|bottom):[\d.]+em (solid|dashed)")
_KERN = re.compile(r"margin-left:-[\d.]+em")
_LAPPED = "position:absolute;right:0;bottom:0;"
_LAPS = {"position:relative;": "llap", "display:flex;justify-content:center;": "clap"}
"""Style of an element without width -> its class. Its content overlaps the left neighbours, or both sides."""
_BOX = "padding:3pt;border:1px solid"
POINTS_PER_EM = 11.955
"""Points of one em, as Temml counts them: its padding of half an em is 5.9776pt."""


class UnknownFormula(Exception):
    """The MathML has parts that are not known here, so it might be shown wrong."""


def adapt_mathml(mathml: str, *, is_block: bool) -> Element:
    """Return the tree of elements that a page may show. Raises UnknownFormula if the MathML has unknown parts."""
    try:
        root = fromstring(mathml)
    except (ParseError, UnicodeEncodeError) as error:
        # Temml cuts characters of two code units in half, as in `\\not\\varSigma`.
        raise UnknownFormula from error
    for element in root.iter():
        _adapt_children(element)
        _adapt_element(element)
    root.attrib = {"display": "block"} if is_block else {}
    return root


def _adapt_children(element: Element) -> None:
    for child in list(element):
        classes = set(child.get("class", "").split())
        if classes & _STRIKES or (child.tag == "span" and classes == {"tml-eqn"}):
            # A row number that the formula does not ask for, or an element that only Temml's style sheet draws.
            element.remove(child)
        elif child.get("style") == _LAPPED:
            # A new row around the element has the class, so that it works for each kind of element.
            row = Element("mrow", {"class": "lapped"})
            element[list(element).index(child)] = row
            del child.attrib["style"]
            row.append(child)
        elif child.tag == "mrow" and child.get("style", "").strip(";") == _BOX:
            child.attrib = {"class": "boxed"}
    if element.tag == "mo" and len(element):
        # A token element may contain only text, but `\mathop` turns any formula into an operator.
        element.tag, element.attrib = "mrow", {}
    has_wrong_children = len(element) != _CHILDREN.get(element.tag, len(element))
    if has_wrong_children or (element.tag in _TOKENS and len(element)):
        raise UnknownFormula


def _adapt_element(element: Element) -> None:
    given, element.attrib = element.attrib, {}
    classes = _adapt_enclosure(element, given) if element.tag == "menclose" else []
    patterns = MATHML_ATTRIBUTES.get(element.tag)
    if patterns is None:
        raise UnknownFormula
    if element.tag == "mpadded" and (lap := _LAPS.get(given.get("style", ""))):
        del given["style"], given["lspace"]
        classes.append(lap)
    for name, value in given.items():
        if name == "class":
            classes += _adapt_classes(element, value)
        elif name == "style":
            classes += _adapt_style(element, value)
        elif (element.tag, name, value) == ("mspace", "mathbackground", "black"):
            if not all(_SHORT_LENGTH.fullmatch(given.get(side, "0px")) for side in ("width", "height", "depth")):
                raise UnknownFormula
            classes.append("ink")
        elif name in patterns and patterns[name].fullmatch(value):
            element.set(name, value)
        elif (element.tag, name) not in _IGNORED_ATTRIBUTES and not _is_alphabet(element, name, value):
            raise UnknownFormula
    if classes:
        element.set("class", " ".join(dict.fromkeys(classes)))


def _adapt_enclosure(element: Element, given: dict[str, str]) -> list[str]:
    """Turn `menclose` into a row, and return the classes of its notation. Temml's own classes are removed."""
    classes = _ENCLOSURES.get(given.pop("notation", ""))
    if classes is None or not _ENCLOSURE_HINTS.issuperset(given.pop("class", "").split()):
        raise UnknownFormula
    element.tag = "mrow"
    return classes.split()


_IGNORED_ATTRIBUTES = frozenset({("mo", "linebreak"), ("math", "xmlns")})


def _is_alphabet(element: Element, name: str, value: str) -> bool:
    """Return whether an attribute names an alphabet that is ignored: that of `\\verb`, or of letters as operators."""
    return name == "mathvariant" and (element.tag, value) in {("mtext", "monospace"), ("mo", "italic")}


def _adapt_classes(element: Element, value: str) -> list[str]:
    kept = []
    for name in value.split():
        if name in CLASSES.get(element.tag, ()):
            kept.append(name)
        elif name in ("tml-left", "tml-right") and element.tag == "mtd":
            element.set("columnalign", name.removeprefix("tml-"))
        elif not _HINTS.fullmatch(name):
            raise UnknownFormula
    return kept


def _adapt_style(element: Element, value: str) -> list[str]:
    """Return the classes for the styles of an element. Styles that MathML has as attributes become attributes."""
    classes = []
    for style in filter(None, value.split(";")):
        name, _, content = style.partition(":")
        if name == "color" and _COLOR.fullmatch(content):
            if content != "undefined":
                element.set("mathcolor", content)
        elif element.tag == "mtd" and (cell_classes := _cell_classes(style)):
            classes += cell_classes
        elif element.tag == "mstyle" and style == "font-weight:bold":
            element.tag = "mrow"
            classes.append("bold")
        elif element.tag == "mrow" and style == "padding:0.3em":
            classes.append("filled")
        elif not (_IGNORED_STYLES.fullmatch(style) or (element.tag == "mrow" and _KERN.fullmatch(style))):
            raise UnknownFormula
    return classes


def _cell_classes(style: str) -> list[str]:
    """Return the classes of a cell for one style; empty if there are none."""
    if padding := _CELL_PADDING.fullmatch(style):
        em = float(padding[2]) / (POINTS_PER_EM if padding[3] == "pt" else 1)
        return [f"{padding[1]}-{_PADDINGS[min(_PADDINGS, key=lambda known: abs(known - em))]}"]
    if line := _CELL_LINE.fullmatch(style):
        return [f"{line[2]}-{line[1]}"]
    return {"padding:0": ["left-0", "right-0"]}.get(style, [])
