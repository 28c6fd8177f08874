"""Reads the tables and the text of HTML that a kernel sent. None of the HTML itself gets into a page.

lxml parses the HTML, because its parser takes linear time for any input: it limits the nesting and does not repeat
formatting elements. Python's own `html.parser` took 36 s for 64 KB of `<a ` (Python 3.11.7), and parsers that build the
tree of the HTML standard took 19 s for 500 KB of `<b a=1>`, `<b a=2>` and so on (selectolax 1.0.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from lxml import etree

from chat.page.rendering.tables import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    HEADER_ROWS_LIMIT,
    ROWS_LIMIT,
    SourceCell,
    SourceTable,
    Table,
    build_table,
)

HTML_LIMIT_CHARS = 200_000
"""Only this much of the HTML is parsed, which takes up to 15 ms."""
ELEMENTS_LIMIT = 10_000
"""Elements outside of tables that are read."""
TABLES_LIMIT = 10
TEXT_LIMIT_CHARS = 20_000
"""Text outside of tables that is kept."""
CELL_LIMIT_CHARS = 2_000
SPAN_LIMIT = 1_000
"""Browsers limit spans of columns to the same number."""

_HIDDEN = frozenset(
    {"script", "style", "template", "noscript", "title", "svg", "math", "iframe", "object", "textarea", "select"}
)
"""Elements whose content is not text for a reader."""
_BLOCKS = frozenset(
    {
        *("address", "article", "blockquote", "br", "dd", "details", "div", "dl", "dt", "footer", "form", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "td"),
        *("th", "tr", "ul"),
    }
)
"""Elements that begin and end a line."""
_CELLS = frozenset({"td", "th"})
_SIZE = re.compile(
    r"(\d[\d,]{0,15}+) rows × (\d[\d,]{0,15}+) columns|shape: \((\d[\d_]{0,15}+),(?: (\d[\d_]{0,15}+))?\)"
)
"""The line in which pandas or polars names the size of the data."""

Element: TypeAlias = "etree._Element"
"""lxml has no public name for the type of its elements."""
HtmlPiece: TypeAlias = Table | str
"""A table, or text between tables."""


@dataclass(frozen=True, slots=True)
class HtmlContent:
    """What a reader can be shown of a piece of HTML."""

    pieces: tuple[HtmlPiece, ...]
    left_out_tables: int = 0
    """Number of tables that are not among the pieces."""

    @property
    def tables(self) -> list[Table]:
        """The tables."""
        return [piece for piece in self.pieces if isinstance(piece, Table)]

    @property
    def text(self) -> str:
        """The text outside of tables."""
        return "\n".join(piece for piece in self.pieces if isinstance(piece, str))

    @property
    def is_tabular(self) -> bool:
        """Whether tables make up at least a third of the content, so that they stand for the whole."""
        tables = self.tables
        chars = sum(len(text) for table in tables for row in table.rows for text in row)
        return bool(tables) and len(self.text) <= 2 * chars + 200


# A display is rendered when it is published, again at the end of its turn, and for each page that is loaded.
@lru_cache(maxsize=16)
def read_html(source: str) -> HtmlContent:
    """Return the tables and the text of the HTML, in their order. Tables that contain tables are only their layout."""
    root = _parse(source[:HTML_LIMIT_CHARS])
    if root is None:
        return HtmlContent(())
    pieces: list[Element | str] = []
    for piece in _iterate_pieces(root):
        if isinstance(piece, str):
            if lines := _split_lines(piece):
                pieces.append("\n".join(lines))
        else:
            pieces.append(piece)
    tables = sum(not isinstance(piece, str) for piece in pieces)
    if tables != 1:
        return _build_content(pieces)
    left_out_rows = source.count("<tr", HTML_LIMIT_CHARS)
    return _build_content(*_extract_size(pieces), left_out_rows=left_out_rows)


def _parse(source: str) -> Element | None:
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(source.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        # The source is empty, or it has no element and no text.
        return None


def _iterate_pieces(root: Element) -> Iterator[Element | str]:
    """Yield the texts of the document, and each table that contains no other table."""
    walker = etree.iterwalk(root, events=("start", "end"))
    texts: list[str] = []
    chars = 0
    number = 0
    for event, element in walker:
        number += 20 if element.tag == "table" else 1
        if number > 2 * ELEMENTS_LIMIT or chars > TEXT_LIMIT_CHARS:
            texts.append("…")
            break
        if element.tag in _BLOCKS:
            texts.append("\n")
        text = element.text if event == "start" else element.tail
        if event == "start" and element.tag in _HIDDEN:
            walker.skip_subtree()
            continue
        if event == "start" and element.tag == "table" and element.find(".//table") is None:
            walker.skip_subtree()
            yield "".join(texts)
            texts.clear()
            yield element
            continue
        if text:
            texts.append(text[:TEXT_LIMIT_CHARS])
            chars += len(text)
    yield "".join(texts)


def _build_content(
    pieces: list[Element | str], total_rows: int = 0, total_columns: int = 0, *, left_out_rows: int = 0
) -> HtmlContent:
    built: list[HtmlPiece] = []
    tables = cells = left_out_tables = 0
    for piece in pieces:
        if isinstance(piece, str):
            built.append(piece)
        elif tables == TABLES_LIMIT or cells >= CELLS_LIMIT:
            left_out_tables += 1
        else:
            source = _read_table(piece, CELLS_LIMIT - cells, left_out_rows)
            if table := build_table(source, total_rows=total_rows, total_columns=total_columns):
                built.append(table)
                tables += 1
                cells += sum(map(len, table.rows))
    return HtmlContent(tuple(built), left_out_tables)


def _extract_size(pieces: list[Element | str]) -> tuple[list[Element | str], int, int]:
    """Return the pieces without the line that names the size of the data, and this size; zeros if there is none."""
    rows = columns = 0
    others: list[Element | str] = []
    for piece in pieces:
        match = _SIZE.search(piece) if isinstance(piece, str) else None
        if not isinstance(piece, str) or match is None:
            others.append(piece)
            continue
        rows, columns = (int(re.sub(r"[,_]", "", text or "0")) for text in (match[1] or match[3], match[2] or match[4]))
        if rest := "\n".join(_split_lines(piece[: match.start()] + piece[match.end() :])):
            others.append(rest)
    return others, rows, columns


def _read_table(table: Element, cells_limit: int, left_out_rows: int) -> SourceTable:
    """Read the rows of a table until it has `cells_limit` cells. A row counts as one cell at least."""
    caption = table.find("caption")
    has_head = table.find("thead") is not None
    header: list[list[SourceCell]] = []
    body: list[list[SourceCell]] = []
    total = left_out_columns = 0
    for row, is_in_head in _iterate_rows(table):
        if total >= cells_limit or len(body) == ROWS_LIMIT:
            left_out_rows += 1
            continue
        cells = [_read_cell(cell) for cell in row[:COLUMNS_LIMIT]]
        total += max(len(cells), 1)
        if not cells:
            continue
        left_out_columns = max(left_out_columns, len(row) - COLUMNS_LIMIT)
        is_head = is_in_head if has_head else not body and all(cell.is_header for cell in cells)
        (header if is_head and not body and len(header) < HEADER_ROWS_LIMIT else body).append(cells)
    if header and not body and not has_head:
        # A table of header cells alone has no header.
        header, body = [], header
    return SourceTable("" if caption is None else _text_of(caption), header, body, left_out_rows, left_out_columns)


def _iterate_rows(element: Element, *, is_in_head: bool = False) -> Iterator[tuple[list[Element], bool]]:
    """Yield the cells of each row, and whether the row is in the `thead`. Cells without a row form one, as in browsers.

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
            yield from _iterate_rows(child, is_in_head=is_in_head or child.tag == "thead")
    if cells:
        yield cells, is_in_head


def _read_cell(cell: Element) -> SourceCell:
    if not len(cell) and not cell.attrib:
        return SourceCell(" ".join((cell.text or "").split())[:CELL_LIMIT_CHARS], cell.tag == "th")
    return SourceCell(_text_of(cell), cell.tag == "th", _span_of(cell, "colspan"), _span_of(cell, "rowspan"))


def _span_of(cell: Element, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(int(value[:6]), 1), SPAN_LIMIT) if value[:6].isascii() and value[:6].isdigit() else 1


def _text_of(element: Element) -> str:
    """Return the text of an element that contains no table."""
    if not len(element):
        return " ".join((element.text or "").split())[:CELL_LIMIT_CHARS]
    texts: list[str] = []
    _collect_texts(element, texts)
    return "\n".join(_split_lines("".join(texts)))[:CELL_LIMIT_CHARS]


def _collect_texts(element: Element, texts: list[str]) -> None:
    """Append the texts in an element, with line breaks around blocks. The parser limits the nesting to 256 levels."""
    if element.text:
        texts.append(element.text)
    for inner in element:
        tag = inner.tag
        if tag in _BLOCKS:
            texts.append("\n")
        if tag not in _HIDDEN:
            _collect_texts(inner, texts)
        if tag in _BLOCKS:
            texts.append("\n")
        if inner.tail:
            texts.append(inner.tail)


def _split_lines(text: str) -> list[str]:
    """Return the lines that are not empty, with each run of blanks as one space."""
    return [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]
