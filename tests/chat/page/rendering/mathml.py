"""The elements and attributes of MathML that may reach a page, listed independently of the code under test."""

from __future__ import annotations

import re
from collections.abc import Mapping

MATHML_TAGS = {
    *("math", "mi", "mo", "mn", "mtext", "mspace", "mrow", "mstyle", "mfrac", "msqrt", "mroot", "mpadded", "mphantom"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"),
    *("mtable", "mtr", "mtd"),
}
MATHML_ATTRIBUTES = {
    *("accent", "accentunder", "columnalign", "depth", "display", "displaystyle", "fence", "form", "height", "largeop"),
    *("linethickness", "lspace", "mathbackground", "mathcolor", "mathsize", "mathvariant", "maxsize", "minsize"),
    *("movablelimits", "rspace", "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width"),
}
CLASSES = re.compile(
    r"(?:tml-(?:jot|small|tag|vec|(?:hat|tilde)-[1-4])|bold|filled|lapped|llap|clap|ink|(?:left|right)-\d+"
    r"|boxed|circled|overlined|underlined|barred|struck(?:-up|-down)?|(?:solid|dashed)-(?:left|right|top|bottom)| )*"
)


def assert_mathml_attributes(attributes: Mapping[str, str | None]) -> None:
    """Check the attributes of one element. `alttext` may hold any text, because browsers do not interpret it."""
    checked = {name: value or "" for name, value in attributes.items() if name != "alttext"}
    assert CLASSES.fullmatch(checked.pop("class", ""))
    assert set(checked) <= MATHML_ATTRIBUTES
    assert all(re.fullmatch(r"[-+#.%\w ]*", value) for value in checked.values())
