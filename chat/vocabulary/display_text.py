"""Converts a displayed object to text, for models, for programs that read an answer, and for comparisons. Pure.

The result depends only on the bundle, and the work is limited for every bundle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from chat.vocabulary.bounded_output import shortened
from chat.vocabulary.data_uris import without_data_uris
from chat.vocabulary.display_bundles import TRACEBACK
from chat.vocabulary.html_content import HtmlNote, read_pieces
from chat.vocabulary.html_elements import TAKEN_ADDRESS, Element, iterate_rows, text_of
from chat.vocabulary.parts import JSON

PLAIN = "text/plain"
HTML = "text/html"
LATEX = "text/latex"
MARKDOWN = "text/markdown"
JSON_TYPES = ("application/json", "application/geo+json")
CELLS_LIMIT = 4_000
"""Maximum number of cells that are written of one table."""

# The plain text of an object that only names its class, such as `<IPython.core.display.HTML object>`.
_OBJECT_NAME = re.compile(r"<[\w.]{1,200}(?: [^<>\n]{0,300})?>\s*")


def display_text(bundle: Mapping[str, JSON]) -> str:
    """Return a bundle as text that ends with a line break; empty if the bundle has no content.

    The result is the plain text, unless that only names the class of an object: then it is its Markdown, its LaTeX, the
    text of its HTML, or its JSON. Notes in brackets stand for content that has no text. A long text is cut in its
    middle, with a notice there.
    """
    text = (
        informative_text(bundle)
        or text_in(bundle, MARKDOWN).replace(f"]({TAKEN_ADDRESS})", "] (the picture follows)")
        or text_in(bundle, LATEX)
        or html_text(text_in(bundle, HTML))
        or _json_text(bundle)
        or _other_text(bundle)
    )
    return f"{shortened(without_data_uris(text))}\n" if text else ""


def text_in(bundle: Mapping[str, JSON], mime_type: str) -> str:
    """Return the form with this MIME type; empty if the bundle has none or it is not a text."""
    value = bundle.get(mime_type)
    return value if isinstance(value, str) else ""


def informative_text(bundle: Mapping[str, JSON]) -> str:
    """Return the plain text of a bundle; empty if that only names the class of an object."""
    text = text_in(bundle, PLAIN)
    return "" if _OBJECT_NAME.fullmatch(text) else text


@lru_cache(maxsize=8)
def html_text(source: str) -> str:
    """Return HTML as text: headings, items and links on lines of their own, tables row by row, and notes in
    brackets.
    """
    lines: list[str] = []
    for piece in read_pieces(source):
        match piece:
            case str():
                lines.append(piece)
            case HtmlNote():
                lines.append(f"[{piece.text}]")
            case _:
                lines += _table_lines(piece)
    return "\n".join(lines)


def _table_lines(table: Element) -> Iterator[str]:
    """Yield the caption and the rows of a table, up to a limit."""
    caption = table.find("caption")
    if caption is not None and (title := text_of(caption)):
        yield title
    cells = left_out = 0
    for row, _ in iterate_rows(table):
        if cells >= CELLS_LIMIT:
            left_out += 1
            continue
        cells += max(len(row), 1)
        if row:
            yield " | ".join(text_of(cell).replace("\n", " ") for cell in row[:CELLS_LIMIT])
    if left_out:
        yield f"[{left_out:,} more rows]"


def _json_text(bundle: Mapping[str, JSON]) -> str:
    mime_type = next((mime_type for mime_type in JSON_TYPES if mime_type in bundle), None)
    if mime_type is None:
        return ""
    return json.dumps(bundle[mime_type], ensure_ascii=False, separators=(",", ":"))


def _other_text(bundle: Mapping[str, JSON]) -> str:
    """Return a note about types that have no text, or the name of the class if nothing else is known."""
    if "image/svg+xml" in bundle:
        return "[A drawing in SVG is shown here.]"
    others = [mime_type for mime_type in bundle if mime_type not in (PLAIN, HTML, MARKDOWN, LATEX, TRACEBACK)]
    return f"[Output of type {', '.join(others)[:500]} that has no text.]" if others else text_in(bundle, PLAIN)
