"""Comments of HTML that models write within Markdown. They are left out, unless they are code."""

from __future__ import annotations

import re

_START, _END = "&lt;!--", "--&gt;"
_TOKEN = re.compile(r"<(/?)([a-z][a-z0-9]*+)[^<>]*+>|[^<]++")


def remove_comments(raw_html: str) -> str:
    """Remove complete comments from all text but code. The parser never puts an element into a comment."""
    if _START not in raw_html:
        return raw_html
    pieces: list[str] = []
    is_code = False
    for token in _TOKEN.finditer(raw_html):
        if token[2]:
            is_code = (not token[1] and token[2] == "code") or "data-math-style" in token[0]
            pieces.append(token[0])
            continue
        *commented, last = [token[0]] if is_code else token[0].split(_END)
        for piece in commented:
            before, start, _comment = piece.partition(_START)
            pieces.append(before if start else piece + _END)
        pieces.append(last)
    return "".join(pieces)
