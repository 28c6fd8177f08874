"""Incremental rendering of the output of code, which grows while the code runs.

A page shows an output as a terminal would. Invariant: closed and tail HTML depend only on the output, not on the pieces
in which it arrived. Joined, they are the HTML of the whole output. The tail holds the last lines, because a progress
bar changes them often: a swap of the tail is small, however long the output before it is.
"""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString

from chat.page.rendering.stream import TextUpdate
from chat.vocabulary.terminal_text import Terminal, has_controls

EMPTY = SafeString("")
TAIL_BREAKS = 2
"""Number of line feeds in the tail."""
TAIL_STEP_CHARS = 1_000
"""The tail has at most twice this number of characters."""


class OutputStream:
    """Renders a growing output; the cost of an update depends on the length of the new output, not of the whole output.

    An output that changes earlier lines of the terminal is rendered again as a whole. The Python session sends no such
    output: it applies these changes itself. A blank output has no element, so its closed HTML and its tail are empty.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        """The output as it was received, as of the last update."""
        self._pending: list[str] = []
        """Output that was received since the last update."""
        self._terminal: Terminal | None = None
        """The terminal that interprets the output. `None`: the output has no control characters."""
        self._tail = ""
        self._closed_html: list[SafeString] = []
        self._closed_chars = 0
        self._has_visible_text = False
        """Whether the closed text is not blank."""
        self._is_cut = False
        """Whether output has been cut since the last update."""
        self._is_terminal_cut = False
        """Whether the output that was cut had been written to a terminal."""
        self._is_blank = True
        """Whether the output was blank at the last update."""

    def append(self, delta: str) -> None:
        """Append to the end of the output."""
        self._pending.append(delta)

    def cut(self, chars: int) -> None:
        """Keep only the first `chars` characters of the output."""
        self._texts += self._pending
        self._pending.clear()
        excess = sum(map(len, self._texts)) - chars
        while excess > 0:
            last = self._texts.pop()
            if len(last) > excess:
                self._pending.append(last[: len(last) - excess])
            excess -= len(last)
        self._is_terminal_cut = self._terminal is not None
        self._is_cut = True
        closed_chars = chars - sum(map(len, self._pending))
        self._tail = self._tail[: max(0, closed_chars - self._closed_chars)]

    def update(self) -> TextUpdate:
        """Render the appended output and return the change since the previous update.

        While the output is blank, its element does not exist. So the change is a reset then, and at the first visible
        text.
        """
        was_blank = self._is_blank
        text = self._read_pending()
        is_reset = text is None
        if text is None:
            self._has_visible_text, self._closed_chars = False, 0
            self._closed_html.clear()
            text = self._terminal.text if self._terminal else "".join(self._texts)
        edge = _closed_length(text, self._closed_chars)
        closed, self._tail = text[:edge], text[edge:]
        self._closed_chars += edge
        self._has_visible_text = self._has_visible_text or bool(closed.strip())
        self._is_blank = not (self._has_visible_text or self._shown_tail.strip())
        html = escape(closed)
        if html:
            self._closed_html.append(html)
        if was_blank or self._is_blank or is_reset:
            return TextUpdate(True, *self.closed_and_tail)
        return TextUpdate(False, html, escape(self._shown_tail))

    def _read_pending(self) -> str | None:
        """Return the text after the closed text; `None` if the closed text may have changed."""
        new = "".join(self._pending)
        self._pending.clear()
        is_cut, self._is_cut = self._is_cut, False
        self._texts.append(new)
        if self._is_terminal_cut or (self._terminal is None and has_controls(new)):
            self._terminal = Terminal()
            self._terminal.write("".join(self._texts[:-1]))
            is_stale, self._is_terminal_cut = self._is_terminal_cut or is_cut, False
            appended = self._terminal.write(new)
            return None if is_stale or appended is None else self._tail + appended
        if self._terminal is not None:
            appended = self._terminal.write(new)
            return None if appended is None else self._tail + appended
        text = self._tail + new
        return None if is_cut and self._is_too_much_closed(text) else text

    def _is_too_much_closed(self, text: str) -> bool:
        """Return whether the tail of a cut output must begin in the closed text. `text`: all after the closed text."""
        length = sum(map(len, self._texts))
        if length < self._closed_chars + len(text):
            return True
        if not self._closed_chars or _end_of_steps(length) >= self._closed_chars:
            return False
        breaks, is_at_line = text.count("\n"), self._closed_html[-1].endswith("\n")
        return breaks < TAIL_BREAKS or (breaks == TAIL_BREAKS and not is_at_line)

    @property
    def _shown_tail(self) -> str:
        return self._tail + (self._terminal.open_code if self._terminal else "")

    @property
    def closed_and_tail(self) -> tuple[SafeString, SafeString]:
        """All closed HTML, and the HTML of the tail, as of the last update."""
        if self._is_blank:
            return EMPTY, EMPTY
        return SafeString("".join(self._closed_html)), escape(self._shown_tail)


def _closed_length(text: str, closed_chars: int) -> int:
    """Return how many characters of the text after the closed text can be closed now."""
    edge = len(text)
    for _ in range(TAIL_BREAKS + 1):
        edge = text.rfind("\n", 0, edge) if edge >= 0 else edge
    return max(edge + 1, _end_of_steps(closed_chars + len(text)) - closed_chars, 0)


def _end_of_steps(length: int) -> int:
    """Return the minimum number of closed characters in a text of this length. It limits the tail if lines are long."""
    return length - length % TAIL_STEP_CHARS - TAIL_STEP_CHARS


def split_output(output: str) -> tuple[SafeString, SafeString]:
    """Render an output and return (closed HTML, tail HTML); joined, they are the HTML of the whole output."""
    stream = OutputStream()
    stream.append(output)
    stream.update()
    return stream.closed_and_tail
