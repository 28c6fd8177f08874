"""Shortens the output of code for a model. Pure."""

from __future__ import annotations

OUTPUT_LIMIT_CHARS = 20_000
"""Maximum length of the text of one result that a model gets."""
HEAD_CHARS = 12_000
"""Number of characters that are kept from the beginning of a long text. The other kept characters are its end, because
a traceback ends with the error.
"""


def shortened(text: str) -> str:
    """Return the text. A text that is too long is cut in its middle, with a notice there."""
    if len(text) <= OUTPUT_LIMIT_CHARS:
        return text
    tail_chars = OUTPUT_LIMIT_CHARS - HEAD_CHARS
    left_out = len(text) - OUTPUT_LIMIT_CHARS
    return f"{text[:HEAD_CHARS]}\n[... {left_out:,} characters are left out here ...]\n{text[-tail_chars:]}"
