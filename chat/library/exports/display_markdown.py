"""Converts a rich output to Markdown: tables, formulas, pictures and text, in the forms that the page shows. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from chat.library.exports.commonmark import sanitize_markdown
from chat.page.rendering.displays import (
    Block,
    Formula,
    Note,
    PlainText,
    RenderedMarkdown,
    Source,
    display_blocks,
)
from chat.page.rendering.maths import single_formula
from chat.page.rendering.svg import Picture
from chat.page.rendering.tables import Table, is_number
from chat.vocabulary.escape_codes import remove_escape_codes
from chat.vocabulary.markdown_source import escape_label, fence_code
from chat.vocabulary.parts import Display

ROWS_LIMIT = 200
"""Maximum number of rows of a table in the document."""

LANGUAGES = {"JSON": "json", "LaTeX": "latex"}
"""Language of a source -> info string of its code block. Other languages have no info string."""


def display_markdown(part: Display, *, has_attachments: bool = False) -> str:
    """Return the output as Markdown. `has_attachments`: whether images follow, which can represent the output."""
    blocks = display_blocks(part.bundle, has_attachments=has_attachments)
    return "\n\n".join(filter(None, map(block_markdown, blocks)))


def block_markdown(block: Block) -> str:
    """Return one block of an output as Markdown; empty if the block has no visible content."""
    match block:
        case Table():
            return _table_markdown(block)
        case Picture():
            return f"![{escape_label(block.title) or 'Picture'}]({block.uri})"
        case Formula():
            formula = single_formula(block.latex)
            return fence_code(formula, "math") if formula else fence_code(block.latex, "latex")
        case RenderedMarkdown():
            return sanitize_markdown(block.source) if block.source.strip() else ""
        case Source():
            return fence_code(block.text, LANGUAGES.get(block.language, "text"))
        case PlainText():
            return fence_code(remove_escape_codes(block.text), "text") if block.text else ""
        case Note():
            return f"*{escape_label(block.text)}*"
        case _:
            assert_never(block)


def _table_markdown(table: Table) -> str:
    """Return a line with the caption and the size of the data, and the first rows as a table of GFM.

    A table of GFM has only one row of column names.
    """
    rows = table.rows[:ROWS_LIMIT]
    names = table.column_names
    rules = ["---:" if column in table.right_columns else "---" for column in range(len(names))]
    lines = [_line(map(_escape_cell, names)), _line(rules), *(_line(map(_escape_cell, row)) for row in rows)]
    size = f"{table.size}; the first {ROWS_LIMIT} rows follow" if len(rows) < len(table.rows) else table.size
    heading = ". ".join(filter(None, (escape_label(table.caption), escape_label(size))))
    return f"*{heading}*\n\n" + "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_cell(text: str) -> str:
    """Return the text of a cell as Markdown. Numbers need no escaping, but a dollar could begin a formula."""
    return text if is_number(text) and "$" not in text else escape_label(text)
