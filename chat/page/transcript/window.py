"""Which of a conversation's shown messages a page holds: a range of their indexes, which count from 0 without a gap.

A page opens with the newest messages, or with those around, before or after one message. Its reader loads more in both
directions, and the server keeps the range of each open page (`relay.follower`), so that a snapshot renders what the
page holds and nothing else.

A range is chosen by the number of messages, and then shortened (`within`) if they are long, because rendering takes
about 1.5 s for a million characters. Pure code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

PAGE_MESSAGES = 30
"""Maximum number of messages with which a page opens, and which it loads when its reader asks for more."""

PAGE_CHARS = 256 * 1024
"""Maximum number of characters of the messages that are loaded at once. A single message may exceed it."""

SNAPSHOT_MESSAGES = 300
"""Maximum number of messages in one snapshot. If a page holds more, messages far from its reader are dropped."""

SNAPSHOT_CHARS = 4 * PAGE_CHARS
"""Maximum number of characters of the messages in one snapshot."""

Direction: TypeAlias = Literal["earlier", "later"]


@dataclass(frozen=True, slots=True)
class Window:
    """The range of messages that a page holds."""

    first: int
    """Index of the first message."""
    last: int | None = None
    """Index after the last message. `None`: the range extends to the end of the conversation, so it grows with it."""

    @property
    def is_at_end(self) -> bool:
        """Whether the page holds the newest messages."""
        return self.last is None

    def earlier(self) -> Window:
        """Return the range of messages before this range that is loaded next."""
        return Window(max(0, self.first - PAGE_MESSAGES), self.first)

    def later(self, count: int) -> Window:
        """Return the range of messages after this range that is loaded next. `count`: number of all messages."""
        if self.last is None:
            return self
        stop = self.last + PAGE_MESSAGES
        return Window(self.last, None if stop >= count else stop)

    def extended(self, direction: Direction) -> Window:
        """Return this range with PAGE_MESSAGES more messages in a direction. It may exceed the conversation's end."""
        if direction == "earlier":
            return Window(self.earlier().first, self.last)
        return self if self.last is None else Window(self.first, self.last + PAGE_MESSAGES)

    def is_cut_at(self, index: int | None) -> bool:
        """Return whether replacing all messages from `index` on replaces this whole range. False if `first` is 0."""
        return index is not None and index <= self.first and self.first > 0


ChooseWindow: TypeAlias = Callable[[int], Window]
"""Takes the number of messages that a conversation shows, and returns the range to read."""


def newest(count: int) -> Window:
    """Return the range of the newest messages."""
    return Window(max(0, count - PAGE_MESSAGES))


def whole(count: int) -> Window:
    """Return the range of all messages."""
    del count
    return Window(0)


def before(index: int, count: int) -> Window:
    """Return the range that ends before a message, or the first messages if fewer precede it."""
    stop = max(index, PAGE_MESSAGES)
    return _to_end_of(count, stop - PAGE_MESSAGES, stop)


def after(index: int, count: int) -> Window:
    """Return the range that begins after a message."""
    return _to_end_of(count, index + 1, index + 1 + PAGE_MESSAGES)


def around(index: int, count: int) -> Window:
    """Return a range with a message in its middle, or the newest messages if it is one of them."""
    if index >= count - PAGE_MESSAGES:
        return newest(count)
    return before(max(0, index - PAGE_MESSAGES // 2) + PAGE_MESSAGES, count)


def fit(held: Window, count: int, reader_at: int | None = None) -> Window:
    """Return the range of a snapshot for a page that holds `held`. At the end it has PAGE_MESSAGES messages or more.

    If `held` has more than SNAPSHOT_MESSAGES, the range is around the reader. `reader_at`: the index of a message that
    the reader sees; `None`: the reader is at the end.
    """
    wanted = _to_end_of(count, held.first, count if held.last is None else held.last)
    stop = count if wanted.last is None else wanted.last
    if stop - wanted.first <= SNAPSHOT_MESSAGES:
        return wanted
    if reader_at is None or not wanted.first <= reader_at < stop:
        return newest(count) if wanted.is_at_end else replace(wanted, first=stop - PAGE_MESSAGES)
    start = max(wanted.first, reader_at - PAGE_MESSAGES)
    return _to_end_of(count, start, min(stop, reader_at + 2 * PAGE_MESSAGES))


def within(window: Window, sizes: Sequence[int], limit: int, near: int | None = None) -> Window:
    """Return the part of a range around a message with a total size of at most `limit`. It always holds the message.

    `sizes`: characters of each message of the range, in order. `near`: the index of the message; `None`: the last one.
    """
    if not sizes:
        return window
    stop = window.first + len(sizes)
    near = stop - 1 if near is None else min(max(window.first, near), stop - 1)
    first, last, total = near, near + 1, sizes[near - window.first]
    while True:
        inside = [at for at in (first - 1, last) if window.first <= at < stop]
        more = [at for at in inside if total + sizes[at - window.first] <= limit]
        if not more:
            return Window(first, None if window.is_at_end and last == stop else last)
        # Extend the range on the shorter side, so that the message stays in the middle.
        index = min(more, key=lambda at: abs(at - near))
        first, last, total = min(first, index), max(last, index + 1), total + sizes[index - window.first]


def _to_end_of(count: int, first: int, stop: int) -> Window:
    """Return the range from `first` to `stop`, clipped to the conversation.

    A range that reaches the end holds at least PAGE_MESSAGES messages.
    """
    if stop >= count:
        return Window(max(0, min(first, count - PAGE_MESSAGES)))
    return Window(max(0, first), stop)
