"""Converts the changes of a live answer to the swaps that bring every open page up to date.

The sum of the swaps equals the message rendered whole, byte for byte. Only the open tail of the last text or output is
rendered again. A result of code is rendered whole once more when its code has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from django.utils.safestring import SafeString

from chat.messages.answer import Answer
from chat.messages.calls_as_code import CallsAsCode
from chat.messages.changes import (
    AttachmentAdded,
    AttemptRestarted,
    Change,
    EngineMoved,
    MessagesLeftOut,
    OutputCut,
    PartReplaced,
    PartStarted,
    TextAppended,
    ThoughtEnded,
    Waited,
)
from chat.messages.code_results import CodeResults
from chat.messages.text_runs import PartRun, continues_text, part_runs
from chat.models import Turn
from chat.page.attachment_views import AttachmentView
from chat.page.fragments import (
    code_end_swap,
    code_end_view,
    delete_swap,
    growth_swaps,
    held_groups,
    join_html,
    part_element_id,
    part_html,
    part_pieces,
    part_view,
    partial,
    text_options,
    thought_line,
    thought_line_swap,
)
from chat.page.message_views import CodeContext, PartView, RenderedText
from chat.page.readers import OWNER
from chat.page.relay.part_elements import PartElements
from chat.page.relay.status_line import StatusLine
from chat.page.rendering.output_text import OutputStream
from chat.page.rendering.stream import MarkdownStream
from chat.page.transcript.answer_details import code_place
from chat.page.transcript.answer_files import AnswerFiles
from chat.page.transcript.graph_captions import captions_so_far
from chat.page.transcript.views import new_attachment_view
from chat.vocabulary.parts import CodeExecutionResult, Part, Text, Thought


class LiveMessage:
    """The state of one live answer on open pages. A run is one part, or texts that pages show as one (`text_runs`)."""

    def __init__(self, turn: Turn, answer: Answer) -> None:
        """`answer`: the part of the answer that is stored already, and that pages show."""
        self.is_known = True
        """False after a rendering error. The state of open pages is then not known until they read a snapshot."""
        self._turn = turn
        self._message_id = turn.message_id
        self._status = StatusLine(turn, answer)
        self._captions = captions_so_far(turn.message_id, answer)
        self._files = AnswerFiles(turn.message.conversation_id, OWNER, answer.parts)
        self._results = CodeResults(answer.parts)
        self._calls = CallsAsCode(answer.parts)
        indexes_with_attachments = {one.part_index for one in answer.attachments}
        runs = [*part_runs(answer.parts, indexes_with_attachments)]
        counts = Counter(one.part_index for one in answer.attachments)
        self._elements = PartElements(turn.message_id, ((run.start, counts[run.last]) for run in runs))
        self._starts = [run.start for run in runs]
        """Indexes of the first parts of all runs (see `text_runs`). Each run has one element."""
        self._part: Part | None = None
        """The first part of the last run, if the run may still change."""
        self._last_part: Part | None = None
        """The last part of the last run, if the run may still change."""
        self._attachments: list[AttachmentView] = []
        """Attachments that are shown after the last run."""
        self._stream: MarkdownStream | OutputStream | None = None
        """The text or output of the last run."""
        self._texts: dict[int, RenderedText] = {}
        """Rendered texts of earlier runs, by the index of their first part. Outputs are rendered again."""
        self._is_shown = True
        """Whether the element of the last run exists on open pages."""
        self._is_changed = False
        self._is_replaced = False
        """Whether the only part of the last run has another form than open pages show."""
        if runs and runs[-1].last not in indexes_with_attachments:
            self._resume_run(answer.parts, runs[-1])

    def update(self, changes: Iterable[Change]) -> SafeString:
        """Return the swaps that show these changes; empty if they are not visible."""
        swaps: list[SafeString] = []
        for change in changes:
            match change:
                case PartStarted(index, part, _):
                    swaps += self._add_part(index, part)
                    swaps += self._status.show(retry_notice="")
                case TextAppended(index, text):
                    self._captions.append_text(index, text)
                    self._append(text)
                case PartReplaced(index, part):
                    if index == self._starts[-1]:
                        self._is_replaced = True
                        self._show_part(part)
                    elif isinstance(part, Thought):
                        swaps.append(self._part_swap(index, part))
                    # If a block of code has several results, only the last one shows how the code ended.
                    swaps += self._update_earlier_parts(index, part)
                case OutputCut():
                    swaps += self._cut_output(change)
                case ThoughtEnded(index, duration_ms):
                    # The element of the thought must be on the page before its line can change.
                    swaps += [*self._flush(), thought_line_swap(thought_line(self._message_id, index, duration_ms))]
                case AttachmentAdded(attachment):
                    view = new_attachment_view(attachment)
                    self._attachments.append(self._captions.with_caption(view, attachment.part_index))
                case Waited(sentence):
                    swaps += self._status.show(retry_notice=sentence)
                case EngineMoved(reason, _):
                    swaps += self._status.show(move_reason=reason)
                case MessagesLeftOut(messages):
                    swaps += self._status.show(left_out=messages)
                case AttemptRestarted(kept):
                    swaps += self._flush() + self._remove_parts(kept)
                case _:
                    pass
        return join_html([*swaps, *self._flush(), *self._elements.delete_stale()])

    def _add_part(self, index: int, part: Part) -> list[SafeString]:
        """Add a part to the last run, or begin another run with it; return the swaps that this causes at once."""
        self._captions.add_part(index, part)
        if self._is_continued_by(part):
            self._last_part = part
            if part.long_text:
                self._append(part.long_text)
            return []
        swaps = self._flush()
        self._start_run(index, part)
        return swaps + self._update_earlier_parts(index, part)

    def rendered_texts(self) -> Mapping[int, RenderedText]:
        """Return the rendered texts, which need not be rendered again, by the index of the first part of their run.
        They contain placeholders. A page that already holds a placeholder's group keeps the group.
        """
        self._save_rendered_text()
        return self._texts

    def _save_rendered_text(self) -> None:
        if isinstance(self._stream, MarkdownStream):
            self._texts[self._starts[-1]] = RenderedText(*self._stream.closed_and_tail)
            if self._stream.hides_end:
                del self._texts[self._starts[-1]]

    def _remove_parts(self, kept: int) -> list[SafeString]:
        """Return the swaps that remove the parts of a failed attempt, all but the first `kept`. This cuts no run."""
        changed = self._results.remove(kept)
        self._texts = {index: text for index, text in self._texts.items() if index < kept}
        swaps = [delete_swap(part_element_id(self._message_id, start)) for start in self._forget(kept)]
        return swaps + [self._code_end_swap(code) for code in changed]

    def _forget(self, kept: int) -> list[int]:
        """Keep the first `kept` parts; return the indexes of the removed runs. Later text joins no run that is kept."""
        removed = [start for start in self._starts if start >= kept]
        self._starts = [start for start in self._starts if start < kept]
        self._captions.remove_parts(kept)
        self._files.remove_parts(kept)
        self._part = self._last_part = self._stream = None
        self._attachments = []
        return removed

    def _cut_output(self, cut: OutputCut) -> list[SafeString]:
        """Cut the text of the last part, or remove parts, whose places on the page later parts then take."""
        if cut.chars is not None and isinstance(self._stream, OutputStream):
            self._stream.cut(cut.chars)
            self._append(cut.text)
            return []
        if self._starts[-1:] <= [cut.index]:
            return []
        swaps = self._flush()
        self._results.remove(cut.index + 1)
        for start in self._forget(cut.index + 1):
            self._elements.remove(start)
        return swaps

    def _view(
        self, index: int, part: Part, attachments: Sequence[AttachmentView], rendered: RenderedText | None
    ) -> PartView:
        return part_view(
            self._message_id,
            index,
            part,
            attachments,
            reader=OWNER,
            rendered=rendered,
            context=CodeContext(
                result=self._results.result_of.get(index),
                has_code=index in self._results.code_of,
                is_hidden=index in self._calls.hidden,
                file_links=self._files.before(index),
                place=code_place(self._turn, part, OWNER),
                is_live=True,
            ),
        )

    def _update_earlier_parts(self, index: int, part: Part) -> list[SafeString]:
        """Return the swaps of earlier parts that look different because of this new part."""
        self._files.add_part(index, part)
        swaps = []
        code = self._results.add(index, part)
        if code is not None:
            swaps.append(self._code_end_swap(code))
        hidden = self._calls.add(index, part)
        if hidden is not None and (self._is_shown or hidden != self._starts[-1]):
            swaps.append(self._part_swap(hidden, self._calls.hidden[hidden]))
        return swaps

    def _part_swap(self, index: int, part: Part) -> SafeString:
        """Return the swap that shows another form of a part. Its attachments are separate elements."""
        html = part_html(self._view(index, part, (), None))
        return partial(part_element_id(self._message_id, index), "outerMorph", html)

    def _code_end_swap(self, code: int) -> SafeString:
        return code_end_swap(code_end_view(self._message_id, code, self._results.result_of.get(code)))

    def _resume_run(self, parts: Sequence[Part], run: PartRun) -> None:
        """Render the last run of an answer that pages show already, because later text may join it."""
        if isinstance(run.part, Text | CodeExecutionResult):
            self._part, self._last_part = run.part, parts[run.last]
            self._begin_stream(run.part)
            if self._stream:
                self._stream.update()

    def _is_continued_by(self, part: Part) -> bool:
        """Return whether a new part joins the last run."""
        if self._last_part is None or self._attachments:
            return False
        return continues_text(self._last_part, part, is_in_run=self._last_part is not self._part)

    def _start_run(self, index: int, part: Part) -> None:
        self._save_rendered_text()
        self._starts.append(index)
        self._attachments = []
        self._is_shown = False
        self._show_part(part)

    def _show_part(self, part: Part) -> None:
        """Begin the last run with this part, or replace the only part of the last run by another form of it."""
        self._part = self._last_part = part
        self._is_changed = True
        self._begin_stream(part)

    def _begin_stream(self, part: Part) -> None:
        self._stream = None
        if isinstance(part, Text | Thought):
            index = self._starts[-1]
            links = self._files.before(index)
            self._stream = MarkdownStream(
                text_options(self._message_id, index, OWNER, links, may_grow=True),
                held_groups(self._message_id, index, OWNER),
            )
        elif isinstance(part, CodeExecutionResult):
            self._stream = OutputStream()
        if self._stream:
            self._stream.append(part.long_text)

    def _append(self, text: str) -> None:
        self._is_changed = True
        if self._stream:
            self._stream.append(text)

    def _flush(self) -> list[SafeString]:
        """Return the swaps that show the last run as it is now."""
        if self._part is None or not self._is_changed:
            return []
        is_replaced, self._is_changed, self._is_replaced = self._is_replaced, False, False
        update = self._stream.update() if self._stream else None
        rendered = RenderedText(update.closed_html, update.tail_html) if update else None
        index = self._starts[-1]
        root = part_element_id(self._message_id, index)
        is_whole = not self._is_shown or is_replaced or update is None or update.is_reset
        if is_whole and isinstance(self._stream, MarkdownStream):
            rendered = RenderedText(*self._stream.closed_and_tail)
        if not self._is_shown:
            self._is_shown = True
            view = self._view(index, self._part, self._attachments, rendered)
            return self._elements.add(index, part_pieces(view))
        if update is None or is_whole:
            view = self._view(index, self._part, (), rendered)
            return [partial(root, "outerMorph", part_html(view))]
        return growth_swaps(root, update)
