"""HTML tags that models write within Markdown, such as `<br>`, `<sub>` and `<details>`, as elements.

`mark_tags` puts a mark behind the `<` of the allowed tags of the source. The parser then takes them as text, so that
Markdown is parsed around and within them, and escapes them. `build_elements` makes elements of the marked tags in the
parser's HTML (`tag_builder`), and leaves comments out. All other tags stay text:

- Tags in code and formulas, in raw HTML that the parser shows as source, and in attributes.
- A tag without its counterpart within the same element of the parser (paragraph, cell, emphasis, ...).
- Links and images without a web address, tables, forms, scripts and all other elements.
"""

from __future__ import annotations

import re

from chat.page.rendering.block_tags import mark_block_tags, restore_lines
from chat.page.rendering.html_comments import remove_comments
from chat.page.rendering.marks import MARK
from chat.page.rendering.tag_builder import Builder
from chat.page.rendering.tag_names import CONTAINERS, INLINE_NAMES, LINE_MARK, LINE_START, LIST_NAMES, TAG_REST

# A tag `<details>` or `<summary>` at the start of a line, after any quote and list markers.
_FOLD_LINE = re.compile(rf"{LINE_START}({CONTAINERS})<(?=/?(?:details|summary){TAG_REST})", re.IGNORECASE)
# Escapes are matched too, so that an escaped `<` begins no tag and no comment.
_SOURCE_TAG = re.compile(
    r"(?P<escape>\\(?!<!--)[^\r\n])|(?:\\<|&(?:lt|\#60|\#x3c);)!(?=--)"
    rf"|<(?P<link>(?:a|img)(?=[ \t](?:[^<>\r\n]*[ \t])?(?:href|src)[ \t]*=)[^<>\r\n]*?=[ \t]*[\"']?"
    rf"(?:https?://|mailto:)[^<>\r\n]*+>)|<(?=/a>|/?(?:{INLINE_NAMES}){TAG_REST})",
    re.IGNORECASE,
)
_ADDRESS_SIGN = re.compile(r"(?<=:)/|(?<=@)")
"""Positions in a tag at which the parser would recognize an address."""
_ROW_WITH_LIST = re.compile(rf"{LINE_START}[ \t>]*+\|[^\r\n<]*+<[^\r\n]*+")
_LIST_TAG = re.compile(rf"(?<!\\)<(?=/?(?:{LIST_NAMES})>)", re.IGNORECASE)


def mark_tags(text: str) -> str:
    """Return the source with its allowed tags marked (`MARK`); no line is added or removed.

    A line that begins with a tag of `<details>` becomes a heading, so that it ends lists and paragraphs as HTML does.
    """
    if "<" not in text and "&" not in text:
        return text
    text = mark_block_tags(text)
    text = _SOURCE_TAG.sub(_marked, _FOLD_LINE.sub(rf"\1# <{LINE_MARK}", text))
    return _ROW_WITH_LIST.sub(lambda row: _LIST_TAG.sub(f"<{MARK}", row[0]), text) if "|" in text else text


def _marked(match: re.Match[str]) -> str:
    if match["link"]:
        return f"<{MARK}" + _ADDRESS_SIGN.sub(rf"{MARK}\g<0>", match["link"])
    return match[0] if match["escape"] else match[0] + MARK


def build_elements(raw_html: str) -> str:
    """Return the parser's HTML with elements for marked tags and without comments."""
    raw_html = remove_comments(raw_html)
    if f"&lt;{MARK}" in raw_html:
        raw_html = Builder().build(raw_html)
    return restore_lines(raw_html)
