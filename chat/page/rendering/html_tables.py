"""Reads the tables and the text of HTML that a kernel sent. The HTML itself is never inserted into a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

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
from chat.vocabulary.html_content import HtmlNote, HtmlPiece, read_pieces
from chat.vocabulary.html_elements import (
    CELL_LIMIT_CHARS,
    HTML_LIMIT_CHARS,
    Element,
    iterate_rows,
    split_lines,
    text_of,
)

TABLES_LIMIT = 10
SPAN_LIMIT = 1_000
"""Maximum number of rows or columns that a cell spans. Browsers limit columns to the same number."""
COLORS_NOTE = "The colours of cells are not shown here."

_SIZE = re.compile(
    r"(\d[\d,]{0,15}+) rows × (\d[\d,]{0,15}+) columns|shape: \((\d[\d_]{0,15}+),(?: (\d[\d_]{0,15}+))?\)"
)
"""The line with which pandas or polars states the size of the data."""

ContentPiece: TypeAlias = Table | HtmlNote | str
"""A table, a sentence about what is not shown, or text between tables."""


@dataclass(frozen=True, slots=True)
class HtmlContent:
    """The content of a piece of HTML that pages can show."""

    pieces: tuple[ContentPiece, ...]
    left_out_tables: int = 0
    """Number of tables that are not among the pieces."""

    @property
    def tables(self) -> list[Table]:
        return [piece for piece in self.pieces if isinstance(piece, Table)]

    @property
    def text(self) -> str:
        """The text outside of tables."""
        return "\n".join(piece for piece in self.pieces if isinstance(piece, str))

    @property
    def is_tabular(self) -> bool:
        """True if tables represent the whole output: other text has at most 200 characters and twice their length."""
        tables = self.tables
        chars = sum(len(text) for table in tables for row in table.rows for text in row)
        return bool(tables) and len(self.text) <= 2 * chars + 200


# A display is rendered when it is published, again at the end of its turn, and for each page that is loaded.
@lru_cache(maxsize=16)
def read_html(source: str, *, as_markdown: bool = False) -> HtmlContent:
    """Return the tables and the text of the HTML, in their order. `as_markdown`: see `read_pieces`."""
    pieces = read_pieces(source, as_markdown=as_markdown)
    if sum(not isinstance(piece, str | HtmlNote) for piece in pieces) != 1:
        return _build_content(pieces)
    if _has_colors(source):
        pieces.append(HtmlNote(COLORS_NOTE))
    left_out_rows = source.count("<tr", HTML_LIMIT_CHARS)
    return _build_content(*_extract_size(pieces), left_out_rows=left_out_rows)


def _has_colors(source: str) -> bool:
    """Return whether the HTML has rules for the colours of single cells, as pandas writes them for a styled table."""
    rules = source[: source.find("<table")]
    return "#T_" in rules and ("color:" in rules or "background:" in rules)


def _build_content(
    pieces: list[HtmlPiece], total_rows: int = 0, total_columns: int = 0, *, left_out_rows: int = 0
) -> HtmlContent:
    built: list[ContentPiece] = []
    tables = cells = left_out_tables = 0
    for piece in pieces:
        if isinstance(piece, str | HtmlNote):
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


def _extract_size(pieces: list[HtmlPiece]) -> tuple[list[HtmlPiece], int, int]:
    """Return the pieces without the line that states the size of the data, and this size; zeros without such a line."""
    rows = columns = 0
    others: list[HtmlPiece] = []
    for piece in pieces:
        match = _SIZE.search(piece) if isinstance(piece, str) else None
        if not isinstance(piece, str) or match is None:
            others.append(piece)
            continue
        rows, columns = (int(re.sub(r"[,_]", "", text or "0")) for text in (match[1] or match[3], match[2] or match[4]))
        if rest := "\n".join(split_lines(piece[: match.start()] + piece[match.end() :])):
            others.append(rest)
    return others, rows, columns


def _read_table(table: Element, cells_limit: int, left_out_rows: int) -> SourceTable:
    """Read the rows of a table up to `cells_limit` cells and `ROWS_LIMIT` rows. An empty row counts as one cell."""
    caption = table.find("caption")
    has_head = table.find("thead") is not None
    header: list[list[SourceCell]] = []
    body: list[list[SourceCell]] = []
    total = left_out_columns = 0
    for row, is_in_head in iterate_rows(table):
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
        # If all cells are header cells, the rows are the body.
        header, body = [], header
    return SourceTable("" if caption is None else text_of(caption), header, body, left_out_rows, left_out_columns)


def _read_cell(cell: Element) -> SourceCell:
    if not len(cell) and not cell.attrib:
        return SourceCell(" ".join((cell.text or "").split())[:CELL_LIMIT_CHARS], cell.tag == "th")
    return SourceCell(text_of(cell), cell.tag == "th", _span_of(cell, "colspan"), _span_of(cell, "rowspan"))


def _span_of(cell: Element, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(int(value[:6]), 1), SPAN_LIMIT) if value[:6].isascii() and value[:6].isdigit() else 1
