"""Finds out whether a mark in Markdown text that arrives in pieces is quoted as code. Pure."""

from __future__ import annotations

import re

FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)", re.DOTALL)
HEAD_CHARS = 200
"""Number of characters at the beginning of a line that are searched for a fence."""


class CodeQuotes:
    """Reads a text up to a mark. A quotation in backticks ends with its line."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        """Text of the current line that was not examined yet."""
        self._head = ""
        """The beginning of the current line."""
        self._fence = ""
        """The fence that is open; empty outside a block."""
        self._backticks = 0
        """Number of backticks that opened a quotation in the current line; 0 if none is open."""

    def feed(self, text: str) -> None:
        """Read the next piece of the text."""
        if "\n" in text:
            *lines, text = text.split("\n")
            for line in lines:
                self._pieces.append(line)
                self._end_line()
        self._pieces.append(text)

    def quotes(self, rest: str, *, is_whole: bool) -> bool | None:
        """Return whether a mark after the text so far is quoted; `None` if that depends on later text of its line.

        `rest`: the text after the mark. `is_whole`: whether to decide by this text, even if the line goes on.
        """
        self._examine()
        fence = self._fence_in_line()
        if self._fence:
            return fence is None or not self._closes(*fence)
        if fence is not None:
            return True
        if not self._backticks:
            return False
        line, line_end, _ = rest.partition("\n")
        for run in re.finditer("`+", line):
            if len(run[0]) == self._backticks:
                return True if run.end() < len(line) or is_whole or line_end else None
        return False if is_whole or line_end else None

    def _examine(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        self._head = (self._head + text[:HEAD_CHARS])[:HEAD_CHARS]
        for run in re.findall("`+", text):
            if not self._backticks:
                self._backticks = len(run)
            elif len(run) == self._backticks:
                self._backticks = 0

    def _end_line(self) -> None:
        self._examine()
        fence = self._fence_in_line()
        if fence is not None and not self._fence:
            self._fence = fence[0]
        elif fence is not None and self._closes(*fence):
            self._fence = ""
        self._head, self._backticks = "", 0

    def _fence_in_line(self) -> tuple[str, str] | None:
        """Return the fence at the beginning of the current line and what follows it; `None` if there is none."""
        match = FENCE.match(self._head)
        is_fence = match is not None and not (match[1][0] == "`" and "`" in match[2])
        return (match[1], match[2]) if match and is_fence else None

    def _closes(self, fence: str, rest: str) -> bool:
        return fence.startswith(self._fence) and not rest.strip()
