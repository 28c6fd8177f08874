"""Finds out whether a picture at the end of a Markdown text that arrives in pieces would cut a block in two. Pure."""

from __future__ import annotations

import re

WITHIN = re.compile(
    r"[ \t]*+(?:>|(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t])"
    r"|[^|]*+\||.*(?<!!)\[[^\[\]]*\Z|.*<(?:a|b|strong|em|i|u|mark|span|td|th|li)(?:\s[^<>]*)?>[ \t]*\Z",
    re.IGNORECASE,
)
"""Matches a line in which an item, a quote, a heading, a row of a table, a link, or an element has begun."""
PAIRED_SIGNS = ("*", "**", "__", "~~")
LINE_LIMIT_CHARS = 2_000
"""Number of characters at the end of a line that are examined."""


class LinePosition:
    """Knows the last line of a text."""

    def __init__(self) -> None:
        self._line = ""
        self.is_after_blank = False
        """Whether the line before the last one is blank."""

    def feed(self, text: str) -> None:
        """Read more text."""
        before, line_end, last = text.rpartition("\n")
        if line_end:
            self.is_after_blank = not (self._line + before).rpartition("\n")[2].strip()
            self._line = ""
        self._line = (self._line + last)[-LINE_LIMIT_CHARS:]

    @property
    def is_within(self) -> bool:
        """Whether a picture after the text would cut a block, a link or an emphasis in two."""
        is_cut = any(self._line.count(sign) % 2 for sign in PAIRED_SIGNS)
        return is_cut or WITHIN.match(self._line) is not None
