"""Incremental rendering of a markdown text that is still being received.

Invariant: closed and tail HTML depend only on the text, not on the pieces in which it arrived. Joined, they are the
HTML of the whole text.

The first document of a long text has no element around it. The closed HTML of each later one is in an element, a
*group*, so that the browser lays out only the groups in view, and a page may hold placeholders of the others
(`groups`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from chat.page.render_queue import check_reader
from chat.page.rendering.documents import (
    DEFAULT_OPTIONS,
    DOCUMENT_LIMIT_CHARS,
    LATER_LIMIT_CHARS,
    Document,
    MarkdownOptions,
)
from chat.page.rendering.groups import HELD_AT_END, HeldGroups, group_html, join_documents, new_groups_html
from chat.page.rendering.kept_documents import End, find_end, keep_ended, render_ended, render_open
from chat.page.rendering.marks import hides_end


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """A change to the HTML of a group that the page holds already."""

    number: int
    is_reset: bool
    """Whether `html` replaces the HTML of the group instead of being appended to it."""
    html: SafeString


@dataclass(frozen=True, slots=True)
class TextUpdate:
    """A change to the HTML of a page that has applied all earlier updates."""

    is_reset: bool
    """Whether `closed_html` replaces all earlier closed HTML instead of being appended to it."""
    closed_html: SafeString
    """HTML to append to the closed HTML, before the tail."""
    tail_html: SafeString
    """HTML that replaces the earlier tail."""
    group: GroupUpdate | None = None
    """A change to the last group, before `closed_html` is appended."""


class MarkdownStream:
    """Renders a growing text; the cost of an update depends on the length of its open tail, not of the whole text."""

    def __init__(self, options: MarkdownOptions = DEFAULT_OPTIONS, held: HeldGroups | None = None) -> None:
        """Create an empty text. `held`: which groups the pages hold; `None`: all groups."""
        self._options = options
        self._held = held
        self._pending_texts: list[str] = []
        self._ended: list[SafeString | None] = []
        """HTML of the documents before the current one; `None`: pages hold only a placeholder."""
        self._document = Document(options=options)
        self._tail_html = SafeString("")

    def append(self, delta: str) -> None:
        """Append to the end of the text."""
        self._pending_texts.append(delta)

    def update(self) -> TextUpdate:
        """Render the appended text and return the change since the previous update."""
        text = "".join(self._pending_texts)
        self._pending_texts.clear()
        start, first, changes = 0, len(self._ended), _Changes()
        while len(text) - start > (free_chars := self._document.limit_chars - self._document.length):
            if self._is_passed_over(len(text) - start):
                end = find_end(self._document.prefix, text[start : start + free_chars], self._options)
                start += end.chars
                changes.end()
                self._ended.append(None)
                self._document = Document(end.next_prefix, self._options, limit_chars=LATER_LIMIT_CHARS)
                continue
            self._document.append(text[start : start + free_chars])
            start += free_chars
            change, next_document, rest = self._document.end()
            changes.add(change.is_reset, change.html)
            changes.end()
            self._ended.append(self._document.closed_html)
            keep_ended(self._document, End(self._document.length - len(rest), next_document.prefix))
            self._document = next_document
            # The rest may begin with text of earlier updates, which `text` does not contain.
            text, start = (text, start - len(rest)) if len(rest) <= start else (rest + text[start:], 0)
        self._document.append(text[start:])
        change = self._document.close_blocks()
        changes.add(change.is_reset, change.html)
        self._tail_html = self._document.render_tail()
        return changes.update(first, self._options, self._tail_html, self._held)

    def _is_passed_over(self, chars: int) -> bool:
        """Return whether pages get only a placeholder of the current document. `chars`: length of it and later text."""
        is_new = bool(self._ended) and self._document.length == 0
        return self._held is not None and is_new and chars > (HELD_AT_END + 1) * LATER_LIMIT_CHARS

    @property
    def hides_end(self) -> bool:
        """Whether some of the end of the text is hidden while it may grow."""
        return hides_end(self._document.own_text)

    @property
    def closed_and_tail(self) -> tuple[SafeString, SafeString]:
        """The closed HTML with the groups that a page holds, and the HTML of the tail, as of the last update."""
        return join_documents([*self._ended, self._document.closed_html], self._options, self._held), self._tail_html


class _Changes:
    """Collects the changes of one update: to the document that was last before it, and to the documents added since."""

    def __init__(self) -> None:
        self._html: list[list[SafeString]] = [[]]
        self._is_reset = False

    def add(self, is_reset: bool, html: SafeString) -> None:
        """Add a change of the current document."""
        if is_reset:
            self._html[-1].clear()
            self._is_reset = self._is_reset or len(self._html) == 1
        self._html[-1].append(html)

    def end(self) -> None:
        """Let the following changes belong to the next document."""
        self._html.append([])

    def update(
        self, number: int, options: MarkdownOptions, tail_html: SafeString, held: HeldGroups | None
    ) -> TextUpdate:
        """Return the update. `number`: that of the document that was the last one before the update."""
        first, *others = (SafeString("".join(pieces)) for pieces in self._html)
        new = new_groups_html(options, number + 1, others, held)
        if number == 0:
            return TextUpdate(self._is_reset, SafeString(first + new), tail_html)
        group = GroupUpdate(number, self._is_reset, first) if first or self._is_reset else None
        return TextUpdate(False, new, tail_html, group)


def split_markdown(
    text: str, options: MarkdownOptions = DEFAULT_OPTIONS, held: HeldGroups | None = None
) -> tuple[SafeString, SafeString]:
    """Render a complete text and return (closed HTML, tail HTML); joined, they equal `render_markdown(text)`.

    `held`: which groups are rendered; `None`: all groups. The others get placeholders. Raises ReaderLeft if the reader
    has disconnected.
    """
    documents = split_documents(text, options)
    ended: list[SafeString | None] = []
    for number, (prefix, start) in enumerate(documents[:-1]):
        check_reader()
        is_held = held is None or held.holds(number, len(documents))
        ended.append(render_ended(prefix, text[start : start + _limit(number)], options) if is_held else None)
    prefix, start = documents[-1]
    closed, tail = render_open(prefix, text[start:], options)
    return join_documents([*ended, closed], options, held), tail


def split_documents(text: str, options: MarkdownOptions = DEFAULT_OPTIONS) -> Sequence[tuple[str, int]]:
    """Return the prefix of each document of a text, and the index of its first character.

    Raises ReaderLeft if the reader has disconnected.
    """
    documents = [("", 0)]
    while len(text) - documents[-1][1] > (limit_chars := _limit(len(documents) - 1)):
        check_reader()
        prefix, start = documents[-1]
        end = find_end(prefix, text[start : start + limit_chars], options)
        documents.append((end.next_prefix, start + end.chars))
    return documents


def _limit(number: int) -> int:
    return LATER_LIMIT_CHARS if number else DOCUMENT_LIMIT_CHARS


def render_group(text: str, number: int, options: MarkdownOptions) -> SafeString | None:
    """Return the element of one group; `None` if the text has no such group, or the group may still grow."""
    documents = split_documents(text, options)
    if not 0 < number < len(documents) - 1:
        return None
    prefix, start = documents[number]
    return group_html(options, number, render_ended(prefix, text[start : start + _limit(number)], options))
