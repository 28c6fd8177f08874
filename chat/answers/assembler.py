"""From the stream events of a provider or a tool to changes of an answer.

Rules: text joins the last text of the same kind, but never across `provider_data`, a round or an attempt; an empty text
without `provider_data` is dropped; identical bytes are one attachment, shown where they were received first.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import replace

from attachments.validation import UnreadableImage, inspect_image, safe_mime_type, safe_name
from chat.answers.answer import Answer
from chat.answers.changes import (
    AnswerAttachment,
    AttachmentAdded,
    AttemptRestarted,
    Change,
    PartReplaced,
    PartStarted,
    Reported,
    RoundStarted,
    TextAppended,
)
from chat.parts import (
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    InlineData,
    Part,
    PrintedImage,
    Text,
    Thought,
)
from chat.rendering.data_uris import extract_images
from chat.sanitize import sanitize_event
from chat.stream_events import PartReceived, StreamEvent


class Assembler:
    """Turns events into changes, and applies them to its answer."""

    def __init__(self, *, is_code_offered: bool, new_id: Callable[[], str], answer: Answer | None = None) -> None:
        """`is_code_offered`: whether images count as graphs before any code arrives. `answer`: an answer to continue.

        `new_id` names attachments, and function calls to which the provider gave no id of their own.
        """
        self.answer = answer or Answer()
        self._new_id = new_id
        self._is_code_seen = is_code_offered
        self._index_by_hash = {one.sha256: one.index for one in self.answer.attachments}
        self._first_open = self.answer.part_count
        """Index of the first part that later text may join."""

    def note(self, change: Change) -> list[Change]:
        """Apply a change that no event of a stream makes."""
        self.answer.apply(change)
        return [change]

    def start_round(self) -> list[Change]:
        """Begin the next round."""
        self._first_open = self.answer.part_count
        return self.note(RoundStarted(self.answer.round_number + 1))

    def restart_attempt(self) -> list[Change]:
        """Remove the parts of the last attempt at this round, except the thoughts at its beginning."""
        parts, number = self.answer.parts, self.answer.round_number
        dropped = (index for index, part in enumerate(parts) if part.round == number and not isinstance(part, Thought))
        self._first_open = next(dropped, len(parts))
        return self.note(AttemptRestarted(self._first_open))

    def add(self, event: StreamEvent, *, made_by: str = "") -> list[Change]:
        """Apply one event. Its changes belong together and must be stored in one transaction.

        `made_by`: the function call whose tool sends the event.
        """
        event = sanitize_event(event)
        if not isinstance(event, PartReceived):
            return self.note(Reported(event))
        part = event.part
        changes = self._appended_text(part) or list(self._part_changes(part, made_by))
        for change in changes:
            self.answer.apply(change)
        return changes

    def _appended_text(self, part: Part) -> list[Change]:
        """Return the change that appends to the open text, or an empty list. This is the path of nearly every event."""
        answer = self.answer
        last = answer.last_part
        if answer.part_count <= self._first_open or last is None or type(last) is not type(part):
            return []
        if isinstance(part, Text | Thought):
            is_appended = bool(part.text) and part.is_open_text and last.is_open_text
            return [TextAppended(answer.part_count - 1, part.text)] if is_appended else []
        if isinstance(part, CodeExecutionResult) and is_running(last) and _is_same_run(last, part):
            # Output of a tool: increments while the code runs, then the final result. A graph in between ends the
            # result before it, so text after the graph begins a new one.
            index = answer.part_count - 1
            if part.outcome:
                return [PartReplaced(index, replace(part, round=last.round, made_by=last.made_by))]
            return [TextAppended(index, part.output or "")]
        return []

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
                yield from self._result_changes(index, part)
            case FunctionCall():
                yield PartStarted(index, self._with_unique_id(part))
            case _:
                self._is_code_seen = self._is_code_seen or isinstance(part, ExecutableCode)
                yield PartStarted(index, part)

    def _with_unique_id(self, call: FunctionCall) -> FunctionCall:
        """Return the call with an id that no other call of the answer has: some servers repeat theirs."""
        known = {part.call_id for part in self.answer.parts if isinstance(part, FunctionCall)}
        return replace(call, call_id=self._new_id()) if call.call_id in {"", *known} else call

    def _inline_data_changes(self, index: int, part: InlineData) -> Iterator[Change]:
        number, attachment = self._attachment(index, part.data or b"", part.mime_type, part.name)
        yield PartStarted(index, replace(part, data=None), number)
        if attachment:
            yield AttachmentAdded(attachment)

    def _result_changes(self, index: int, part: CodeExecutionResult) -> Iterator[Change]:
        extraction = extract_images(part.output or "")
        if not extraction.images:
            yield PartStarted(index, part)
            return
        images: list[PrintedImage] = []
        added: list[Change] = []
        for image in extraction.images:
            number, attachment = self._attachment(index, image.data, image.mime_type, "", pending=len(added))
            images.append(PrintedImage(image.offset, image.header, image.line_chars, number))
            if attachment:
                added.append(AttachmentAdded(attachment))
        yield PartStarted(index, replace(part, output=extraction.text, images=tuple(images)))
        yield from added

    def _attachment(
        self, part_index: int, data: bytes, mime_type: str, name: str, *, pending: int = 0
    ) -> tuple[int, AnswerAttachment | None]:
        """Return the index of these bytes, and the attachment if they are new.

        `pending`: attachments of the same event that are not applied yet.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 in self._index_by_hash:
            return self._index_by_hash[sha256], None
        number = len(self.answer.attachments) + pending
        self._index_by_hash[sha256] = number
        width: int | None = None
        height: int | None = None
        scale = 1
        try:
            image = inspect_image(data)
            mime_type, width, height, scale = image.mime_type, image.width, image.height, image.scale
        except UnreadableImage:
            # Stored as a file to download. A browser would only show a broken picture.
            if mime_type.startswith("image/"):
                mime_type = "application/octet-stream"
        is_graph = width is not None and self._is_code_seen
        kind = "graph" if is_graph else "image" if width is not None else "file"
        default_name = f"{kind}-{number + 1}{mimetypes.guess_extension(mime_type) or '.bin'}"
        return number, AnswerAttachment(
            index=number,
            part_index=part_index,
            attachment_id=self._new_id(),
            name=safe_name(name or default_name, default_name),
            mime_type=safe_mime_type(mime_type),
            size_bytes=len(data),
            sha256=sha256,
            width=width,
            height=height,
            is_graph=is_graph,
            data=data,
            scale=scale if is_graph else 1,
        )


def is_running(part: Part) -> bool:
    """Return whether a part is a result of code in the session whose outcome is not known.

    The code still runs if this is the last part of a live answer. Otherwise, another result of the run follows, or the
    run was stopped.
    """
    return isinstance(part, CodeExecutionResult) and part.engine is Engine.SESSION and not part.outcome


def _is_same_run(last: Part, part: CodeExecutionResult) -> bool:
    return isinstance(last, CodeExecutionResult) and (last.call_id, last.engine) == (part.call_id, part.engine)
