"""The elements and attributes of MathML that may reach a page, listed independently of the code under test."""

from __future__ import annotations

import re
from collections.abc import Mapping

MATHML_TAGS = {
    *("math", "mi", "mo", "mn", "mtext", "mspace", "mrow", "mstyle", "mfrac", "msqrt", "mroot", "mpadded", "mphantom"),
    *("menclose", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"),
    *("mtable", "mtr", "mtd"),
}
MATHML_ATTRIBUTES = {
    *("accent", "accentunder", "columnalign", "depth", "display", "displaystyle", "fence", "form", "height", "largeop"),
    *("linethickness", "lspace", "mathcolor", "mathsize", "mathvariant", "maxsize", "minsize", "movablelimits"),
    *("notation", "rspace", "scriptlevel", "stretchy", "voffset", "width"),
}


def assert_mathml_attributes(attributes: Mapping[str, str | None]) -> None:
    """Check the attributes of one element. `alttext` may hold any text, because browsers do not interpret it."""
    checked = {name: value for name, value in attributes.items() if name != "alttext"}
    assert set(checked) <= MATHML_ATTRIBUTES
    assert all(re.fullmatch(r"[-+#.\w]*", value or "") for value in checked.values())
