"""Converts the code that a user runs to the text of a question, a fenced block of Markdown, and back. Pure."""

from __future__ import annotations

import re

from chat.vocabulary import markdown_source

_FENCED = re.compile(r"(`{3,})python\n(.*)\n\1", re.DOTALL)


def fence_code(code: str) -> str:
    """Return code as a fenced block of Markdown, whose fence is longer than any in the code."""
    return markdown_source.fence_code(f"{code}\n", "python")


def unfence_code(text: str) -> str | None:
    """Return the code in a text that `fence_code` made; `None` for any other text."""
    match = _FENCED.fullmatch(text.strip())
    return match[2] if match else None
