"""Writes code and output as Markdown, for models that get them as text. Pure."""

from __future__ import annotations

import re

BACKTICKS = re.compile("`+")


def fenced(text: str, language: str) -> str:
    """Return a Markdown code block. Its fence is longer than any in the text."""
    longest = max(map(len, BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"\n{fence}{language}\n{text.rstrip()}\n{fence}\n"
