"""Removes the codes with which programs color the text of a terminal and move its cursor (ECMA-48)."""

from __future__ import annotations

import re

# The quantifiers give nothing back, and no sequence contains the beginning of another one, so the time is linear.
_ESCAPE_CODE = re.compile(
    r"""
    (?:\x1b\[|\x9b) [0-?]*+ [ -/]*+ [@-~]            # colors and cursor movements
    | \x1b[\]PX^_] [^\x07\x1b\x9c]*+ (?:\x07|\x1b\\|\x9c)   # titles, links and other texts for the terminal
    | \x1b[ -/]*+ [0-OQ-WYZ\\`-~]                    # other commands
    """,
    re.VERBOSE,
)


def remove_escape_codes(text: str) -> str:
    """Return the text without escape codes. A code that is not complete stays."""
    return _ESCAPE_CODE.sub("", text) if "\x1b" in text or "\x9b" in text else text
