"""The events of a turn: its log, or its stored parts, as events of the REST API. Pure.

Each event has a number, so that a client can resume the stream after any event. The first event, `status`, has number
0. A log row gives at most one event, whose number is the row's `seq`. The last events have the numbers after the last
row. So the numbers are the same in every process, for a live turn and later.

The log is deleted some minutes after the end. Then the events are made from the stored parts, with numbers of their
own: a text is one event instead of many, and there is no `reset`, and no `status` of a turn that waited.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import assert_never

from attachments.models import Attachment
from chat.api.serializers.turns import error_json, usage_json
from chat.api.session_output import Content, SessionOutput
from chat.messages.changes import (
    AnswerAttachment,
    ApprovalRequested,
    AttachmentAdded,
    AttemptRestarted,
    CallDecided,
    EngineMoved,
    MessagesLeftOut,
    OutputCut,
    PartReplaced,
    PartStarted,
    Reported,
    ResultHeld,
    RoundStarted,
    StateSent,
    TextAppended,
    ThoughtEnded,
    ToolStarted,
    Waited,
)
from chat.messages.code_results import earlier_results
from chat.messages.log import Row, from_row
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Turn
from chat.vocabulary.code_outcomes import ERROR, UNKNOWN, outcome_word
from chat.vocabulary.display_text import display_text
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from chat.vocabulary.terminal_text import terminal_text

FIRST_SEQ_FROM_PARTS = 1_000_000_000
"""Number of the first event that is made from stored parts. It exceeds every `seq` of a log."""
SEQ_LIMIT = 2**31 - 1
"""The largest number of an event."""

STATUS_ROW = "status"
WAITING_ROW = "waiting"

EVENT_DOCS = (
    ("status", "{status}", "First `running`, last how the turn ended. `waiting`: see the turn's `approval`."),
    ("text", "{delta}", "More text of the answer."),
    ("thought", "{delta}", "More of the model's thoughts."),
    (
        "reset",
        "{part_index, kind, text}",
        "The part is of this kind, and holds this text in place of what came before: a text that was a thought, an"
        " output that code has cleared or redrawn. Parts with a higher index are gone, or come again.",
    ),
    ("code_executable", "{executable_code, code_language, id?}", "Code that runs."),
    (
        "code_execution_result",
        "{code_execution_output, code_execution_outcome: success|error|timeout|aborted|lost, id?}",
        "The output of code that has ended. `aborted`: stopped with its answer. `lost`: the server was interrupted"
        " while the code ran. An outcome that Plotline does not know is an `error`.",
    ),
    (
        "display",
        "{part_index, bundle}",
        "A rich output of code, such as a table, as JSON by MIME type. Its HTML and SVG were written by code: do not"
        " insert them into a page. `code_execution_output` holds its text.",
    ),
    ("graph", "{index, attachment_id, mime_type, width, height}", "A graph that code drew. Sizes are in pixels."),
    ("image", "{index, attachment_id, mime_type, width, height}", "An image that the model made."),
    (
        "usage",
        "{prompt, tool_use, thoughts, candidates, cached, total, estimated}",
        "Token counts. Null: not reported.",
    ),
    ("error", "{code, detail}", "Why the answer failed or was interrupted."),
    ("done", "{finish_reason, message_id}", "Always the last event."),
)
"""Name, data and meaning of each event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event with its number."""

    seq: int
    content: Content

    @property
    def size_chars(self) -> int:
        """The approximate size of the event."""
        return _size_chars(self.content[1])

    def encode(self) -> bytes:
        """Return the event in the format `text/event-stream`."""
        return encode_event(self.content, self.seq)


def _size_chars(value: object) -> int:
    """Return the length of all texts in a value of JSON."""
    if isinstance(value, Mapping):
        return sum(map(_size_chars, value.values()))
    if isinstance(value, list):
        return sum(map(_size_chars, value))
    return len(value) if isinstance(value, str) else 1


def encode_event(content: Content, seq: int | None) -> bytes:
    """Return an event in the format `text/event-stream`. `seq` is `None` if a stream cannot be resumed after it."""
    name, data = content
    number = "" if seq is None else f"id: {seq}\n"
    # JSON contains no line breaks, which would end the line of the data.
    json_data = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\n{number}data: {json_data}\n\n".encode(errors="replace")


@dataclass(slots=True)
class LogTranslator:
    """Translates the rows of a log to events, in the order of the log."""

    _last_part: Part | None = None
    """The part that has started last. Appended text belongs to it."""
    _output: SessionOutput = field(default_factory=SessionOutput)

    def translate(self, row: Row) -> Content | None:
        """Return the event of a row; `None` if the row gives no event."""
        name, data = row
        if name == WAITING_ROW:
            return status_content(Turn.Status.WAITING)
        change = from_row(name, data)
        match change:
            case PartStarted(index, part, _):
                return self._started(index, part)
            case OutputCut():
                return self._output.cut(change)
            case PartReplaced(index, part):
                return self._replaced(index, part)
            case TextAppended(index, text):
                if isinstance(self._last_part, Text | Thought):
                    return _part_content(index, self._last_part.with_long_text(text), self._output)
                # The whole result follows when the code has ended.
                self._output.append(index, text)
                return None
            case AttachmentAdded(attachment):
                return _image_content(attachment.index, attachment.attachment_id, attachment)
            case CallDecided():
                return status_content(Turn.Status.RUNNING)
            case (
                RoundStarted()
                | ThoughtEnded()
                | ToolStarted()
                | ResultHeld()
                | ApprovalRequested()
                | Reported()
                | Waited()
                | EngineMoved()
                | StateSent()
                | MessagesLeftOut()
                | AttemptRestarted()
                | None
            ):
                return None
            case _:
                assert_never(change)

    def _started(self, index: int, part: Part) -> Content | None:
        self._last_part = part
        content = _part_content(index, part, self._output)
        is_output = isinstance(part, CodeExecutionResult) and part.is_running
        return self._output.redrawn(index) if is_output else content

    def _replaced(self, index: int, part: Part) -> Content | None:
        if isinstance(part, Text | Thought):
            self._last_part = part
            return "reset", {"part_index": index, "kind": part.kind.value, "text": part.text}
        return _part_content(index, part, self._output)


def status_content(status: str) -> Content:
    """Return the event of a turn's status. Every stream begins with the event of `running`."""
    return "status", {"status": status}


def done_content(turn: Turn, finish_reason: str) -> Content:
    """Return the very last event."""
    return "done", {"finish_reason": finish_reason, "message_id": str(turn.message_id)}


def final_events(turn: Turn, last_seq: int) -> list[Event]:
    """Return the last events of a turn that has ended. `last_seq`: number of the event before them."""
    return [Event(seq, content) for seq, content in enumerate(_final_contents(turn), last_seq + 1)]


def events_from_parts(turn: Turn, record: MessageRecord) -> Iterator[Event]:
    """Yield all events of an ended turn from its stored parts."""
    contents = chain([status_content(Turn.Status.RUNNING)], _part_contents(record), _final_contents(turn))
    for seq, content in enumerate(contents, FIRST_SEQ_FROM_PARTS):
        yield Event(seq, content)


def _final_contents(turn: Turn) -> Iterator[Content]:
    yield status_content(turn.status)
    if usage := usage_json(turn):
        yield "usage", usage
    if error := error_json(turn):
        yield "error", error
    yield done_content(turn, turn.finish_reason)


def _part_contents(record: MessageRecord) -> Iterator[Content]:
    output = SessionOutput()
    earlier, by_part = earlier_results(record.parts), record.attachments_by_part()
    for index, part in enumerate(record.parts):
        if index in earlier:
            output.append(index, part.long_text)
        elif content := _part_content(index, part, output):
            yield content
        yield from _image_contents(by_part[index])
    yield from _image_contents(record.unplaced)


def _image_contents(attachments: Iterable[PlacedAttachment]) -> Iterator[Content]:
    for placed in attachments:
        if content := _image_content(placed.index, str(placed.attachment.pk), placed.attachment):
            yield content


def _part_content(index: int, part: Part, output: SessionOutput) -> Content | None:
    match part:
        case Text() | Thought():
            return (part.kind.value, {"delta": part.text}) if part.text else None
        case ExecutableCode():
            output.start_run()
            code = {"executable_code": part.code, "code_language": part.language}
            return "code_executable", code | _id_data(part)
        case CodeExecutionResult():
            whole = output.add(index, part)
            return None if whole is None else _result_content(whole)
        case InlineData() | FileData() | FunctionCall() | FunctionResponse():
            return None
        case Display():
            output.append(index, display_text(part.bundle))
            return "display", {"part_index": index, "bundle": part.bundle}
        case ToolCall() | ToolResponse() | Unsupported():
            return None
        case _:
            assert_never(part)


def _result_content(part: CodeExecutionResult) -> Content:
    # An outcome that Plotline does not know counts as an error, because the code may have failed.
    word = outcome_word(part)
    outcome = ERROR if word == UNKNOWN else word
    result = {"code_execution_output": terminal_text(part.output or ""), "code_execution_outcome": outcome}
    return "code_execution_result", result | _id_data(part)


def _id_data(part: ExecutableCode | CodeExecutionResult) -> dict[str, str]:
    return {"id": part.call_id} if part.call_id else {}


def _image_content(index: int, attachment_id: str, attachment: AnswerAttachment | Attachment) -> Content | None:
    """Return the event of a graph or an image; `None` for other files."""
    if not attachment.is_image:
        return None
    data = {
        "index": index,
        "attachment_id": attachment_id,
        "mime_type": attachment.mime_type,
        "width": attachment.width,
        "height": attachment.height,
    }
    return "graph" if attachment.is_graph else "image", data
