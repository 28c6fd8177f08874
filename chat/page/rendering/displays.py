"""How a rich output of code is shown: its richest form that is safe, as a list of blocks.

A kernel runs untrusted code, so a bundle may hold anything. Its HTML and SVG never become part of a page: tables are
built again from the text of their cells, pictures are images, formulas pass the sanitizer, and everything else is text.
The result depends on nothing but the bundle, and the work is limited for every bundle, because it is done on the event
loop (see the limits in `html_tables`, `tables`, `svg`, `maths` and `json_text`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

from django.utils.safestring import SafeString

from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.html_tables import read_html
from chat.page.rendering.json_text import format_json
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.maths import render_latex
from chat.page.rendering.svg import Picture, sanitize_svg
from chat.page.rendering.tables import Table
from chat.vocabulary.display_bundles import TRACEBACK
from chat.vocabulary.parts import JSON

PLAIN = "text/plain"
HTML = "text/html"
LATEX = "text/latex"
MARKDOWN = "text/markdown"
SVG = "image/svg+xml"
JSON_TYPES = ("application/json", "application/geo+json")
MARKDOWN_LIMIT_CHARS = 16_000
"""Longer Markdown is shown as text: rendering it takes about 1 ms per 1,000 characters."""
FOLD_LINES = 24
FOLD_CHARS = 2_000
"""Longer sources are folded."""

INTERACTIVE_TYPES: Mapping[str, str] = {
    "application/vnd.plotly.": "Plotly chart",
    "application/vnd.vegalite.": "Vega-Lite chart",
    "application/vnd.vega.": "Vega chart",
    "application/vnd.bokehjs_": "Bokeh chart",
    "application/vnd.holoviews_": "HoloViews chart",
    "application/vnd.jupyter.widget-view+": "Jupyter widget",
}
"""Beginnings of the types that a browser could show only with a script, and what they describe."""

_OBJECT_NAME = re.compile(r"<[\w.]{1,200}(?: object)?(?: at 0x[0-9a-fA-F]{1,16})?>\s*")
"""The text of an object without a text form of its own, such as `<IPython.core.display.HTML object>`."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A LaTeX text with formulas."""

    kind: ClassVar[str] = "formula"

    html: SafeString
    latex: str


@dataclass(frozen=True, slots=True)
class RenderedMarkdown:
    """A Markdown text."""

    kind: ClassVar[str] = "markdown"

    html: SafeString
    source: str


@dataclass(frozen=True, slots=True)
class Source:
    """A text in a formal language, such as JSON or LaTeX."""

    kind: ClassVar[str] = "source"

    language: str
    text: str

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n") + 1

    @property
    def is_folded(self) -> bool:
        """Whether the page shows only a summary at first."""
        return self.lines > FOLD_LINES or len(self.text) > FOLD_CHARS


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text as it was written."""

    kind: ClassVar[str] = "text"

    text: str


@dataclass(frozen=True, slots=True)
class TableText:
    """A text of the output beside its tables."""

    kind: ClassVar[str] = "table_text"

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of ours about the output. Pages translate it."""

    kind: ClassVar[str] = "note"

    text: str


Block: TypeAlias = Table | Picture | Formula | RenderedMarkdown | Source | PlainText | TableText | Note
"""A piece of a display. `templates/chat/displays/_<kind>.jinja` shows it."""


def display_blocks(
    bundle: Mapping[str, JSON], *, has_attachments: bool = False, has_buttons: bool = True
) -> tuple[Block, ...]:
    """Return the blocks that show a bundle.

    `has_attachments`: whether images follow, which can stand for it alone. `has_buttons`: see `MarkdownOptions`.
    """
    show_markdown = partial(_show_markdown, has_buttons=has_buttons)
    forms = (_show_svg, _show_interactive, _show_tables, _show_latex, show_markdown, _show_json, _show_traceback)
    for show in (*forms, _show_text):
        if blocks := show(bundle):
            return blocks
    if has_attachments:
        return ()
    return (Note(f"Output of type {', '.join(bundle)[:500] or 'unknown'} that cannot be shown here."),)


def interactive_name(bundle: Mapping[str, JSON]) -> str:
    """Return what kind of interactive output the bundle holds; empty if it holds none."""
    for beginning, name in INTERACTIVE_TYPES.items():
        if any(mime_type.startswith(beginning) for mime_type in bundle):
            return name
    return ""


def _text(bundle: Mapping[str, JSON], mime_type: str) -> str:
    value = bundle.get(mime_type)
    return value if isinstance(value, str) else ""


def _show_traceback(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    text = _text(bundle, TRACEBACK)
    return (Source("Traceback", text),) if text else ()


def _show_svg(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    source = _text(bundle, SVG)
    picture = sanitize_svg(source) if source else None
    return (picture,) if picture else ()


def _show_interactive(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    name = interactive_name(bundle)
    if not name:
        return ()
    note = Note(f"An interactive {name}. Only static pictures are shown here; exports contain the output itself.")
    text = _informative_text(bundle)
    return (note, Source("Text", text)) if text else (note,)


def _show_tables(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    content = read_html(_text(bundle, HTML))
    if not content.is_tabular:
        return ()
    blocks: list[Block] = [TableText(piece) if isinstance(piece, str) else piece for piece in content.pieces]
    if number := content.left_out_tables:
        blocks.append(Note(f"{number} more table{'s are' if number > 1 else ' is'} left out here."))
    return tuple(blocks)


def _show_latex(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    latex = _text(bundle, LATEX)
    if not latex:
        return ()
    html = render_latex(latex)
    return (Source("LaTeX", latex),) if html is None else (Formula(html, latex),)


def _show_markdown(bundle: Mapping[str, JSON], *, has_buttons: bool) -> tuple[Block, ...]:
    source = _text(bundle, MARKDOWN)
    if not source:
        return ()
    if len(source) > MARKDOWN_LIMIT_CHARS:
        return (Source("Markdown", source),)
    return (RenderedMarkdown(render_markdown(source, MarkdownOptions(has_buttons=has_buttons)), source),)


def _show_json(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    mime_type = next((mime_type for mime_type in JSON_TYPES if mime_type in bundle), None)
    return () if mime_type is None else (Source("JSON", format_json(bundle[mime_type])),)


def _show_text(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    """Show the plain text, or the text of the HTML if the plain text says nothing."""
    text = _informative_text(bundle) or read_html(_text(bundle, HTML)).text or _text(bundle, PLAIN)
    return (PlainText(text),) if text else ()


def _informative_text(bundle: Mapping[str, JSON]) -> str:
    """Return the plain text, unless it only names the class of an object."""
    text = _text(bundle, PLAIN)
    return "" if _OBJECT_NAME.fullmatch(text) else text
