"""One document of markdown that grows: blocks that no later text can change are closed, the rest is its open tail.

All top-level blocks but the last *of the text up to the last newline* are closed. Two things reach across blocks;
a document that has them is rendered again as a whole:

- a link reference definition changes links before and after it;
- tables that would be padded to too many cells turn tables off: the parser fills up each short row, and 60 KB
  can ask it for 250 million cells.

So that this, and one endless block, stay affordable, a long text is several documents. Each ends at the last block
border in its first `DOCUMENT_LIMIT_CHARS`, or inside its only block. References do not reach across documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.safestring import SafeString

from chat.rendering.blocks import finish, parse, top_level_blocks

#: About 16,000 tokens.
DOCUMENT_LIMIT_CHARS = 64 * 1024

#: Columns times rows, over all tables of a document; 20,000 cells take some 50 ms. Typed out, three characters
#: each, they fill the document.
TABLE_CELLS_LIMIT = 20_000

_NEWLINE = re.compile(r"\r\n?|\n")
# More than the definitions there are, and cheap: at the start of a line, after the marks of quotes and lists.
_DEFINITION = re.compile(
    r"(?:\A|(?<=[\r\n]))(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*+\[(?:[^\[\]\\]|\\.){1,1000}+\]:", re.DOTALL
)
_FENCE = re.compile(r"\s*?( {0,3}(?:`{3,}|~{3,}))")
_BLANK = " \t\v\f>"


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a document's closed HTML: added to, or (`reset`) given anew."""

    reset: bool
    closed: SafeString


class Document:
    """The text of one document and what of it is closed."""

    def __init__(self, prefix: str = "") -> None:
        """`prefix` opens anew what the document before was cut in."""
        self._text = prefix
        self._prefix_chars = len(prefix)
        self._closed: list[SafeString] = []
        self._tail_start = 0
        self._tail_raw: str | None = None
        """The parser's HTML of the tail, where it is known already."""
        self._lines_seen = 0
        """Length of the text up to the last newline when blocks were last closed."""
        self._has_definitions = False
        self._tables = True
        self._cells = _TableCells()

    @property
    def length(self) -> int:
        """In characters, without the prefix."""
        return len(self._text) - self._prefix_chars

    @property
    def closed(self) -> SafeString:
        """All closed HTML."""
        return SafeString("".join(self._closed))

    def append(self, text: str) -> None:
        """Add to the text's end."""
        self._text += text
        self._tail_raw = None

    def close_blocks(self) -> Change:
        """Close the blocks that can be closed by now."""
        restart = self._tables and self._cells.count(self._text) > TABLE_CELLS_LIMIT
        if restart:
            self._tables = False
        # Looking for the end of one first: the search proper takes as long as rendering the tail.
        if not self._has_definitions and self._text.find("]:", self._tail_start) >= 0:
            self._has_definitions = _DEFINITION.search(self._text, self._tail_start) is not None
        if self._has_definitions:
            return self._render_whole()
        if restart:
            before = self.closed
            self._closed, self._tail_start, self._lines_seen = [], 0, 0
            return self._replace_closed(before, self._close_further())
        return Change(reset=False, closed=self._close_further())

    def render_tail(self) -> SafeString:
        """Render what is not closed."""
        source = self._text[self._tail_start :]
        raw = self._tail_raw
        if raw is None:
            raw = parse(source, tables=self._tables, positions=False)
        return finish(raw, open_source=source)

    def end(self) -> tuple[Change, Document]:
        """End the document here, being full, and give the one that follows with the text that goes there."""
        before = self.closed
        change = self.close_blocks()
        if self._tail_start:
            following, cut = Document(), self._tail_start
        else:
            cut = _cut_inside(self._text, self._prefix_chars)
            raw = parse(self._text[:cut], tables=self._tables)
            following = Document(prefix=_reopening(self._text, raw))
            change = self._replace_closed(before, finish(raw))
        following.append(self._text[cut:])
        return change, following

    def _close_further(self) -> SafeString:
        """Close blocks of the tail; right while nothing reaches across blocks."""
        lines_end = self._text.rfind("\n") + 1
        if lines_end <= self._lines_seen:
            return SafeString("")
        self._lines_seen = lines_end
        source = self._text[self._tail_start : lines_end]
        raw = parse(source, tables=self._tables)
        line, position = _last_block(raw)
        if lines_end == len(self._text):
            self._tail_raw = raw[position:]
        if position == 0:
            return SafeString("")
        self._tail_start += _line_start(source, line)
        closed = finish(raw[:position])
        self._closed.append(closed)
        return closed

    def _render_whole(self) -> Change:
        """Split at the same border as ever, but render both sides with all definitions in sight."""
        source = self._text[: self._text.rfind("\n") + 1]
        line, position = _last_block(parse(source, tables=self._tables))
        self._tail_start = _line_start(source, line) if position else 0
        raw = parse(self._text, tables=self._tables)
        if position:
            position = next((start for at, start in top_level_blocks(raw) if at >= line), len(raw))
        self._tail_raw = raw[position:]
        return self._replace_closed(self.closed, finish(raw[:position]))

    def _replace_closed(self, before: SafeString, closed: SafeString) -> Change:
        self._closed = [closed]
        if closed.startswith(before):
            return Change(reset=False, closed=SafeString(closed[len(before) :]))
        return Change(reset=True, closed=closed)


class _TableCells:
    """Counts the cells that tables of a growing text can be padded to, from above."""

    def __init__(self) -> None:
        self._counted = 0
        """Length of the lines that are counted for good."""
        self._columns = 0
        """Of the table that may go on in the next line; 0: none."""
        self._cells = 0

    def count(self, text: str) -> int:
        """Give the count for the whole text, which begins with the text of the call before."""
        lines_end = text.rfind("\n") + 1
        self._columns, self._cells = self._add(text[self._counted : lines_end], self._columns, self._cells)
        self._counted = lines_end
        return self._add(text[lines_end:], self._columns, self._cells)[1]

    @staticmethod
    def _add(text: str, columns: int, cells: int) -> tuple[int, int]:
        if not text or not (columns or "|" in text):
            return columns, cells
        for line in _NEWLINE.split(text.removesuffix("\n")):
            if not line.strip(_BLANK):
                columns = 0
                continue
            cells += columns
            if "-" in line and not line.strip(_BLANK + "|:-"):
                columns = max(columns, line.strip(_BLANK + "|").count("|") + 1)
        return columns, cells


def _last_block(raw: str) -> tuple[int, int]:
    """Give the last top-level block's first line, from 1, and where its HTML starts; (1, 0) where there is none."""
    last = (1, 0)
    for last in top_level_blocks(raw):  # noqa: B007 - the last one is what is wanted
        pass
    return last


def _line_start(text: str, line: int) -> int:
    """Where the line starts, lines counted from 1 and ended as the parser ends them."""
    for number, newline in enumerate(_NEWLINE.finditer(text), start=2):
        if number == line:
            return newline.end()
    return 0


def _cut_inside(text: str, prefix_chars: int) -> int:
    """Where to cut the only block of a full document: before an outermost list item if possible, or a line."""
    least = prefix_chars + DOCUMENT_LIMIT_CHARS // 2
    outermost = [newline.end() for newline in re.finditer(r"\n(?=\S)", text[least:])]
    if outermost:
        return least + outermost[-1]
    for end in ("\n", " "):
        if (cut := text.rfind(end, least)) > 0:
            return cut + 1
    return len(text)


def _reopening(text: str, raw: str) -> str:
    """What the next document must start with to go on in the block that was cut: a fence, or a table's head."""
    if raw.startswith("<pre") and (fence := _FENCE.match(text)):
        # Without the language: a piece of code cannot be coloured by itself.
        return fence[1] + "\n"
    if raw.startswith("<table"):
        return "".join(text.lstrip("\r\n").splitlines(keepends=True)[:2])
    return ""
