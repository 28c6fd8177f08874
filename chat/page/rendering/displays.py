"""Converts a rich output of code to blocks that pages show. The richest form that is safe is chosen.

A kernel runs untrusted code, so a bundle may hold anything. Its HTML and SVG never become part of a page: tables are
built again from the text of their cells, pictures are images, formulas pass the sanitizer, and everything else is text.
The result depends on nothing but the bundle, and the work is limited for every bundle, because it is done on the event
loop (see the limits in `html_tables`, `tables`, `svg`, `maths` and `json_text`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from django.utils.safestring import SafeString

from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.html_tables import HtmlContent, read_html
from chat.page.rendering.json_text import format_json
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.maths import render_latex
from chat.page.rendering.svg import Picture, sanitize_svg
from chat.page.rendering.tables import Table
from chat.vocabulary.display_bundles import TRACEBACK
from chat.vocabulary.display_text import HTML, JSON_TYPES, LATEX, MARKDOWN, PLAIN, informative_text, text_in
from chat.vocabulary.html_content import HtmlNote
from chat.vocabulary.parts import JSON

SVG = "image/svg+xml"
WIDGET = "Jupyter widget"
MARKDOWN_LIMIT_CHARS = 16_000
"""Maximum length of Markdown that is rendered, about 1 ms per 1,000 characters. Longer texts are shown as they are."""
_HEADING = re.compile(r"<(/?)h([3-6])>")
_HIGHEST_LEVEL = 3
"""Highest level of headings in texts. The page and the message have the levels above it."""
FOLD_LINES = 24
FOLD_CHARS = 2_000
"""Maximum number of characters of a source that is not folded."""

INTERACTIVE_TYPES: Mapping[str, str] = {
    "application/vnd.plotly.": "Plotly chart",
    "application/vnd.vegalite.": "Vega-Lite chart",
    "application/vnd.vega.": "Vega chart",
    "application/vnd.bokehjs_": "Bokeh chart",
    "application/vnd.holoviews_": "HoloViews chart",
    "application/vnd.jupyter.widget-view+": WIDGET,
}
"""Prefix of a MIME type that a browser could show only with a script -> kind of output."""


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
class Note:
    """A sentence by Plotline about the output. Pages translate it."""

    kind: ClassVar[str] = "note"

    text: str


Block: TypeAlias = Table | Picture | Formula | RenderedMarkdown | Source | PlainText | Note
"""A piece of a display. `templates/chat/displays/_<kind>.jinja` shows it."""


def display_blocks(
    bundle: Mapping[str, JSON], *, has_attachments: bool = False, has_buttons: bool = True
) -> tuple[Block, ...]:
    """Return the blocks that show a bundle: an output in several MIME types.

    `has_attachments`: whether images follow, which can represent the output alone. `has_buttons`: see
    `MarkdownOptions`.
    """
    options = MarkdownOptions(has_buttons=has_buttons)
    blocks = (
        _show_svg(bundle)
        or _show_interactive(bundle)
        or _show_tables(bundle, options)
        or _show_latex(bundle)
        or _show_markdown(bundle, options)
        or _show_json(bundle)
        or _show_traceback(bundle)
        or _show_text(bundle)
        or _html_blocks(text_in(bundle, HTML), options)
        or _show_name(bundle)
    )
    if blocks or has_attachments:
        return blocks
    return (Note(f"Output of type {', '.join(bundle)[:500] or 'unknown'} that cannot be shown here."),)


def interactive_name(bundle: Mapping[str, JSON]) -> str:
    """Return what kind of interactive output the bundle holds; empty if it holds none."""
    for beginning, name in INTERACTIVE_TYPES.items():
        if any(mime_type.startswith(beginning) for mime_type in bundle):
            return name
    return ""


def _show_traceback(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    text = text_in(bundle, TRACEBACK)
    return (Source("Traceback", text),) if text else ()


def _show_svg(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    source = text_in(bundle, SVG)
    picture = sanitize_svg(source) if source else None
    return (picture,) if picture else ()


def _show_interactive(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    name = interactive_name(bundle)
    if not name:
        return ()
    if name == WIDGET:
        note = Note("A Jupyter widget is a control that does not work here.")
    else:
        note = Note(f"An interactive {name}. Only static pictures are shown here; exports contain the output itself.")
    text = informative_text(bundle)
    return (note, Source("Text", text)) if text else (note,)


def _show_tables(bundle: Mapping[str, JSON], options: MarkdownOptions) -> tuple[Block, ...]:
    html = text_in(bundle, HTML)
    return _html_blocks(html, options) if read_html(html).is_tabular else ()


def _html_blocks(html: str, options: MarkdownOptions) -> tuple[Block, ...]:
    """Return the blocks of an HTML output: tables, text with headings, lists and links, and notes about the rest."""
    content = read_html(html, as_markdown=True)
    if len(content.text) <= MARKDOWN_LIMIT_CHARS:
        blocks = _content_blocks(content, options)
    else:
        content = read_html(html)
        blocks = _content_blocks(content, None)
    if number := content.left_out_tables:
        blocks.append(Note(f"{number} more table{'s are' if number > 1 else ' is'} left out here."))
    return tuple(blocks)


def _content_blocks(content: HtmlContent, options: MarkdownOptions | None) -> list[Block]:
    """Return the blocks for the content of HTML. `options`: how to render its Markdown; `None`: its texts are plain."""
    blocks: list[Block] = []
    levels: list[int] = []
    for piece in content.pieces:
        match piece:
            case Table():
                blocks.append(piece)
            case HtmlNote():
                blocks.append(Note(piece.text))
            case _ if options is None:
                blocks.append(PlainText(piece))
            case _:
                blocks.append(RenderedMarkdown(_nest_headings(render_markdown(piece, options), levels), piece))
    return blocks


def _nest_headings(html: SafeString, levels: list[int]) -> SafeString:
    """Return the rendered text with headings that skip no level. `levels`: of the last heading and its parents."""

    def nested(tag: re.Match[str]) -> str:
        level = int(tag[2])
        if not tag[1]:
            levels[:] = [*(one for one in levels if one < level), level]
        return f"<{tag[1]}h{_HIGHEST_LEVEL - 1 + len(levels)}>"

    return SafeString(_HEADING.sub(nested, html))


def _show_latex(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    latex = text_in(bundle, LATEX)
    if not latex:
        return ()
    html = render_latex(latex)
    return (Source("LaTeX", latex),) if html is None else (Formula(html, latex),)


def _show_markdown(bundle: Mapping[str, JSON], options: MarkdownOptions) -> tuple[Block, ...]:
    source = text_in(bundle, MARKDOWN)
    if not source:
        return ()
    if len(source) > MARKDOWN_LIMIT_CHARS:
        return (Source("Markdown", source),)
    return (RenderedMarkdown(render_markdown(source, options), source),)


def _show_json(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    mime_type = next((mime_type for mime_type in JSON_TYPES if mime_type in bundle), None)
    return () if mime_type is None else (Source("JSON", format_json(bundle[mime_type])),)


def _show_text(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    text = informative_text(bundle)
    return (PlainText(text),) if text else ()


def _show_name(bundle: Mapping[str, JSON]) -> tuple[Block, ...]:
    """Return the plain text of an output without another form. It names only the class of the object."""
    text = text_in(bundle, PLAIN)
    return (PlainText(text),) if text else ()
