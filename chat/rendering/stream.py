"""Markdown rendered while it is written.

Invariant: closed and tail HTML depend on the text alone, never on how it came; joined they are its whole HTML.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from chat.rendering.documents import DOCUMENT_LIMIT_CHARS, Change, Document


@dataclass(frozen=True, slots=True)
class TextUpdate:
    """What a page that showed all earlier updates must do now."""

    reset: bool
    """Throw away all closed HTML: `closed` is all of it."""
    closed: SafeString
    """HTML to add at the end of the closed HTML, before the tail."""
    tail: SafeString
    """HTML that takes the place of the earlier tail."""


class MarkdownStream:
    """One text that grows; an update costs as much as its open tail, not as the text."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._ended: list[SafeString] = []
        """HTML of the documents before the open one."""
        self._document = Document()
        self._reset = False
        self._closed: list[SafeString] = []
        self._tail = SafeString("")

    def append(self, delta: str) -> None:
        """Add to the text's end."""
        self._waiting.append(delta)

    def update(self) -> TextUpdate:
        """Say what changed since the update before."""
        text = "".join(self._waiting)
        self._waiting.clear()
        start = 0
        while len(text) - start > (room := DOCUMENT_LIMIT_CHARS - self._document.length):
            self._document.append(text[start : start + room])
            start += room
            change, following = self._document.end()
            self._note(change)
            self._ended.append(self._document.closed)
            self._document = following
        self._document.append(text[start:])
        self._note(self._document.close_blocks())
        update = TextUpdate(self._reset, SafeString("".join(self._closed)), self._document.render_tail())
        self._reset = False
        self._closed.clear()
        self._tail = update.tail
        return update

    @property
    def halves(self) -> tuple[SafeString, SafeString]:
        """All closed HTML and the tail's, as of the last update."""
        return SafeString("".join([*self._ended, self._document.closed])), self._tail

    def _note(self, change: Change) -> None:
        if change.reset:
            self._reset = True
            self._closed = [*self._ended]
        self._closed.append(change.closed)


def split_markdown(text: str) -> tuple[SafeString, SafeString]:
    """Render a whole text as all closed HTML and the tail's HTML; joined they are what `render_markdown` gives."""
    stream = MarkdownStream()
    stream.append(text)
    stream.update()
    return stream.halves
