"""Parses HTML that a kernel sent, and reads the text of its elements. Pure.

lxml parses the HTML, because its parser takes linear time for any input: it limits the nesting and does not repeat
formatting elements. Python's own `html.parser` took 36 s for 64 KB of `<a ` (Python 3.11.7), and parsers that build the
tree of the HTML standard took 19 s for 500 KB of `<b a=1>`, `<b a=2>` and so on (selectolax 1.0.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree

HTML_LIMIT_CHARS = 200_000
"""Maximum number of characters of HTML that are parsed, which takes up to 15 ms."""
CELL_LIMIT_CHARS = 2_000
TAKEN_ADDRESS = "attachment:"
"""The beginning of an address that replaces bytes in HTML. The reader of a kernel's outputs has made these bytes a
file.
"""

HIDDEN = frozenset({"script", "style", "template", "noscript", "title", "annotation", "annotation-xml", "datalist"})
"""Elements whose content is not text that a reader sees."""
CONTROLS = frozenset({"button", "input", "select", "textarea", "option"})
MEDIA = frozenset({"img", "audio", "video", "iframe", "object", "embed", "canvas", "svg"})
"""Elements for which a note is shown in place of their content."""
BLOCKS = frozenset(
    {
        *("address", "article", "blockquote", "br", "dd", "details", "div", "dl", "dt", "footer", "form", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "td"),
        *("th", "tr", "ul", "fieldset", "figure", "figcaption", "nav", "aside"),
    }
)
"""Block elements: their text begins and ends a line."""
_CELLS = frozenset({"td", "th"})
_WITHOUT_TEXT = HIDDEN | CONTROLS | MEDIA
_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s<>\\\x00-\x1f\x7f]{1,2000}", re.IGNORECASE)

Element: TypeAlias = "etree._Element"
"""lxml has no public name for the type of its elements."""


def parse_html(source: str) -> Element | None:
    """Return the root of the HTML; `None` if it has no element and no text."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(source[:HTML_LIMIT_CHARS].encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def address_of(link: Element) -> str:
    """Return the address of a link if a reader may follow it; otherwise an empty string."""
    return followed_address(link.get("href") or "")


def followed_address(text: str) -> str:
    """Return the address if a reader may follow it; otherwise an empty string."""
    match = _ADDRESS.fullmatch(text.strip())
    return match[0] if match else ""


def iterate_rows(element: Element, *, is_in_head: bool = False) -> Iterator[tuple[list[Element], bool]]:
    """Yield the cells of each row, and whether the row is in the `thead`. Cells outside of rows form one row, as in
    browsers.

    The parser limits the nesting to 256 levels.
    """
    cells: list[Element] = []
    for child in element:
        if child.tag in _CELLS:
            cells.append(child)
            continue
        if cells:
            yield cells, is_in_head
            cells = []
        if child.tag == "tr":
            yield [cell for cell in child if cell.tag in _CELLS], is_in_head
        elif len(child) and child.tag != "caption":
            yield from iterate_rows(child, is_in_head=is_in_head or child.tag == "thead")
    if cells:
        yield cells, is_in_head


def text_of(element: Element) -> str:
    """Return the text of an element that contains no table, such as a cell."""
    if not len(element):
        return " ".join((element.text or "").split())[:CELL_LIMIT_CHARS]
    texts: list[str] = []
    _collect_texts(element, texts)
    return "\n".join(split_lines("".join(texts)))[:CELL_LIMIT_CHARS]


def _collect_texts(element: Element, texts: list[str]) -> None:
    """Append the texts in an element, with line breaks around blocks. The parser limits the nesting to 256 levels."""
    if element.text:
        texts.append(element.text)
    for inner in element:
        tag = inner.tag
        if tag in BLOCKS:
            texts.append("\n")
        if tag == "img":
            texts.append(f"[{inner.get('alt') or 'picture'}]")
        elif tag not in _WITHOUT_TEXT:
            _collect_texts(inner, texts)
            if tag == "a" and (address := address_of(inner)) and address not in (inner.text or ""):
                texts.append(f" ({address})")
        if tag in BLOCKS:
            texts.append("\n")
        if inner.tail:
            texts.append(inner.tail)


def split_lines(text: str) -> list[str]:
    """Return the lines that are not empty, with each run of white space as one space."""
    return [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]
