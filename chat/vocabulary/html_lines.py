"""Writes the text of HTML as lines, either as Markdown or as plain text: headings, items of lists and links. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from chat.vocabulary.markdown_source import escape_label

_DEPTH_LIMIT = 8
"""Lists that are nested more deeply are not indented further."""


@dataclass(slots=True)
class _List:
    is_ordered: bool
    number: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    is_item: bool
    is_after_break: bool
    """True if the line continues the paragraph of the line above."""


class LineWriter:
    """Collects text, and returns it with one line for each block."""

    def __init__(self, *, as_markdown: bool) -> None:
        """`as_markdown`: whether characters of the text that Markdown would read as markup are escaped."""
        self._as_markdown = as_markdown
        self._lines: list[_Line] = []
        self._spans: list[tuple[str, str]] = []
        """The texts of the current line, each with the address that it links to."""
        self._address = ""
        self._prefix = ""
        self._indentation = ""
        """The indentation of lines that continue an item."""
        self._lists: list[_List] = []
        self._base_depth = 0
        """The number of lists that were open at the last `take`. Their items are not indented in later lines."""
        self._is_after_break = False

    def add(self, text: str) -> None:
        """Add text to the line."""
        self._spans.append((text, self._address))

    def open_link(self, address: str) -> None:
        """Begin a link to an address: later text belongs to it. An empty address is no link."""
        self._address = address

    def close_link(self) -> None:
        """End the link."""
        self._address = ""

    def open_list(self, *, is_ordered: bool) -> None:
        """Begin a list, which may be in an item of another one."""
        self.end_line()
        self._lists.append(_List(is_ordered))

    def close_list(self) -> None:
        """End the innermost list."""
        self.end_block()
        if self._lists:
            self._lists.pop()
        self._base_depth = min(self._base_depth, len(self._lists))
        self._indentation = ""

    def begin_item(self) -> None:
        """Begin an item of the innermost list."""
        self.end_line()
        depth = min(max(len(self._lists) - 1 - self._base_depth, 0), _DEPTH_LIMIT)
        marker = "-"
        if self._lists and self._lists[-1].is_ordered:
            self._lists[-1].number += 1
            marker = f"{self._lists[-1].number}."
        self._prefix = f"{'    ' * depth}{marker} "
        self._indentation = " " * len(self._prefix)

    def begin_heading(self, level: int) -> None:
        """Begin a heading of a level from 1 to 6."""
        self.end_line()
        self._prefix = f"{'#' * level} "

    def end_line(self, *, is_break: bool = False) -> None:
        """End the line, if it has a text. `is_break`: whether the next line belongs to the same paragraph."""
        groups = groupby(self._spans, itemgetter(1))
        text = "".join(self._span("".join(text for text, _ in group), address) for address, group in groups).strip()
        self._spans.clear()
        if text:
            is_heading, is_item = self._prefix.startswith("#"), bool(self._prefix) and self._prefix[0] != "#"
            continues = self._is_after_break and not self._prefix
            prefix = self._prefix or self._indentation
            self._lines.append(_Line(prefix + text, is_item, continues))
            # A line break cannot be in a heading.
            self._prefix, self._is_after_break = "", is_break and not is_heading
        elif not is_break:
            self._is_after_break = False

    def end_block(self) -> None:
        """End an item or a heading, which may be empty."""
        self.end_line()
        self._prefix = ""
        if not self._lists:
            self._indentation = ""

    def take(self) -> str:
        """Return all lines, and start again with none."""
        self.end_line()
        text = ""
        was_item = False
        for number, line in enumerate(self._lines):
            if number:
                text += self._separator(line, was_item=was_item)
            text += line.text
            was_item = line.is_item
        self._lines.clear()
        self._indentation, self._base_depth = "", len(self._lists)
        return text

    def _separator(self, line: _Line, *, was_item: bool) -> str:
        if not self._as_markdown or (was_item and line.is_item):
            return "\n"
        return "\\\n" if line.is_after_break else "\n\n"

    def _span(self, text: str, address: str) -> str:
        core = " ".join(text.split())
        if not core:
            return " "
        before, after = " " if text[0].isspace() else "", " " if text[-1].isspace() else ""
        shown = escape_label(core) if self._as_markdown else core
        if address and self._as_markdown:
            shown = f"[{shown}](<{address}>)"
        elif address and address != core:
            shown = f"{shown} ({address})"
        return f"{before}{shown}{after}"
