"""Renders one growing Markdown document: closed blocks, which later text cannot change, and an open tail.

All top-level blocks except the last one *of the text up to the last newline* are closed. Some constructs affect other
blocks; a document that contains one of them is rendered again as a whole:

- A definition of a link or a footnote changes links before and after it. Footnotes are shown at the document's end, so
  they are part of its tail.
- Tables that would be padded to too many cells turn tables off. The parser pads each short row, and 60 KB of text can
  ask it for 250 million cells.
- So many delimiters of formulas that converting them would take long turn formulas off. They are then shown as typed.

To limit the cost of rendering such documents, and of a single block that never ends, a long text is split into several
documents. Each document ends at the last block border that `document_splits` or the parser finds within its first
`DOCUMENT_LIMIT_CHARS`, or inside its only block. Later documents are shorter (`LATER_LIMIT_CHARS`). Link references do
not work across documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.safestring import SafeString

from chat.page.rendering.blocks import iter_top_level_blocks, make_safe_html, parse_markdown
from chat.page.rendering.document_splits import (
    Split,
    find_plain_split,
    find_split_inside_block,
    reopening_prefix,
)
from chat.page.rendering.file_links import NO_FILE_LINKS, FileLinks
from chat.page.rendering.table_cells import TableCellCounter

#: Maximum length of the first document of a text: about 16,000 tokens.
DOCUMENT_LIMIT_CHARS = 64 * 1024

#: Limit for each document after the first one. Its HTML then has at most 6,000 nodes, laid out within 150 ms.
LATER_LIMIT_CHARS = 12 * 1024

#: Limit for the sum of columns times rows over all tables of a document. Rendering 20,000 cells takes about 50 ms.
TABLE_CELLS_LIMIT = 20_000

#: Limit for the number of delimiters that begin or end formulas in a document. Converting 500 formulas takes about
#: 100 to 300 ms, and so many fit into the cache of `maths`.
FORMULA_DELIMITERS_LIMIT = 1_000

_NEWLINE = re.compile(r"\r\n?|\n")
# A fast test that finds every link reference definition, but also some other text: a label followed by a colon at the
# start of a line, after any quote and list markers.
_DEFINITION = re.compile(
    r"(?:\A|(?<=[\r\n]))(?>(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*)\[(?>(?:[^\[\]\\]|\\.){1,1000})\]:", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MarkdownOptions:
    """Options for rendering a text."""

    id_prefix: str = ""
    """Prefix of the ids of footnotes, which must be unique on the page. Empty: footnotes have no links."""
    has_line_breaks: bool = False
    """Whether each line of a paragraph stays a line, as people expect of what they typed."""
    has_buttons: bool = True
    """Whether code and tables have buttons, which need scripts."""
    has_tags: bool = True
    """Whether HTML tags (`rendering.tags`) become elements, as models mean them. People's tags are shown as typed."""
    file_links: FileLinks = NO_FILE_LINKS
    """The files that links lead to."""
    may_grow: bool = False
    """Whether the answer is still being received. A list that may begin at its end is then hidden, see `marks`."""


DEFAULT_OPTIONS = MarkdownOptions()


@dataclass(frozen=True, slots=True)
class ClosedHtmlChange:
    """A change to a document's closed HTML: `html` is appended to it or, with `is_reset`, replaces it."""

    is_reset: bool
    html: SafeString


class Document:
    """The text of one document, its closed HTML and its open tail."""

    def __init__(
        self,
        prefix: str = "",
        options: MarkdownOptions = DEFAULT_OPTIONS,
        *,
        limit_chars: int | None = None,
        is_rendered: bool = True,
    ) -> None:
        """Create a document; `prefix` reopens the block that was split at the end of the previous document.

        `limit_chars`: number of characters at which it is full; `None`: the limit of the first document. `is_rendered`:
        false if the caller needs only its end. Its HTML is then empty.
        """
        self.limit_chars = DOCUMENT_LIMIT_CHARS if limit_chars is None else limit_chars
        self._text = prefix
        self.options = options
        self._is_rendered = is_rendered
        self._prefix_chars = len(prefix)
        self._closed_pieces: list[SafeString] = []
        self._tail_start = 0
        self._tail_raw_html: str | None = None
        """The parser's HTML of the tail, if it is already known."""
        self._processed_chars = 0
        """Length of the text up to the last newline when blocks were last closed."""
        self._has_definitions = False
        self._has_tables_enabled = True
        self._has_formulas_enabled = True
        self._formula_delimiters = 0
        self._delimiters_counted_chars = 0
        """Length of the text whose delimiters of formulas are counted."""
        self._cell_counter = TableCellCounter()

    @property
    def length(self) -> int:
        """Length in characters, without the prefix."""
        return len(self._text) - self._prefix_chars

    @property
    def prefix(self) -> str:
        """The text that reopens the block that was split at the end of the previous document."""
        return self._text[: self._prefix_chars]

    @property
    def own_text(self) -> str:
        """The text without the prefix."""
        return self._text[self._prefix_chars :]

    @property
    def closed_html(self) -> SafeString:
        """HTML of all closed blocks."""
        return SafeString("".join(self._closed_pieces))

    def append(self, text: str) -> None:
        """Append to the end of the text."""
        self._text += text
        self._tail_raw_html = None

    def close_blocks(self) -> ClosedHtmlChange:
        """Close all blocks that later text can no longer change."""
        exceeds_limit = self._check_limits()
        # The search for "]:" is cheap; the regular expression takes as long as rendering the tail.
        if not self._has_definitions and self._text.find("]:", self._tail_start) >= 0:
            self._has_definitions = _DEFINITION.search(self._text, self._tail_start) is not None
        if self._has_definitions:
            return self._render_all()
        if exceeds_limit:
            previous_html = self.closed_html
            self._closed_pieces, self._tail_start, self._processed_chars = [], 0, 0
            return self._replace_closed_html(previous_html, self._close_tail_blocks())
        return ClosedHtmlChange(is_reset=False, html=self._close_tail_blocks())

    def render_tail(self) -> SafeString:
        """Render the tail: the text after the closed blocks."""
        source = self._text[self._tail_start :]
        raw_html = self._tail_raw_html
        if raw_html is None:
            raw_html = self._parse(source, with_positions=False, may_grow=self.options.may_grow)
        return self._make_safe(raw_html, source)

    def find_end(self) -> Split:
        """Return where this document, which has reached its limit, ends. The next document begins there."""
        if split := find_plain_split(self._text, self._first_end):
            return split
        self.close_blocks()
        return self._split_after_parsing()

    @property
    def _first_end(self) -> int:
        return self._prefix_chars + self.limit_chars // 2

    def _split_after_parsing(self) -> Split:
        if self._tail_start:
            return Split(self._tail_start, "")
        position = find_split_inside_block(self._text, self._first_end)
        return Split(position, reopening_prefix(self._text, self._parse(self._text[:position])))

    def end(self) -> tuple[ClosedHtmlChange, Document, str]:
        """End this document at its limit. Return the change, the next document, and the text that moves to it."""
        previous_html = self.closed_html
        change = self.close_blocks()
        position, prefix = find_plain_split(self._text, self._first_end) or self._split_after_parsing()
        # Footnotes of closed blocks are part of the tail, so a document with definitions is rendered again.
        if position != self._tail_start or self._has_definitions:
            raw_html = self._parse(self._text[:position])
            change = self._replace_closed_html(previous_html, self._make_safe(raw_html))
        return change, Document(prefix, self.options, limit_chars=LATER_LIMIT_CHARS), self._text[position:]

    def _check_limits(self) -> bool:
        """Turn off tables or formulas if there are too many; return whether this changes something."""
        has_many_cells = self._has_tables_enabled and self._cell_counter.count(self._text) > TABLE_CELLS_LIMIT
        self._count_formula_delimiters()
        has_many_formulas = self._has_formulas_enabled and self._formula_delimiters > FORMULA_DELIMITERS_LIMIT
        if has_many_cells:
            self._has_tables_enabled = False
        if has_many_formulas:
            self._has_formulas_enabled = False
        return has_many_cells or has_many_formulas

    def _count_formula_delimiters(self) -> None:
        """Count the formula delimiters that were completed since the last call."""
        start = self._delimiters_counted_chars
        openings = (r"\(", r"\[", r"\begin{")
        brackets = sum(self._text.count(one, max(0, start - len(one) + 1)) for one in openings)
        self._formula_delimiters += self._text.count("$", start) + 2 * brackets
        self._delimiters_counted_chars = len(self._text)

    def _parse(self, text: str, *, with_positions: bool = True, may_grow: bool = False) -> str:
        return parse_markdown(
            text,
            with_tables=self._has_tables_enabled,
            with_formulas=self._has_formulas_enabled,
            with_tags=self.options.has_tags,
            with_positions=with_positions,
            with_line_breaks=self.options.has_line_breaks,
            may_grow=may_grow,
        )

    def _close_tail_blocks(self) -> SafeString:
        """Close blocks of the tail and return their HTML; correct only if no construct affects other blocks."""
        lines_end = self._text.rfind("\n") + 1
        if lines_end <= self._processed_chars:
            return SafeString("")
        self._processed_chars = lines_end
        source = self._text[self._tail_start : lines_end]
        raw_html = self._parse(source)
        line, position = _find_last_block(raw_html)
        if lines_end == len(self._text):
            self._tail_raw_html = raw_html[position:]
        if position == 0:
            return SafeString("")
        self._tail_start += _find_line_start(source, line)
        html = self._make_safe(raw_html[:position])
        self._closed_pieces.append(html)
        return html

    def _render_all(self) -> ClosedHtmlChange:
        """Close all blocks but the last one. Parse the whole text, because definitions of links affect all blocks."""
        source = self._text[: self._text.rfind("\n") + 1]
        last_line, position = _find_last_block(self._parse(source))
        self._tail_start = _find_line_start(source, last_line) if position else 0
        raw_html = self._parse(self._text, may_grow=self.options.may_grow)
        if position:
            blocks = iter_top_level_blocks(raw_html)
            position = next((start for line, start in blocks if line >= last_line), len(raw_html))
        self._tail_raw_html = raw_html[position:]
        return self._replace_closed_html(self.closed_html, self._make_safe(raw_html[:position]))

    def _make_safe(self, raw_html: str, open_source: str | None = None) -> SafeString:
        if not self._is_rendered:
            return SafeString("")
        options = self.options
        return make_safe_html(
            raw_html,
            open_source=open_source,
            id_prefix=options.id_prefix,
            has_buttons=options.has_buttons,
            file_links=options.file_links,
        )

    def _replace_closed_html(self, previous_html: SafeString, html: SafeString) -> ClosedHtmlChange:
        self._closed_pieces = [html]
        if html.startswith(previous_html):
            return ClosedHtmlChange(is_reset=False, html=SafeString(html[len(previous_html) :]))
        return ClosedHtmlChange(is_reset=True, html=html)


def _find_last_block(raw_html: str) -> tuple[int, int]:
    """Return the first line (from 1) of the last top-level block and the offset of its HTML; (1, 0) without blocks."""
    blocks = list(iter_top_level_blocks(raw_html))
    return blocks[-1] if blocks else (1, 0)


def _find_line_start(text: str, line: int) -> int:
    """Return the offset of a line; lines are counted from 1 and separated as the parser separates them."""
    for number, newline in enumerate(_NEWLINE.finditer(text), start=2):
        if number == line:
            return newline.end()
    return 0
