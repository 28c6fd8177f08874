"""Caches rendered documents for the next reader of the same text in this process.

A document that has ended never changes, so readers of a long answer share one rendering. The end of each document is
found by parsing alone, so that the middle of an answer is rendered without the text before it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from hashlib import blake2b
from sys import getsizeof
from typing import Generic, NamedTuple, TypeVar

from django.utils.safestring import SafeString
from django.utils.translation import get_language

from chat.page.rendering.documents import Document, MarkdownOptions

KEPT_BYTES = 64 * 1024 * 1024
"""Limit for the renderings that a process keeps. The least recently used ones are dropped."""
ENDS_BYTES = 4 * 1024 * 1024
ENTRY_BYTES = 600
"""Memory that an entry takes besides its key and its value: for the options in the key, and in the mapping."""


class Rendering(NamedTuple):
    """The HTML of one document."""

    closed: SafeString
    tail: SafeString = SafeString("")
    """The HTML of the open tail; empty if the document has ended."""


class End(NamedTuple):
    """The end of a document whose text is longer than its limit."""

    chars: int
    """Number of characters of the text that the document holds. The next document begins after them."""
    next_prefix: str
    """Text that reopens the block that was split at this end; see `Document`."""


V = TypeVar("V", Rendering, End)


class KeptValues(Generic[V]):
    """A mapping of limited size. It may be used from several threads."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self.size_bytes = 0

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key. `make` creates a missing value; several threads may do this at the same time."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        self.put(key, value)
        return value

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value. The values that were not used for the longest time are dropped."""
        size_bytes = ENTRY_BYTES + getsizeof(key) + sum(map(getsizeof, value))
        with self._lock:
            if key in self._values:
                self.size_bytes -= self._values.pop(key)[1]
            self._values[key] = value, size_bytes
            self.size_bytes += size_bytes
            while self.size_bytes > self._limit_bytes:
                self.size_bytes -= self._values.popitem(last=False)[1][1]


renderings: KeptValues[Rendering] = KeptValues(KEPT_BYTES)
ends: KeptValues[End] = KeptValues(ENDS_BYTES)


def find_end(prefix: str, text: str, options: MarkdownOptions) -> End:
    """Return where a full document ends and the next one begins. `text`: as many characters as a document may hold."""
    return ends.get(_end_key(prefix, text, options), lambda: _find_end(prefix, text, options))


def _find_end(prefix: str, text: str, options: MarkdownOptions) -> End:
    document = Document(prefix, options, limit_chars=len(text), is_rendered=False)
    document.append(text)
    position, next_prefix = document.find_end()
    return End(position - len(prefix), next_prefix)


def render_ended(prefix: str, text: str, options: MarkdownOptions) -> SafeString:
    """Return the HTML of a document at its limit. `text`: as many characters as a document may hold."""

    def render() -> Rendering:
        document = Document(prefix, options, limit_chars=len(text))
        document.append(text)
        document.end()
        return Rendering(document.closed_html)

    return renderings.get(_key(prefix, text, options, has_ended=True), render).closed


def render_open(prefix: str, text: str, options: MarkdownOptions) -> Rendering:
    """Return the HTML of the last document of a text."""

    def render() -> Rendering:
        document = Document(prefix, options)
        document.append(text)
        document.close_blocks()
        return Rendering(document.closed_html, document.render_tail())

    return renderings.get(_key(prefix, text, options), render)


def keep_ended(document: Document, end: End) -> None:
    """Keep the HTML of a document that was rendered while its text was received."""
    prefix, text, options = document.prefix, document.own_text, document.options
    ends.put(_end_key(prefix, text, options), end)
    renderings.put(_key(prefix, text, options, has_ended=True), Rendering(document.closed_html))


def _key(prefix: str, text: str, options: MarkdownOptions, *, has_ended: bool = False) -> Hashable:
    """Return the cache key of a rendering: everything that its HTML depends on."""
    if has_ended:
        options = replace(options, may_grow=False)
    return _digest(prefix, text), has_ended, options, get_language()


def _end_key(prefix: str, text: str, options: MarkdownOptions) -> Hashable:
    return _digest(prefix, text), options.has_line_breaks, options.has_tags


def _digest(prefix: str, text: str) -> bytes:
    # JSON can represent unpaired surrogates, which UTF-8 cannot.
    return blake2b(f"{prefix}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
