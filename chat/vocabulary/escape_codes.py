"""Removes the codes with which programs color the text of a terminal and move its cursor (ECMA-48)."""

from __future__ import annotations

import re
from collections.abc import Iterator

CODE_LIMIT_CHARS = 4096
"""Maximum length of an escape code. A longer sequence is treated as text, because no title or link is that long;
otherwise one stray code could hold back or hide a long output.
"""

# The quantifiers are possessive and no sequence contains the beginning of another one, so the time is linear.
_CURSOR = rf"(?:\x1b\[|\x9b) [0-?]{{0,{CODE_LIMIT_CHARS}}}+ [ -/]{{0,{CODE_LIMIT_CHARS}}}+"
_STRING = rf"\x1b[\]PX^_] [^\x07\x1b\x9c]{{0,{CODE_LIMIT_CHARS}}}+"
_COMMAND = rf"\x1b[ -/]{{0,{CODE_LIMIT_CHARS}}}+"
_COMPLETE = rf"""
    {_CURSOR} [@-~]                      # colors and cursor movements
    | {_STRING} (?:\x07|\x1b\\|\x9c)     # titles, links and other texts for the terminal
    | {_COMMAND} [0-OQ-WYZ\\`-~]         # other commands
"""
_ESCAPE_CODE = re.compile(_COMPLETE, re.VERBOSE)
# A sequence at the end of a text may be the beginning of a code.
_NEXT_CODE = re.compile(rf"{_COMPLETE} | (?P<open> (?: {_CURSOR} | {_STRING} \x1b? | {_COMMAND} ) \Z )", re.VERBOSE)


def remove_escape_codes(text: str) -> str:
    """Return the text without escape codes. An incomplete code stays."""
    return _ESCAPE_CODE.sub("", text) if _may_hold_codes(text) else text


def find_escape_codes(text: str) -> Iterator[re.Match[str]]:
    """Yield the complete escape codes of a text."""
    return _ESCAPE_CODE.finditer(text)


def split_open_code(text: str) -> tuple[str, str]:
    """Split text that may grow into a text whose codes are all complete, and an incomplete code at its end."""
    if _may_hold_codes(text):
        for code in _NEXT_CODE.finditer(text):
            if code["open"]:
                return text[: code.start()], code["open"]
    return text, ""


def _may_hold_codes(text: str) -> bool:
    return "\x1b" in text or "\x9b" in text
