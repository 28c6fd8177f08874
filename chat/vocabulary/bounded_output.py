"""The output of code as a model gets it: bounded. Pure."""

from __future__ import annotations

OUTPUT_LIMIT_CHARS = 20_000
"""Maximum length of the text of one result that a model gets."""
HEAD_CHARS = 12_000
"""Characters of the beginning of a cut text. The rest is its end, because a traceback ends with the error."""


def shortened(text: str) -> str:
    """Return the text, or its beginning and its end with a notice in between."""
    if len(text) <= OUTPUT_LIMIT_CHARS:
        return text
    tail_chars = OUTPUT_LIMIT_CHARS - HEAD_CHARS
    left_out = len(text) - OUTPUT_LIMIT_CHARS
    return f"{text[:HEAD_CHARS]}\n[... {left_out:,} characters are left out here ...]\n{text[-tail_chars:]}"
