"""A mark that changes how the parser reads a place of the source, and is removed from its HTML."""

from __future__ import annotations

import re

MARK = "\ufdd0"
"""A noncharacter, which Unicode reserves for use within a program."""
_URL_MARK = "%EF%B7%90"

_DASH_MARK = f" {MARK * 3}"
_SHORT_DASHES = re.compile(r"(?:\A|(?<=[\r\n]))([ \t>]*+)(--?)([ \t]*+)(?=[\r\n]|\Z)")
# The blanks are not at the end of the line, where they would break it.
_EMPTY_LINE = rf"{MARK * 3}[ \t]*+{MARK}"
_MARKED_ITEM = re.compile(rf"<p(?: [^<>]*+)?>{_EMPTY_LINE}</p>\n?|(?<=>){_EMPTY_LINE}(?:\n|(?=<))")


def mark_dashes(text: str) -> str:
    """Return the source without marks of its own, and with a mark in each line of one or two dashes.

    Below a line of text, the parser would take them as a table of one column. One dash begins a list now, as it does
    with the text that follows while an answer streams; two dashes are text.
    """
    text = text.replace(MARK, "")
    return _SHORT_DASHES.sub(_marked_dashes, text) if "-" in text else text


def _marked_dashes(match: re.Match[str]) -> str:
    prefix, dashes, blanks = match.groups()
    return f"{prefix}-{_DASH_MARK}{blanks}{MARK}" if dashes == "-" else f"{prefix}{MARK}--{blanks}"


def remove_marks(raw_html: str) -> str:
    """Return the parser's HTML without marks."""
    if MARK * 3 in raw_html:
        raw_html = _MARKED_ITEM.sub("", raw_html)
    return raw_html.replace(_DASH_MARK, "").replace(MARK, "").replace(_URL_MARK, "")
