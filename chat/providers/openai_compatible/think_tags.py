"""Reasoning between `<think>` tags at the beginning of an answer. Pure.

Servers without a parser for the model's reasoning send it so. A tag may be divided between chunks. A tag later in an
answer is text: the model may be writing about tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from chat.providers.openai_compatible.chunks import TextDelta

OPEN, CLOSE = "<think>", "</think>"
WHITE_SPACE_LIMIT = 200
"""How much white space may stand before the opening tag, in characters."""


class _State(Enum):
    START = "nothing but white space so far"
    REASONING = "inside the tags"
    AFTER = "after the closing tag, before any text"
    TEXT = "the answer"


class ThinkTags:
    """Divides the text of an answer into reasoning and answer."""

    def __init__(self) -> None:
        self._state = _State.START
        self._has_reasoning = False
        self._held = ""
        """The end of the text so far, which may be the beginning of a tag."""

    def end_start(self) -> None:
        """Take all later tags as text: reasoning has come in a field of its own."""
        if self._state is _State.START:
            self._state = _State.TEXT

    def feed(self, text: str) -> Iterator[TextDelta]:
        """Yield what is certain after more text. The tags, and the line ends around them, are not part of it."""
        self._held += text
        if self._state is _State.START:
            stripped = self._held.lstrip()
            is_near = len(self._held) - len(stripped) < WHITE_SPACE_LIMIT
            if is_near and len(stripped) < len(OPEN) and OPEN.startswith(stripped):
                return
            self._state = _State.REASONING if is_near and stripped.startswith(OPEN) else _State.TEXT
            self._held = stripped[len(OPEN) :] if self._state is _State.REASONING else self._held
        if self._state is _State.REASONING:
            self._held = self._held if self._has_reasoning else self._held.lstrip("\n")
            reasoning, tag, rest = self._held.partition(CLOSE)
            if not tag:
                keep = _length_of_tag_start(reasoning)
                reasoning, self._held = reasoning[: len(reasoning) - keep], reasoning[len(reasoning) - keep :]
            else:
                self._state, self._held = _State.AFTER, rest
            if reasoning:
                self._has_reasoning = True
                yield TextDelta(reasoning, is_reasoning=True)
        if self._state is _State.AFTER:
            self._held = self._held.lstrip("\n")
            self._state = _State.TEXT if self._held else _State.AFTER
        if self._state is _State.TEXT:
            yield from self.close()

    def close(self) -> Iterator[TextDelta]:
        """Yield the text that was held back."""
        held, self._held = self._held, ""
        if held:
            yield TextDelta(held, is_reasoning=self._state is _State.REASONING)


def _length_of_tag_start(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of the closing tag."""
    return next((length for length in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:length])), 0)
