"""The question of a turn that runs the user's code: the code as a fenced block of Markdown. Pure."""

from __future__ import annotations

import re

_FENCED = re.compile(r"(`{3,})python\n(.*)\n\1", re.DOTALL)


def fence_code(code: str) -> str:
    """Return code as a fenced block of Markdown, whose fence is longer than any in the code."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}"


def unfence_code(text: str) -> str | None:
    """Return the code in a text that `fence_code` made; `None` for another text."""
    match = _FENCED.fullmatch(text.strip())
    return match[2] if match else None
