"""Conversion of a complete markdown text to safe HTML."""

from __future__ import annotations

from django.utils.safestring import SafeString

from chat.rendering.stream import split_markdown


def render_markdown(text: str) -> SafeString:
    """Render CommonMark with GFM tables, strikethrough, task lists and autolinks, and math between dollar signs.

    Raw HTML and images are shown as source text, so the result contains no scripts and loads no resources.
    """
    closed_html, tail_html = split_markdown(text)
    return SafeString(closed_html + tail_html)
