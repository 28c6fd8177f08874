"""Where a document is split that is full before its only block ends, and how the next document reopens the block."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s*?( {0,3}(?:`{3,}|~{3,}))")


def find_split_inside_block(text: str, minimum: int) -> int:
    """Return where to split the only block of a full document.

    The split is before a line without indentation (in a list, before an outermost item), else after a line, else after
    a space. `minimum`: the split is at or after it.
    """
    unindented_lines = [newline.end() for newline in re.finditer(r"\n(?=\S)", text[minimum:])]
    if unindented_lines:
        return minimum + unindented_lines[-1]
    for separator in ("\n", " "):
        if (position := text.rfind(separator, minimum)) > 0:
            return position + 1
    return len(text)


def reopening_prefix(text: str, raw_html: str) -> str:
    """Return the text that reopens the split block in the next document: a code fence, header rows or a fold."""
    if raw_html.startswith("<pre") and (fence := _FENCE.match(text)):
        # The language is omitted, since a fragment of code cannot be highlighted correctly.
        return fence[1] + "\n"
    if raw_html.startswith("<table"):
        return "".join(text.lstrip("\r\n").splitlines(keepends=True)[:2])
    if raw_html.startswith("<details"):
        return "<details>\n\n"
    return ""
