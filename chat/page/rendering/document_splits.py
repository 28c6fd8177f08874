"""Finds where to split a document at its limit, and how the next document reopens a block that was split.

Parsing takes 5 to 25 ms for each document, and a long answer has hundreds. So simple cases are decided by a search in
the source (`find_plain_split`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from chat.page.rendering.blocks import parse_markdown

_FENCE = re.compile(r"\s*?( {0,3}(?:`{3,}|~{3,}))")
_FENCE_LINE = re.compile(r"^(`{3,}(?=[^`\r\n]*$)|~{3,})([^\r\n]*)$", re.MULTILINE)
# HTML blocks, `<details>`, lists and quotes. They may contain blank lines and fences, so the search cannot decide.
_OPAQUE = re.compile(
    r"<(?:[!?]|/?(?:details|summary)|script|pre|style|textarea)|^ {0,3}</?[a-z]|^[ \t>*+\d.)-]{1,40}(?:`{3}|~{3})",
    re.IGNORECASE | re.MULTILINE,
)
_BORDERS_LIMIT = 20
"""Maximum number of borders that are checked. If all are inside code or a formula, the document is parsed."""
_FORMULA_SIGNS = ((r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{"))
_TABLE = re.compile(r"\|[^\n]{1,500}\n\|[ \t:|-]{1,500}\n(?>(?:\|[^\n]*\n)*)(?:\|[^\n]*)?\Z")
# A blank line before a letter, a heading, a table or strong text. None of these continues a block above it.
_BORDER = re.compile(r"(?<=\n)[ \t]*+\n(?=[^\W\d_]|#{1,6} |\||\*\*[^\s*])")


class Split(NamedTuple):
    """The end of a document that has reached its limit."""

    position: int
    """Index in its text, the prefix included."""
    next_prefix: str
    """Text that reopens the split block in the next document. Empty: no block was split."""


def find_plain_split(text: str, minimum: int) -> Split | None:
    """Return where to split a document, at or after `minimum`; `None` if only the parser can find the place."""
    if "\r" in text or _OPAQUE.search(text):
        return None
    fences = _outer_fences(text)
    if fences == [0] or (not fences and _TABLE.match(text)):
        # The document holds only a part of this block. Its first lines show what kind of block it is.
        prefix = reopening_prefix(text, parse_markdown("".join(text.splitlines(keepends=True)[:3])))
        return Split(find_split_inside_block(text, minimum), prefix) if prefix else None
    for border in [*_BORDER.finditer(text, minimum)][: -_BORDERS_LIMIT - 1 : -1]:
        position = border.end()
        is_in_code = bisect_left(fences, position) % 2
        if not is_in_code and not _is_in_formula(text, position):
            return Split(position, "")
    return None


def _outer_fences(text: str) -> list[int]:
    """Return the positions of the fences outside lists and quotes. They alternately begin and end code."""
    fences: list[int] = []
    opening = ""
    for match in _FENCE_LINE.finditer(text):
        if not opening:
            opening = match[1]
        elif not match[1].startswith(opening) or match[2].strip():
            continue
        else:
            opening = ""
        fences.append(match.start())
    return fences


def _is_in_formula(text: str, position: int) -> bool:
    return any(text.rfind(first, 0, position) > text.rfind(last, 0, position) for first, last in _FORMULA_SIGNS)


def find_split_inside_block(text: str, minimum: int) -> int:
    """Return where to split the only block of a document.

    The split is before a line without indentation (in a list, before an outermost item). Without such a line, it is
    after a line, or else after a space, or at the end of the text. `minimum`: the split is at or after it.
    """
    unindented_lines = [newline.end() for newline in re.finditer(r"\n(?=\S)", text[minimum:])]
    if unindented_lines:
        return minimum + unindented_lines[-1]
    for separator in ("\n", " "):
        if (position := text.rfind(separator, minimum)) > 0:
            return position + 1
    return len(text)


def reopening_prefix(text: str, raw_html: str) -> str:
    """Return the text that reopens the split block in the next document: a fence, header rows or `<details>`."""
    if raw_html.startswith("<pre") and (fence := _FENCE.match(text)):
        # The language is omitted, since a fragment of code cannot be highlighted correctly.
        return fence[1] + "\n"
    if raw_html.startswith("<table"):
        return "".join(text.lstrip("\r\n").splitlines(keepends=True)[:2])
    if raw_html.startswith("<details"):
        return "<details>\n\n"
    return ""
