"""Incremental rendering of a markdown text that is still being received.

Invariant: closed and tail HTML depend only on the text, not on the pieces in which it arrived. Joined, they are the
HTML of the whole text.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from chat.page.rendering.documents import (
    DEFAULT_OPTIONS,
    DOCUMENT_LIMIT_CHARS,
    ClosedHtmlChange,
    Document,
    MarkdownOptions,
)


@dataclass(frozen=True, slots=True)
class TextUpdate:
    """A change to the HTML of a page that has applied all earlier updates."""

    is_reset: bool
    """Whether `closed_html` replaces all earlier closed HTML instead of being appended to it."""
    closed_html: SafeString
    """HTML to append to the closed HTML, before the tail."""
    tail_html: SafeString
    """HTML that replaces the earlier tail."""


class MarkdownStream:
    """A growing text; the cost of an update depends on the length of its open tail, not of the whole text."""

    def __init__(self, options: MarkdownOptions = DEFAULT_OPTIONS) -> None:
        self._pending_texts: list[str] = []
        self._earlier_html: list[SafeString] = []
        """HTML of the documents before the current one."""
        self._document = Document(options=options)
        self._is_reset = False
        self._new_html: list[SafeString] = []
        """Closed HTML since the last update."""
        self._tail_html = SafeString("")

    def append(self, delta: str) -> None:
        """Append to the end of the text."""
        self._pending_texts.append(delta)

    def update(self) -> TextUpdate:
        """Render the appended text and return the change since the previous update."""
        text = "".join(self._pending_texts)
        self._pending_texts.clear()
        start = 0
        while len(text) - start > (free_chars := DOCUMENT_LIMIT_CHARS - self._document.length):
            self._document.append(text[start : start + free_chars])
            start += free_chars
            change, next_document = self._document.end()
            self._record(change)
            self._earlier_html.append(self._document.closed_html)
            self._document = next_document
        self._document.append(text[start:])
        self._record(self._document.close_blocks())
        update = TextUpdate(self._is_reset, SafeString("".join(self._new_html)), self._document.render_tail())
        self._is_reset = False
        self._new_html.clear()
        self._tail_html = update.tail_html
        return update

    @property
    def closed_and_tail(self) -> tuple[SafeString, SafeString]:
        """All closed HTML, and the HTML of the tail, as of the last update."""
        return SafeString("".join([*self._earlier_html, self._document.closed_html])), self._tail_html

    def _record(self, change: ClosedHtmlChange) -> None:
        if change.is_reset:
            self._is_reset = True
            self._new_html = [*self._earlier_html]
        self._new_html.append(change.html)


def split_markdown(text: str, options: MarkdownOptions = DEFAULT_OPTIONS) -> tuple[SafeString, SafeString]:
    """Render a complete text and return (closed HTML, tail HTML); joined, they equal `render_markdown(text)`."""
    stream = MarkdownStream(options)
    stream.append(text)
    stream.update()
    return stream.closed_and_tail
