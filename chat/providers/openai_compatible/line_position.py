"""Follows a Markdown text that arrives in pieces: whether a picture at its end would cut a block in two. Pure."""

from __future__ import annotations

import re

WITHIN = re.compile(
    r"[ \t]*+(?:>|(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t])"
    r"|[^|]*+\||.*(?<!!)\[[^\[\]]*\Z|.*<(?:a|b|strong|em|i|u|mark|span|td|th|li)(?:\s[^<>]*)?>[ \t]*\Z",
    re.IGNORECASE,
)
"""The beginning of an item, a quote, a heading, a row of a table, a link, or an element."""
PAIRED_SIGNS = ("*", "**", "__", "~~")
LINE_LIMIT_CHARS = 2_000
"""How much of the end of a line is looked at."""


class LinePosition:
    """The line at the end of a text."""

    def __init__(self) -> None:
        self._line = ""
        self.is_after_blank = False
        """Whether the line before it is blank."""

    def feed(self, text: str) -> None:
        """Go on to the end of more text."""
        before, line_end, last = text.rpartition("\n")
        if line_end:
            self.is_after_blank = not (self._line + before).rpartition("\n")[2].strip()
            self._line = ""
        self._line = (self._line + last)[-LINE_LIMIT_CHARS:]

    @property
    def is_within(self) -> bool:
        """Whether a picture here would cut a block, a link or an emphasis in two."""
        is_cut = any(self._line.count(sign) % 2 for sign in PAIRED_SIGNS)
        return is_cut or WITHIN.match(self._line) is not None
