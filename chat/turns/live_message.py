"""The page's side of a live turn: from changes to the swaps that bring every tab up to date.

The sum of the swaps equals the message rendered whole, byte for byte; only the open tail of the last text is
rendered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from django.utils.safestring import SafeString

from chat.fragments import (
    AttachmentView,
    delete,
    joined,
    part_element_id,
    part_html,
    part_view,
    partial,
    status_html,
)
from chat.models import Turn
from chat.parts import Part, PartKind
from chat.rendering.stream import MarkdownStream
from chat.turns.answer import Answer, AttachmentFound, Change, LeftOut, PartStarted, Restarted, TextAppended, Waited
from chat.turns.transcript import answer_view, found_attachment_view

STREAMED = (PartKind.TEXT, PartKind.THOUGHT)

Halves: TypeAlias = tuple[SafeString, SafeString]
"""HTML of a text: what is closed, and its open tail."""


class LiveMessage:
    """What the tabs of one live message have been told so far."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._message_id = turn.message_id
        self._waiting = ""
        self._left_out = 0
        self._index = -1
        self._part: Part | None = None
        self._attachments: list[AttachmentView] = []
        self._stream: MarkdownStream | None = None
        self._halves: dict[int, Halves] = {}
        self._is_told = True
        """Whether the tabs have the last part's root element."""
        self._is_changed = False

    def update(self, changes: Iterable[Change]) -> SafeString:
        """Swaps that show `changes`, in order; empty where there is nothing to see."""
        swaps: list[SafeString] = []
        for change in changes:
            match change:
                case PartStarted(index, part, _):
                    swaps += self._flush()
                    swaps += self._tell(waiting="")
                    self._begin(index, part)
                case TextAppended(_, text) if self._stream:
                    self._stream.append(text)
                    self._is_changed = True
                case AttachmentFound(found):
                    self._attachments.append(found_attachment_view(found))
                case Waited(sentence):
                    swaps += self._tell(waiting=sentence)
                case LeftOut(messages):
                    swaps += self._tell(left_out=messages)
                case Restarted(kept):
                    swaps += self._flush()
                    swaps += self._forget(kept)
                case _:
                    pass
        swaps += self._flush()
        return joined(swaps)

    def halves(self) -> Mapping[int, Halves]:
        """Of each text that was shown, by the index of its part: the whole message need not be rendered anew."""
        self._keep_halves()
        return self._halves

    def _keep_halves(self) -> None:
        if self._stream:
            self._halves[self._index] = self._stream.halves

    def _tell(self, waiting: str | None = None, left_out: int | None = None) -> list[SafeString]:
        """How the turn stands, where that is news."""
        told = self._waiting, self._left_out
        self._waiting = self._waiting if waiting is None else waiting
        self._left_out = self._left_out if left_out is None else left_out
        if told == (self._waiting, self._left_out):
            return []
        answer = Answer(waiting=self._waiting, left_out=self._left_out)
        view = answer_view(self._turn.message, self._turn, answer)
        return [partial(f"message-{self._message_id}-status", "outerMorph", status_html(view))]

    def _forget(self, kept: int) -> list[SafeString]:
        """Parts of an attempt that gave nothing to see are gone, but for the first `kept`."""
        gone = range(kept, self._index + 1)
        self._halves = {index: halves for index, halves in self._halves.items() if index < kept}
        self._index, self._part, self._stream = kept - 1, None, None
        return [delete(part_element_id(self._message_id, index)) for index in gone]

    def _begin(self, index: int, part: Part) -> None:
        self._keep_halves()
        self._index, self._part, self._attachments = index, part, []
        self._is_told, self._is_changed = False, True
        self._stream = None
        if part.kind in STREAMED:
            self._stream = MarkdownStream()
            self._stream.append(part.text or "")

    def _flush(self) -> list[SafeString]:
        if self._part is None or not self._is_changed:
            return []
        self._is_changed = False
        update = self._stream.update() if self._stream else None
        if not self._is_told:
            self._is_told = True
            halves = (update.closed, update.tail) if update else None
            view = part_view(self._message_id, self._index, self._part, self._attachments, halves=halves)
            return [partial(f"message-{self._message_id}-parts", "beforeend", part_html(view))]
        if update is None:
            return []
        root = part_element_id(self._message_id, self._index)
        if update.reset:
            view = part_view(self._message_id, self._index, self._part, halves=(update.closed, update.tail))
            return [partial(root, "outerMorph", part_html(view))]
        swaps = [partial(f"{root}-tail", "innerMorph", update.tail)]
        if update.closed:
            swaps.insert(0, partial(f"{root}-tail", "beforebegin", update.closed))
        return swaps
