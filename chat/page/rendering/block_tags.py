"""Tags of blocks that models write within Markdown, such as `<p align="center">`, `<div>` and `<h3>`.

Their content is shown as Markdown. A heading in one line is a heading; the others only end a paragraph. A tag counts
in a line that begins with one, and at the end of any line. Elsewhere it is text: the model may be writing about it.
"""

from __future__ import annotations

import re

from chat.page.rendering.marks import MARK

BLOCK_TAGS = ("p", "div", "center", "section", "article", "header", "footer", "main", "figure", "figcaption", "hr")
HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMES = "|".join((*BLOCK_TAGS, *HEADING_TAGS))
LINE_MARK = MARK * 2
"""Marks a tag before which signs of a heading were inserted."""
_VALUE = r"""[ \t]*+=[ \t]*+(?:"[^"<>\r\n]*+"|'[^'<>\r\n]*+'|[^\s"'=<>`]++)"""
_ATTRIBUTES = rf"(?>(?:[ \t]++[a-z_:@][\w.:@-]*+(?>(?:{_VALUE})?))*)"
TAG_REST = rf"{_ATTRIBUTES}[ \t]*+/?>"
"""The rest of a tag after its name."""
_LINE_START = r"(?:\A|(?<=[\r\n]))"
_HEADING = re.compile(
    rf"{_LINE_START}( {{0,3}})<(?=h([1-6]){TAG_REST}[^\r\n<]{{1,300}}[^\r\n]{{0,300}}?</h\2>[ \t]*+(?:[\r\n]|\Z))",
    re.IGNORECASE,
)
_TAG = re.compile(rf"<(?=/?(?:{_NAMES}){TAG_REST})", re.IGNORECASE)
# A line that begins with a tag. All its tags count.
_LINE = re.compile(
    rf"{_LINE_START}(?>(?:[ \t>]|[-+*][ \t]|\d{{1,9}}[.)][ \t])*)</?(?:{_NAMES}){TAG_REST}[^\r\n]*", re.IGNORECASE
)
_ENDS = re.compile(rf"(?>(?:</(?:{_NAMES})>[ \t]*)+)(?=[\r\n]|\Z)", re.IGNORECASE)
_INSERTED = re.compile(rf"#{{1,6}} &lt;(?={LINE_MARK})")


def mark_block_tags(text: str) -> str:
    """Return the source with its tags of blocks marked; no line is added or removed."""
    text = _HEADING.sub(lambda tag: f"{tag[1]}{'#' * int(tag[2])} <{LINE_MARK}", text)
    return _ENDS.sub(_marked, _LINE.sub(_marked, text))


def restore_lines(raw_html: str) -> str:
    """Return the parser's HTML without inserted signs of headings. Only code still has them."""
    return _INSERTED.sub("&lt;", raw_html) if LINE_MARK in raw_html else raw_html


def _marked(tags: re.Match[str]) -> str:
    return _TAG.sub(f"<{MARK}", tags[0])
