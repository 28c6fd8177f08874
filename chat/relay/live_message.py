"""From the changes of a live answer to the swaps that bring every open page up to date.

The sum of the swaps equals the message rendered whole, byte for byte. Only the open tail of the last text is rendered
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.utils.safestring import SafeString

from chat.answers.answer import Answer
from chat.answers.changes import (
    AttachmentAdded,
    AttemptRestarted,
    Change,
    MessagesLeftOut,
    PartReplaced,
    PartStarted,
    TextAppended,
    Waited,
)
from chat.fragments import (
    AttachmentView,
    RenderedText,
    delete_swap,
    join_html,
    part_element_id,
    part_html,
    part_view,
    partial,
    status_html,
)
from chat.models import Turn
from chat.parts import Part, Text, Thought
from chat.rendering.stream import MarkdownStream
from chat.transcript.views import answer_view, new_attachment_view


class LiveMessage:
    """What open pages show of one live answer."""

    def __init__(self, turn: Turn, answer: Answer) -> None:
        """`answer`: the part of the answer that is stored already, and that pages show."""
        self._turn = turn
        self._message_id = turn.message_id
        self._waiting = answer.waiting
        self._left_out = answer.messages_left_out
        self._index = answer.part_count - 1
        """Index of the last part."""
        self._part: Part | None = None
        """The last part, if it may still change."""
        self._attachments: list[AttachmentView] = []
        """Attachments that are shown after the last part."""
        self._stream: MarkdownStream | None = None
        """The text of the last part."""
        self._texts: dict[int, RenderedText] = {}
        """Rendered texts of earlier parts, by part index."""
        self._is_shown = True
        """Whether the element of the last part exists on open pages."""
        self._is_changed = False

    def update(self, changes: Iterable[Change]) -> SafeString:
        """Return the swaps that show these changes; empty if they are not visible."""
        swaps: list[SafeString] = []
        for change in changes:
            match change:
                case PartStarted(index, part, _):
                    swaps += self._flush()
                    swaps += self._show_status(waiting="")
                    self._start_part(index, part)
                case TextAppended(_, text):
                    self._append(text)
                case PartReplaced(_, part):
                    self._part, self._is_changed = part, True
                case AttachmentAdded(attachment):
                    self._attachments.append(new_attachment_view(attachment))
                case Waited(sentence):
                    swaps += self._show_status(waiting=sentence)
                case MessagesLeftOut(messages):
                    swaps += self._show_status(left_out=messages)
                case AttemptRestarted(kept):
                    swaps += self._flush()
                    swaps += self._remove_parts(kept)
                case _:
                    pass
        swaps += self._flush()
        return join_html(swaps)

    def rendered_texts(self) -> Mapping[int, RenderedText]:
        """Return the texts that are rendered already, by part index, so that the whole message need not render them
        again.
        """
        self._save_rendered_text()
        return self._texts

    def _save_rendered_text(self) -> None:
        if self._stream:
            self._texts[self._index] = RenderedText(*self._stream.closed_and_tail)

    def _show_status(self, waiting: str | None = None, left_out: int | None = None) -> list[SafeString]:
        """Return the swap of the turn's status line, if it changes."""
        before = self._waiting, self._left_out
        self._waiting = self._waiting if waiting is None else waiting
        self._left_out = self._left_out if left_out is None else left_out
        if before == (self._waiting, self._left_out):
            return []
        answer = Answer(waiting=self._waiting, messages_left_out=self._left_out)
        view = answer_view(self._turn.message, self._turn, answer)
        return [partial(f"message-{self._message_id}-status", "outerMorph", status_html(view))]

    def _remove_parts(self, kept: int) -> list[SafeString]:
        """Return the swaps that remove the parts of a failed attempt, all but the first `kept` parts."""
        removed = range(kept, self._index + 1)
        self._texts = {index: text for index, text in self._texts.items() if index < kept}
        self._index, self._part, self._stream = kept - 1, None, None
        return [delete_swap(part_element_id(self._message_id, index)) for index in removed]

    def _start_part(self, index: int, part: Part) -> None:
        self._save_rendered_text()
        self._index, self._part, self._attachments = index, part, []
        self._is_shown, self._is_changed = False, True
        self._stream = None
        if isinstance(part, Text | Thought):
            self._stream = MarkdownStream()
            self._stream.append(part.text)

    def _append(self, text: str) -> None:
        self._is_changed = True
        if self._stream:
            self._stream.append(text)
        elif self._part is not None:
            self._part = self._part.with_long_text(self._part.long_text + text)

    def _flush(self) -> list[SafeString]:
        """Return the swaps that show the last part as it is now."""
        if self._part is None or not self._is_changed:
            return []
        self._is_changed = False
        update = self._stream.update() if self._stream else None
        rendered = RenderedText(update.closed_html, update.tail_html) if update else None
        root = part_element_id(self._message_id, self._index)
        if not self._is_shown:
            self._is_shown = True
            view = part_view(self._message_id, self._index, self._part, self._attachments, rendered=rendered)
            return [partial(f"message-{self._message_id}-parts", "beforeend", part_html(view))]
        if update is None or update.is_reset:
            view = part_view(self._message_id, self._index, self._part, rendered=rendered)
            return [partial(root, "outerMorph", part_html(view))]
        swaps = [partial(f"{root}-tail", "innerMorph", update.tail_html)]
        if update.closed_html:
            swaps.insert(0, partial(f"{root}-tail", "beforebegin", update.closed_html))
        return swaps
