"""Tags of blocks that models write within Markdown, such as `<p align="center">`, `<h3>` and `<ul>`.

Their content is shown as Markdown. A heading tag with its end in one line makes a heading, and `<ul>` or `<ol>` before
a `<li>` makes a list. All other tags only end a paragraph. Tags are recognized in a line that begins with one, and end
tags also at the end of any line. Elsewhere a tag is text: the model may be writing about it.
"""

from __future__ import annotations

import re

from chat.page.rendering.marks import MARK
from chat.page.rendering.tag_names import BLOCK_NAMES, CONTAINERS, LINE_MARK, LINE_START, LIST_NAMES, TAG_REST

_HEADING = re.compile(
    rf"{LINE_START}( {{0,3}})<(?=h([1-6]){TAG_REST}[^\r\n<]{{1,300}}[^\r\n]{{0,300}}?</h\2>[ \t]*+(?:[\r\n]|\Z))",
    re.IGNORECASE,
)
_PLAIN_TAG = rf"/?(?:{BLOCK_NAMES}|li){TAG_REST}|/(?:ul|ol)>"
_ITEM = r"<li(?>(?:[ \t][^<>\r\n]*)?)>"
_ANY_TAG = rf"(?:{_PLAIN_TAG}|(?:ul|ol){TAG_REST}(?=\s{{0,80}}+{_ITEM}))"
_TAG = re.compile(rf"<(?={_PLAIN_TAG}|(?:ul|ol){TAG_REST}[ \t]*+(?:{_ITEM}|\Z))", re.IGNORECASE)
# The line "<div> is a block" is about the tag: it has no attribute, a space after it, and no end tag.
_NAMED_TAG = rf"(?P<name>{BLOCK_NAMES})>[ \t]++[^\s<](?>(?:(?!</(?P=name))[^\r\n])*)(?:[\r\n]|\Z)"
_TEXT_LINE = re.compile(rf"({LINE_START}{CONTAINERS}<)(?={_NAMED_TAG})([a-z])", re.IGNORECASE)
# A line that begins with a tag. All its tags are recognized.
_LINE = re.compile(rf"{LINE_START}{CONTAINERS}<(?!{_NAMED_TAG}){_ANY_TAG}[^\r\n]*", re.IGNORECASE)
_ENDS = re.compile(rf"(?>(?:</(?:{BLOCK_NAMES}|{LIST_NAMES})>[ \t]*)+)(?=[\r\n]|\Z)", re.IGNORECASE)
_INSERTED = re.compile(rf"#{{1,6}} &lt;(?={LINE_MARK})")


def mark_block_tags(text: str) -> str:
    """Return the source with its tags of blocks marked; no line is added or removed."""
    text = _HEADING.sub(lambda tag: f"{tag[1]}{'#' * int(tag[2])} <{LINE_MARK}", text)
    # A mark within the name of a tag, so that the parser takes the tag as text.
    text = _TEXT_LINE.sub(lambda tag: f"{tag[1]}{tag[3]}{MARK}", text)
    return _ENDS.sub(_marked, _LINE.sub(_marked, text))


def restore_lines(raw_html: str) -> str:
    """Return the parser's HTML without inserted `#` of headings. Only lines in code still have them."""
    return _INSERTED.sub("&lt;", raw_html) if LINE_MARK in raw_html else raw_html


def _marked(tags: re.Match[str]) -> str:
    return _TAG.sub(f"<{MARK}", tags[0])
