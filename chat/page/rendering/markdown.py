"""Conversion of a complete markdown text to safe HTML."""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString

from chat.page.rendering.documents import DEFAULT_OPTIONS, MarkdownOptions
from chat.page.rendering.stream import split_markdown

QUESTION_LIMIT_CHARS = 16_000
"""Maximum length of a person's text that is rendered, at 1 ms per 1,000 characters. Longer ones are shown as typed."""


def render_markdown(text: str, options: MarkdownOptions = DEFAULT_OPTIONS) -> SafeString:
    """Render CommonMark with GFM tables, strikethrough, task lists, autolinks and footnotes, and formulas in LaTeX.

    A few HTML tags are elements (`tags`), all other HTML is shown as source text and images as links, so the result
    contains no scripts and loads no resources.
    """
    closed_html, tail_html = split_markdown(text, options)
    return SafeString(closed_html + tail_html)


def render_question(text: str, id_prefix: str, *, has_buttons: bool = True) -> SafeString:
    """Render what a person typed: Markdown in which each line stays a line. Parameters: see `MarkdownOptions`."""
    if len(text) > QUESTION_LIMIT_CHARS:
        return SafeString(f'<div class="as-typed">{escape(text)}</div>')
    return render_markdown(
        text, MarkdownOptions(id_prefix, has_line_breaks=True, has_buttons=has_buttons, has_tags=False)
    )
