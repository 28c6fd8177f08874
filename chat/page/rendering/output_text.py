"""Incremental rendering of the output of code, which grows while the code runs.

Invariant: closed and tail HTML depend only on the output, not on the pieces in which it arrived. Joined, they are the
HTML of the whole output. Later output can change only an escape code that is not complete, so this code is the tail and
all text before it is closed, also a line without an end.
"""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString

from chat.page.rendering.stream import TextUpdate
from chat.vocabulary.escape_codes import remove_escape_codes, split_open_code

EMPTY = SafeString("")


class OutputStream:
    """A growing output; the cost of an update depends on the length of the new output, not of the whole output.

    A blank output is shown by no element, so its closed HTML and its tail are empty.
    """

    def __init__(self) -> None:
        self._pending_texts: list[str] = []
        self._open_code = ""
        self._closed_html: list[SafeString] = []
        self._is_after_return = False
        """Whether the closed text ends with a carriage return."""
        self._has_visible_text = False
        """Whether the closed text is not blank."""
        self._is_blank = True
        """Whether the output was blank at the last update."""

    def append(self, delta: str) -> None:
        """Append to the end of the output."""
        self._pending_texts.append(delta)

    def update(self) -> TextUpdate:
        """Render the appended output and return the change since the previous update.

        It is a reset as long as the output is blank, and when it no longer is, because the element does not exist yet.
        """
        was_blank = self._is_blank
        closed, self._open_code = split_open_code("".join([self._open_code, *self._pending_texts]))
        self._pending_texts.clear()
        text = self._break_lines(remove_escape_codes(closed))
        self._has_visible_text = self._has_visible_text or bool(text.strip())
        self._is_blank = not (self._has_visible_text or self._open_code)
        html = escape(text)
        self._closed_html.append(html)
        if was_blank or self._is_blank:
            return TextUpdate(True, *self.closed_and_tail)
        return TextUpdate(False, html, self._tail_html)

    @property
    def closed_and_tail(self) -> tuple[SafeString, SafeString]:
        """All closed HTML, and the HTML of the tail, as of the last update."""
        if self._is_blank:
            return EMPTY, EMPTY
        return SafeString("".join(self._closed_html)), self._tail_html

    @property
    def _tail_html(self) -> SafeString:
        return escape(_with_line_feeds(self._open_code))

    def _break_lines(self, text: str) -> str:
        """Return the next closed text with each line break as a line feed.

        A parser of HTML reads line breaks in this way, but it would read two of them if a swap ends between a carriage
        return and its line feed.
        """
        if not text:
            return text
        rest = text.removeprefix("\n") if self._is_after_return else text
        self._is_after_return = text.endswith("\r")
        return _with_line_feeds(rest)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_output(output: str) -> tuple[SafeString, SafeString]:
    """Render an output and return (closed HTML, tail HTML); joined, they are the HTML of the whole output."""
    stream = OutputStream()
    stream.append(output)
    stream.update()
    return stream.closed_and_tail
