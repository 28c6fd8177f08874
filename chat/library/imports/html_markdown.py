"""Writes the HTML of an answer as Markdown, in which only known elements are markup. Pure.

The HTML itself is never inserted into a page: text is escaped, and only safe addresses become links. `html_content`
reads outputs of code for pages and models. This module keeps the whole content of an answer, with emphasis, code and
tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby

from lxml import etree

from chat.vocabulary.html_elements import HIDDEN, Element, address_of, iterate_rows
from chat.vocabulary.markdown_source import escape_label, escape_text, fence_code

DEPTH_LIMIT = 30
"""Maximum depth of nested elements. Deeper elements are read as text, because deep lists would indent each line far."""
CELLS_LIMIT = 50_000

_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "s": "~~", "del": "~~", "strike": "~~"}
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_LANGUAGE = re.compile(r"\blanguage-([A-Za-z0-9+#-]{1,30})\b")
_BLOCKS = frozenset({"p", "div", "section", "article", "ul", "ol", "pre", "table", "blockquote", "hr", *_HEADINGS})
_TICKS = re.compile(r"`+")


def parse_fragment(source: str) -> Element | None:
    """Return the root of HTML of any length; `None` if it has no element and no text. The parser takes linear time."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(source.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def html_to_markdown(source: str) -> str:
    """Return HTML as Markdown. Images are left out."""
    root = parse_fragment(source)
    return "" if root is None else nodes_to_markdown(children_of(root))


def nodes_to_markdown(nodes: list[str | Element]) -> str:
    """Return texts and elements that follow each other as Markdown."""
    writer = _Writer()
    blocks: list[str] = []
    writer.add_nodes(nodes, blocks, 0)
    return "\n\n".join(blocks)


def children_of(element: Element) -> list[str | Element]:
    """Return the texts and the elements in an element, in their order."""
    nodes: list[str | Element] = [element.text or ""]
    for child in element:
        nodes += [child, child.tail or ""]
    return nodes


@dataclass(slots=True)
class _Writer:
    cell_count: int = 0
    line: list[str] = field(default_factory=list)
    """The pieces of the paragraph so far."""

    def blocks(self, element: Element, depth: int) -> list[str]:
        """Return the blocks in an element."""
        if depth > DEPTH_LIMIT:
            return [_plain_text(element)]
        blocks: list[str] = []
        self.add_nodes(children_of(element), blocks, depth)
        return blocks

    def add_nodes(self, nodes: list[str | Element], blocks: list[str], depth: int) -> None:
        """Append the blocks that the nodes make."""
        for node in nodes:
            if isinstance(node, str):
                self.line.append(_inline_text(node))
            elif node.tag in HIDDEN:
                continue
            elif node.tag in _BLOCKS or any(child.tag in _BLOCKS for child in node):
                self._end_paragraph(blocks)
                blocks += self._block(node, depth + 1)
                self._end_paragraph(blocks)
            else:
                self.line.append(_inline(node, depth + 1))
        self._end_paragraph(blocks)

    def _end_paragraph(self, blocks: list[str]) -> None:
        if not self.line:
            return
        lines = [line.strip() for line in "".join(self.line).split("\n")]
        self.line.clear()
        paragraphs = (group for is_text, group in groupby(lines, bool) if is_text)
        blocks += ("\\\n".join(group) for group in paragraphs)

    def _block(self, element: Element, depth: int) -> list[str]:
        tag = element.tag
        if depth > DEPTH_LIMIT:
            return self.blocks(element, depth)
        if tag in _HEADINGS:
            text = " ".join(self.blocks(element, depth)).replace("\\\n", " ").replace("\n", " ")
            return [f"{_HEADINGS[tag]} {text}"] if text else []
        if tag == "pre":
            return [_fence(element)]
        if tag == "hr":
            return ["---"]
        if tag == "table":
            return self._table(element)
        if tag in ("ul", "ol"):
            return self._list(element, depth)
        blocks = self.blocks(element, depth)
        if tag == "blockquote":
            return ["\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n"))] if blocks else []
        return blocks

    def _list(self, element: Element, depth: int) -> list[str]:
        items: list[str] = []
        for child in element:
            if not isinstance(child.tag, str) or child.tag in HIDDEN:
                continue
            marker = f"{len(items) + 1}." if element.tag == "ol" else "-"
            blocks = self.blocks(child, depth) if child.tag == "li" else self._block(child, depth + 1)
            indentation = " " * (len(marker) + 1)
            text = "\n\n".join(blocks).replace("\n", f"\n{indentation}").replace(f"\n{indentation}\n", "\n\n")
            items.append(f"{marker} {text}".rstrip())
        return ["\n".join(items)] if items else []

    def _table(self, element: Element) -> list[str]:
        rows: list[list[str]] = []
        for cells, _ in iterate_rows(element):
            self.cell_count += len(cells)
            if self.cell_count > CELLS_LIMIT:
                return [_plain_text(element)]
            rows.append([_inline(cell, 1).replace("\n", " ").strip() for cell in cells])
        width = max((len(row) for row in rows), default=0)
        if not width:
            return []
        # One long row must not add a thousand empty cells to each other row of the table.
        if width * len(rows) > CELLS_LIMIT:
            return [_plain_text(element)]
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        return ["\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])]


def _plain_text(element: Element) -> str:
    return escape_text(" ".join("".join(element.itertext()).split()))


def _inline_text(text: str) -> str:
    """Return text escaped, with each run of white space as one space."""
    core = " ".join(text.split())
    if not core:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{escape_label(core)}{' ' * text[-1].isspace()}"


def _inline(element: Element, depth: int) -> str:
    """Return the Markdown of an element within a paragraph."""
    tag = element.tag
    if tag == "br":
        return "\n"
    if tag in HIDDEN or tag == "img" or not isinstance(tag, str):
        return ""
    if tag in ("code", "kbd", "samp", "tt"):
        return _code("".join(element.itertext()))
    if depth > DEPTH_LIMIT:
        return _inline_text("".join(element.itertext()))
    text = "".join(
        _inline_text(node) if isinstance(node, str) else _inline(node, depth + 1) for node in children_of(element)
    )
    core = text.strip()
    if not core:
        return " " if text else ""
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if tag == "a" and (address := address_of(element)):
        return f"{before}[{core}](<{address}>){after}"
    if tag in _MARKS and "\n" not in core:
        return f"{before}{_MARKS[tag]}{core}{_MARKS[tag]}{after}"
    return text


def _code(text: str) -> str:
    text = " ".join(text.split())
    if not text:
        return ""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _fence(element: Element) -> str:
    inner = next((child for child in element if child.tag == "code"), element)
    names = f"{inner.get('class') or ''} {element.get('class') or ''}"[:1000]
    language = _LANGUAGE.search(names)
    return fence_code("".join(element.itertext()).strip("\n"), language[1] if language else "")
