"""From the stream events of a provider or a tool to changes of an answer.

Rules: text joins the last text of the same kind, but never across `provider_data`, a round or an attempt; an empty text
without `provider_data` is dropped; identical bytes are one attachment, shown where they were received first.

Results of code in the Python session belong to their run, which their `call_id` names. While the code runs, its output
is appended to the last result of the run, or begins another one after a graph. At the end of the code, all results of
the run get its outcome, and the last part of the run is a result after which no image is shown.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from attachments.images import is_image_type
from attachments.validation import BINARY, ImageInfo, UnreadableImage, inspect_image, safe_mime_type, safe_name
from chat.messages.answer import Answer
from chat.messages.changes import (
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
from chat.messages.closing import Closing, call_changes, close_results, code_changes
from chat.vocabulary.data_uris import IMAGES_LIMIT, Extraction, extract_images, split_open_uri, without_data_uris
from chat.vocabulary.parts import (
    OUTCOME_RUNNING,
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
from chat.vocabulary.sanitize import sanitize_event
from chat.vocabulary.stream_events import PartReceived, StreamEvent


@dataclass(slots=True)
class _Run:
    """Code of the Python session that runs."""

    made_by: str
    results: list[int] = field(default_factory=list)
    """Indexes of the results so far."""
    texts: list[str] = field(default_factory=list)
    """All output so far, as it was received."""
    held_back: str = ""
    """The end of the output, which may become an image. It is in no result yet."""
    image_count: int = 0


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
        self._runs: dict[str, _Run] = {}
        """`call_id` of code in the session that runs. Code never runs while a turn waits, so a resumed one has none."""

    def start_round(self) -> list[Change]:
        """Begin the next round."""
        self._first_open = self.answer.part_count
        return self.answer.apply_all([RoundStarted(self.answer.round_number + 1)])

    def restart_attempt(self) -> list[Change]:
        """Remove the parts of the last attempt at this round, except the thoughts at its beginning."""
        parts, number = self.answer.parts, self.answer.round_number
        dropped = (index for index, part in enumerate(parts) if part.round == number and not isinstance(part, Thought))
        self._first_open = next(dropped, len(parts))
        self._runs.clear()
        return self.answer.apply_all([AttemptRestarted(self._first_open)])

    def add(self, event: StreamEvent, *, made_by: str = "") -> list[Change]:
        """Apply one event. Its changes belong together and must be stored in one transaction.

        `made_by`: the function call whose tool sends the event.
        """
        event = sanitize_event(event)
        answer = self.answer
        if not isinstance(event, PartReceived):
            return answer.apply_all([Reported(event)])
        part = event.part
        if isinstance(part, CodeExecutionResult) and part.engine is Engine.SESSION:
            return answer.apply_all(self._session_changes(replace(part, round=answer.round_number, made_by=made_by)))
        return answer.apply_all(self._appended_text(part) or self._part_changes(part, made_by))

    def end_code(self, outcome: str) -> list[Change]:
        """Give an outcome to all code in the session that has none, because it will get no result."""
        changes: list[Change] = []
        for call_id, run in self._runs.items():
            # What may have become an image is text, or a part of an image that nobody can read.
            text = without_data_uris(run.held_back)
            part = CodeExecutionResult(text, call_id=call_id, engine=Engine.SESSION, round=self.answer.round_number)
            changes += self.answer.apply_all(
                self._output_changes(run, replace(part, made_by=run.made_by)) if text else ()
            )
        self._runs.clear()
        return changes + self.answer.apply_all(code_changes(self.answer, outcome))

    def close(self, closing: Closing) -> list[Change]:
        """Close all code and all function calls that have not ended, because the answer ends."""
        return self.end_code(closing.outcome) + self.answer.apply_all(call_changes(self.answer, closing))

    def _appended_text(self, part: Part) -> list[Change]:
        """Return the change that appends to the open text, or an empty list. This is the path of nearly every event."""
        answer = self.answer
        last = answer.last_part
        if answer.part_count <= self._first_open or last is None or type(last) is not type(part):
            return []
        if isinstance(part, Text | Thought):
            is_appended = bool(part.text) and part.is_open_text and last.is_open_text
            return [TextAppended(answer.part_count - 1, part.text)] if is_appended else []
        return []

    def _session_changes(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes of more output, or of the end of the code, of which `part` holds the whole output."""
        run = self._runs.setdefault(part.call_id, _Run(part.made_by))
        output = part.output or ""
        if part.is_running:
            run.texts.append(output)
            text, run.held_back = split_open_uri(run.held_back + output)
            if text:
                yield from self._output_changes(run, replace(part, output=text))
            return
        del self._runs[part.call_id]
        shown = "".join(run.texts)
        if part.output is None or output.startswith(shown):
            yield from self._end_changes(run, part, run.held_back + output[len(shown) :])
        else:
            # What was shown was not the beginning of the output, such as a progress bar.
            yield from self._end_changes(run, part, output, replaces_last=True)

    def _output_changes(self, run: _Run, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes that show more output."""
        extraction = self._extract_images(run, part.output or "")
        if self._is_last(run) and not extraction.images:
            yield TextAppended(self.answer.part_count - 1, extraction.text)
            return
        yield from self._start_result(run, part, extraction)

    def _end_changes(
        self, run: _Run, part: CodeExecutionResult, rest: str, *, replaces_last: bool = False
    ) -> Iterator[Change]:
        """Yield the changes at the end of code. `rest`: output that is not shown, or that replaces the last result."""
        extraction = self._extract_images(run, rest)
        if self._is_last(run) and not extraction.images:
            before = "" if replaces_last else self.answer.parts[-1].long_text
            part = replace(part, output=before + extraction.text)
        elif not run.results and not extraction.images:
            yield PartStarted(self.answer.part_count, replace(part, output=extraction.text if rest else part.output))
            return
        else:
            opened = replace(part, output=None, outcome=OUTCOME_RUNNING, files=(), duration_ms=None)
            if rest:
                yield from self._start_result(run, replace(opened, output=extraction.text), extraction)
            if not self._is_last(run):
                yield from self._start_result(run, opened, Extraction("", ()))
            part = replace(part, output=self.answer.parts[-1].long_text or None)
        yield from close_results(self.answer.parts, run.results[:-1], part.outcome)
        yield PartReplaced(run.results[-1], part)

    def _start_result(self, run: _Run, part: CodeExecutionResult, extraction: Extraction) -> Iterator[Change]:
        run.results.append(self.answer.part_count)
        yield from self._result_changes(self.answer.part_count, part, extraction)

    def _is_last(self, run: _Run) -> bool:
        """Return whether text may be appended to the last result of a run: nothing is shown after it."""
        last = self.answer.last_part
        is_last = run.results[-1:] == [self.answer.part_count - 1]
        return is_last and isinstance(last, CodeExecutionResult) and not last.images

    def _extract_images(self, run: _Run, output: str) -> Extraction:
        extraction = extract_images(output, IMAGES_LIMIT - run.image_count)
        run.image_count += len(extraction.images)
        return extraction

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
                yield from self._result_changes(index, part, extract_images(part.output))
            case FunctionCall():
                yield PartStarted(index, self._with_unique_id(part))
            case ExecutableCode():
                self._is_code_seen = True
                self._runs.pop(part.call_id, None)
                yield PartStarted(index, part)
            case _:
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

    def _result_changes(self, index: int, part: CodeExecutionResult, extraction: Extraction) -> Iterator[Change]:
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
        """Return the number of the attachment with these bytes, and the attachment if it is new in the answer.

        `pending`: attachments of the same event that are not applied yet.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 in self._index_by_hash:
            return self._index_by_hash[sha256], None
        number = len(self.answer.attachments) + pending
        self._index_by_hash[sha256] = number
        image = _inspect(data)
        if image:
            mime_type = image.mime_type
        elif is_image_type(mime_type):
            # Stored as a file to download. A browser would only show a broken picture.
            mime_type = BINARY
        is_graph = image is not None and self._is_code_seen
        kind = "graph" if is_graph else "image" if image else "file"
        default_name = f"{kind}-{number + 1}{mimetypes.guess_extension(mime_type) or '.bin'}"
        return number, AnswerAttachment(
            index=number,
            part_index=part_index,
            attachment_id=self._new_id(),
            name=safe_name(name or default_name, default_name),
            mime_type=safe_mime_type(mime_type),
            size_bytes=len(data),
            sha256=sha256,
            width=image.width if image else None,
            height=image.height if image else None,
            is_graph=is_graph,
            data=data,
            scale=image.scale if image and is_graph else 1,
        )


def _inspect(data: bytes) -> ImageInfo | None:
    try:
        return inspect_image(data)
    except UnreadableImage:
        return None
