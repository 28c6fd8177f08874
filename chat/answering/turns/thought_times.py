"""Measures how long the model thinks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from chat.messages.changes import Change, PartStarted, ThoughtEnded
from chat.vocabulary.parts import Part, Text, Thought


class ThoughtTimes:
    """Gives each thought of an answer the time from its first piece to the next part, as the page counts it meanwhile.

    A text or thought that only holds a signature is no thought, and ends none.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._open: tuple[int, float] | None = None
        """Index of the thought that has not ended, and when it began."""

    def after(self, changes: Iterable[Change]) -> Iterator[ThoughtEnded]:
        """Yield the end of the open thought if these changes begin another part."""
        for change in changes:
            if isinstance(change, PartStarted) and not _is_signature(change.part):
                yield from self.end()
                if isinstance(change.part, Thought):
                    self._open = change.index, self._now_s()

    def end(self) -> Iterator[ThoughtEnded]:
        """Yield the end of the open thought."""
        if self._open is not None:
            index, began_at = self._open
            self._open = None
            yield ThoughtEnded(index, round((self._now_s() - began_at) * 1000))


def _is_signature(part: Part) -> bool:
    return isinstance(part, Text | Thought) and not part.text and bool(part.provider_data)
