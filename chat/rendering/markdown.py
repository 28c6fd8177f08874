"""Markdown, whole, to HTML that is safe to show."""

from __future__ import annotations

from django.utils.safestring import SafeString

from chat.rendering.stream import split_markdown


def render_markdown(text: str) -> SafeString:
    """Render CommonMark with GFM's tables, strikethrough, task lists and autolinks, and math between dollars.

    Raw HTML and images are shown as typed, so the result holds nothing that runs or that loads by itself.
    """
    closed, tail = split_markdown(text)
    return SafeString(closed + tail)
