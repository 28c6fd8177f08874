"""HTML tags that have an effect in the texts of models, and patterns that recognize them in the source."""

from __future__ import annotations

from chat.page.rendering.marks import MARK

PAIRED_TAGS = (
    *("b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup"),
    *("kbd", "code", "samp", "var", "q", "ruby", "rt", "rp"),
)
FOLD_TAGS = ("details", "summary")
ELEMENT_TAGS = (*PAIRED_TAGS, *FOLD_TAGS)
LIST_TAGS = ("ul", "ol", "li")
DROPPED_TAGS = ("span", "font", "abbr", "cite", "dfn", "nobr", "time", "tt")
"""Tags that have no effect without their attributes. Only their content is shown."""
BLOCK_TAGS = (
    *("p", "div", "center", "section", "article", "aside", "header", "footer", "main", "figure", "figcaption", "hr"),
    *("blockquote", "dl", "dt", "dd"),
)
"""Tags that only end a paragraph."""
HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE_NAMES = "|".join((*ELEMENT_TAGS, *DROPPED_TAGS, "br"))
BLOCK_NAMES = "|".join((*BLOCK_TAGS, *HEADING_TAGS))
LIST_NAMES = "|".join(LIST_TAGS)

LINE_MARK = MARK * 2
"""Mark of a tag before which the `#` of a heading were inserted."""
_VALUE = r"""[ \t]*+=[ \t]*+(?:"[^"<>\r\n]*+"|'[^'<>\r\n]*+'|[^\s"'=<>`]++)"""
_ATTRIBUTES = rf"(?>(?:[ \t]++[a-z_:@][\w.:@-]*+(?>(?:{_VALUE})?))*)"
TAG_REST = rf"{_ATTRIBUTES}[ \t]*+/?>"
"""Pattern of the rest of a tag after its name."""
LINE_START = r"(?:\A|(?<=[\r\n]))"
CONTAINERS = r"(?>(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*)"
"""Pattern of the markers of quotes and lists at the beginning of a line."""
