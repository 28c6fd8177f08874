"""Finds out whether the end of a Markdown text that arrives in pieces, or a mark there, is inside code. Pure.

Code is a fenced block, at any indentation, or a span between backticks on one line.
"""

from __future__ import annotations

import re

HEAD_CHARS = 200
"""Number of characters at the beginning of a line that are searched for a fence."""
RUNS = re.compile(r"`++|[^`]++")
FENCE = re.compile(r"[\s>]*+(?:(?:[-*+]|\d{1,9}[.)])\s++)?(`{3,}+|~{3,}+)(.*+)", re.DOTALL)


class CodePosition:
    """Knows whether the end of a text is inside code."""

    def __init__(self) -> None:
        self._fence = ""
        """The fence that is open, such as three backticks; empty outside a block."""
        self._head = ""
        """The beginning of the last line."""
        self._span = 0
        """Number of backticks that opened a span on the last line; 0 outside a span."""
        self._run = 0
        """Number of backticks at the very end of the text; more may follow."""

    def feed(self, text: str) -> None:
        """Read more text."""
        *lines, last = text.split("\n")
        for line in lines:
            self._extend_line(line)
            self._end_line()
        self._extend_line(last)

    @property
    def is_in_code(self) -> bool:
        """Whether the end of the text is inside code."""
        return bool(self._fence) or bool(self._span_after_run())

    def quotes_mark(self, rest: str, *, is_whole: bool) -> bool | None:
        """Return whether a mark after the text so far is quoted; `None` if that depends on later text of its line.

        `rest`: the text after the mark. `is_whole`: whether to decide by this text, even if the line goes on.
        """
        if self._fence_after_line():
            return True
        span = self._span_after_run()
        if self._fence or not span:
            return False
        line, line_end, _ = rest.partition("\n")
        for run in re.finditer("`+", line):
            if len(run[0]) == span:
                return True if run.end() < len(line) or is_whole or line_end else None
        return False if is_whole or line_end else None

    def _extend_line(self, piece: str) -> None:
        if len(self._head) < HEAD_CHARS:
            self._head += piece[: HEAD_CHARS - len(self._head)]
        if "`" not in piece and not self._run:
            return
        for run in RUNS.findall(piece):
            if run[0] == "`":
                self._run += len(run)
            else:
                self._span, self._run = self._span_after_run(), 0

    def _span_after_run(self) -> int:
        if not self._run:
            return self._span
        if not self._span:
            return self._run
        return 0 if self._run == self._span else self._span

    def _end_line(self) -> None:
        self._fence = self._fence_after_line()
        self._head, self._span, self._run = "", 0, 0

    def _fence_after_line(self) -> str:
        """Return the fence that is open if the last line ends here."""
        fence = FENCE.match(self._head)
        if fence is None:
            return self._fence
        marks, rest = fence[1], fence[2]
        if self._fence:
            return "" if marks.startswith(self._fence) and not rest.strip() else self._fence
        # Backticks open a block only if no backtick follows on the line. Otherwise they open a span.
        return "" if marks[0] == "`" and "`" in rest else marks
