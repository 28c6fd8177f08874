"""Turns the stream events of a provider or a tool into changes of an answer.

Rules: text joins the last text of the same kind, but never across `provider_data`, a round or an attempt; an empty text
without `provider_data` is dropped; identical bytes are one attachment, shown where they were received first.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from chat.messages.answer import Answer
from chat.messages.changes import (
    AnswerAttachment,
    AttachmentAdded,
    AttemptRestarted,
    Change,
    OutputCut,
    PartReplaced,
    PartStarted,
    Reported,
    RoundStarted,
    TextAppended,
    ThoughtEnded,
)
from chat.messages.closing import Closing, call_changes, code_changes
from chat.messages.new_attachments import describe_attachment
from chat.messages.running_code import RunningCode
from chat.vocabulary.data_uris import Extraction, extract_images
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    InlineData,
    Part,
    PrintedImage,
    Text,
    Thought,
)
from chat.vocabulary.sanitize import sanitize_event
from chat.vocabulary.stream_events import OutputsRedrawn, PartReceived, StreamEvent, TextBecameThought


class Assembler:
    """Turns events into changes, applies them to its answer, and measures how long code runs and the model thinks."""

    def __init__(
        self,
        *,
        is_code_offered: bool,
        new_id: Callable[[], str],
        answer: Answer | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_code_offered`: whether the provider may run code. It may send graphs without showing their code first.

        `answer`: an answer to continue.

        `new_id` returns ids for attachments, and for function calls to which the provider gave no unique id.
        """
        self.answer = answer or Answer()
        self._new_id = new_id
        self._now_s = now_s
        self._code_began: dict[str, float] = {}
        """`call_id` of code without a final result -> when the code was received."""
        self._open_thought: tuple[int, float] | None = None
        """Index of the thought that has not ended, and the time at which it began."""
        self._text_began_at = 0.0
        """The time at which the last text began."""
        self._has_code = is_code_offered
        """True if images count as graphs that code drew. Images of a function always do."""
        self._index_by_hash = {one.sha256: one.index for one in self.answer.attachments}
        self._first_open = self.answer.part_count
        """Index of the first part to which later text may be appended."""
        self._runs: dict[str, RunningCode] = {}
        """`call_id` -> code that runs in the session. Empty in a resumed turn: no code runs while a turn waits."""

    def start_round(self) -> list[Change]:
        """Begin the next round."""
        ended, self._first_open = self.end_thought(), self.answer.part_count
        return ended + self.answer.apply_all([RoundStarted(self.answer.round_number + 1)])

    def restart_attempt(self) -> list[Change]:
        """Remove the parts of the last attempt at this round, except the thoughts at its beginning."""
        ended = self.end_thought()
        parts, number = self.answer.parts, self.answer.round_number
        dropped = (index for index, part in enumerate(parts) if part.round == number and not isinstance(part, Thought))
        self._first_open = next(dropped, len(parts))
        self._runs.clear()
        return ended + self.answer.apply_all([AttemptRestarted(self._first_open)])

    def add(self, event: StreamEvent, *, made_by: str = "") -> list[Change]:
        """Apply one event. Its changes belong together and must be stored in one transaction.

        `made_by`: the function call whose tool sends the event.
        """
        event = sanitize_event(event)
        answer = self.answer
        if isinstance(event, TextBecameThought):
            return answer.apply_all(self._thought_changes())
        if isinstance(event, OutputsRedrawn):
            return answer.apply_all(self._redraw_changes(event, made_by))
        if not isinstance(event, PartReceived):
            return answer.apply_all([Reported(event)])
        part = self._with_duration(event.part)
        if isinstance(part, CodeExecutionResult) and part.engine is Engine.SESSION:
            part = replace(part, round=answer.round_number, made_by=made_by)
            changes = answer.apply_all(self._session_changes(part))
        else:
            self._note_output(part, made_by)
            changes = answer.apply_all(self._appended_text(part) or self._part_changes(part, made_by))
        return changes + self._after(changes)

    def end_thought(self) -> list[Change]:
        """End the open thought if there is one, because the response has ended or another part begins."""
        if self._open_thought is None:
            return []
        (index, began_at), self._open_thought = self._open_thought, None
        return self.answer.apply_all([ThoughtEnded(index, self._ms_since(began_at))])

    def end_code(self, outcome: str) -> list[Change]:
        """Give an outcome to all code in the session that has none, because it will get no result."""
        changes: list[Change] = []
        for call_id, run in self._runs.items():
            part = CodeExecutionResult(None, call_id=call_id, engine=Engine.SESSION, round=self.answer.round_number)
            changes += self.answer.apply_all(run.show_rest(replace(part, made_by=run.made_by)))
        self._runs.clear()
        return changes + self.answer.apply_all(code_changes(self.answer, outcome))

    def close(self, closing: Closing) -> list[Change]:
        """Close all code and all function calls that have not ended, because the answer ends."""
        changes = self.end_thought() + self.end_code(closing.outcome)
        return changes + self.answer.apply_all(call_changes(self.answer, closing))

    def _with_duration(self, part: Part) -> Part:
        """Return the part. The final result of code gets the time since the code was received.

        A provider that runs the code itself does not report how long it ran, so this time includes that of the network.
        """
        if isinstance(part, ExecutableCode):
            self._code_began[part.call_id] = self._now_s()
        elif isinstance(part, CodeExecutionResult) and part.outcome and part.call_id in self._code_began:
            return replace(part, duration_ms=self._ms_since(self._code_began.pop(part.call_id)))
        return part

    def _after(self, changes: Iterable[Change]) -> list[Change]:
        """Return the change that ends the open thought, if these changes begin another part; otherwise an empty list.

        The duration of a thought is measured from its first piece to the next part, as an open page measures it. A text
        or thought that holds only a signature does not end a thought, and does not count as one.
        """
        ended: list[Change] = []
        for change in changes:
            if isinstance(change, PartStarted) and not _is_signature(change.part):
                ended += self.end_thought()
                if isinstance(change.part, Thought):
                    self._open_thought = change.index, self._now_s()
                elif isinstance(change.part, Text):
                    self._text_began_at = self._now_s()
        return ended

    def withdraw_code(self) -> None:
        """Treat later images as images of the model, because it has no code that could draw graphs."""
        self._has_code = False

    def _thought_changes(self) -> Iterator[Change]:
        """Yield the changes that turn the texts of this attempt into thoughts. The last thought stays open."""
        for index, part in enumerate(self.answer.parts[self._first_open :], self._first_open):
            if isinstance(part, Text):
                self._open_thought = index, self._text_began_at
                yield PartReplaced(index, Thought(part.text, round=part.round, provider_data=part.provider_data))

    def _ms_since(self, began_at: float) -> int:
        return round((self._now_s() - began_at) * 1000)

    def _appended_text(self, part: Part) -> list[Change]:
        """Return the change that appends to the last text, or an empty list. Nearly every event takes this path."""
        answer = self.answer
        last = answer.last_part
        if answer.part_count <= self._first_open or last is None or type(last) is not type(part):
            return []
        if isinstance(part, Text | Thought):
            is_appended = bool(part.text) and part.is_open_text and last.is_open_text
            return [TextAppended(answer.part_count - 1, part.text)] if is_appended else []
        return []

    def _session_changes(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes for more output of code in the session, or for its end; see `RunningCode.end`."""
        run = self._run_of(part.call_id, part.made_by)
        if part.is_running:
            yield from run.add(part)
            return
        del self._runs[part.call_id]
        yield from run.end(part)

    def _run_of(self, call_id: str, made_by: str) -> RunningCode:
        if call_id not in self._runs:
            starts = self._result_changes, partial(self._part_changes, made_by=made_by)
            self._runs[call_id] = RunningCode(self.answer, made_by, *starts)
        return self._runs[call_id]

    def _note_output(self, part: Part, made_by: str) -> None:
        """Record a graph or a rich output of code in the session, because the code may change it later."""
        run = next(reversed(self._runs.values()), None)
        if isinstance(part, InlineData | Display) and run is not None and run.made_by == made_by:
            run.note(part, self.answer.part_count)

    def _redraw_changes(self, event: OutputsRedrawn, made_by: str) -> Iterator[Change]:
        for change in self._run_of(event.call_id, made_by).redraw(event):
            yield change
            if isinstance(change, OutputCut):
                self._index_by_hash = {one.sha256: one.index for one in self.answer.attachments}

    def _part_changes(self, part: Part, made_by: str) -> Iterator[Change]:
        index = self.answer.part_count
        part = replace(part, round=self.answer.round_number, made_by=made_by)
        match part:
            case Text() | Thought():
                if part.text or not part.is_open_text:
                    yield PartStarted(index, part)
            case InlineData() if part.data:
                yield from self._inline_data_changes(index, part)
            case CodeExecutionResult() if part.output:
                yield from self._result_changes(part, extract_images(part.output))
            case FunctionCall():
                yield PartStarted(index, self._with_unique_id(part))
            case ExecutableCode():
                # Graphs of code that a function runs come from the function. Other images may be the model's own.
                self._has_code = self._has_code or not made_by
                self._runs.pop(part.call_id, None)
                if part.engine is Engine.SESSION:
                    self._run_of(part.call_id, made_by)
                yield PartStarted(index, part)
            case _:
                yield PartStarted(index, part)

    def _with_unique_id(self, call: FunctionCall) -> FunctionCall:
        """Return the call with an id that no other call of the answer has. Some servers use an id again."""
        known = {part.call_id for part in self.answer.parts if isinstance(part, FunctionCall)}
        return replace(call, call_id=self._new_id()) if call.call_id in {"", *known} else call

    def _inline_data_changes(self, index: int, part: InlineData) -> Iterator[Change]:
        is_graph = self._has_code or bool(part.made_by)
        number, attachment = self._attachment(index, part.data or b"", part.mime_type, part.name, is_graph=is_graph)
        yield PartStarted(index, replace(part, data=None), number)
        if attachment:
            yield AttachmentAdded(attachment)

    def _result_changes(self, part: CodeExecutionResult, extraction: Extraction) -> Iterator[Change]:
        """Yield the changes that begin a result, with the images that the code printed."""
        index = self.answer.part_count
        if not extraction.images:
            yield PartStarted(index, part)
            return
        images: list[PrintedImage] = []
        added: list[Change] = []
        for image in extraction.images:
            number, attachment = self._attachment(
                index, image.data, image.mime_type, "", is_graph=True, pending=len(added)
            )
            images.append(PrintedImage(image.offset, image.header, image.line_chars, number))
            if attachment:
                added.append(AttachmentAdded(attachment))
        yield PartStarted(index, replace(part, output=extraction.text, images=tuple(images)))
        yield from added

    def _attachment(
        self, part_index: int, data: bytes, mime_type: str, name: str, *, is_graph: bool, pending: int = 0
    ) -> tuple[int, AnswerAttachment | None]:
        """Return the index of the attachment with these bytes, and the attachment if it is new in the answer.

        `pending`: number of attachments of the same event that are not applied yet.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 in self._index_by_hash:
            return self._index_by_hash[sha256], None
        number = len(self.answer.attachments) + pending
        self._index_by_hash[sha256] = number
        cleared = next((one for one in self.answer.cleared.graphs if one.sha256 == sha256), None)
        if cleared is not None:
            # The bytes of a cleared graph are already stored.
            return number, replace(cleared, index=number, part_index=part_index)
        return number, describe_attachment(
            data,
            mime_type,
            name,
            index=number,
            part_index=part_index,
            attachment_id=self._new_id(),
            is_graph=is_graph,
        )


def _is_signature(part: Part) -> bool:
    return isinstance(part, Text | Thought) and not part.text and bool(part.provider_data)
