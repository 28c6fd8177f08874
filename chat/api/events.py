"""The log of a turn as events of the stream; pure.

Each event has a `seq` of its own, so that a reader who comes back with any of them gets exactly the rest. They count
as the log does: 0 is the opening, a row of the log that says something is one event under its own number, and the end
takes the numbers after the last row. A log tells the same events in whichever process, live or later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attachments.models import Attachment
from chat.api.shapes import error_json, usage_json
from chat.exports.reading import Placed, Told
from chat.models import Turn
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, Part, PartKind
from chat.turns.answer import AttachmentFound, FoundAttachment, PartStarted, Restarted, TextAppended
from chat.turns.log import Row, from_row

RETOLD_FROM = 1_000_000_000
"""Events that are told from parts, as the log is gone, have numbers from here: they are none of the log's."""

STATUS_ROW = "status"
OUTCOMES = {OUTCOME_OK: "success", OUTCOME_DEADLINE_EXCEEDED: "timeout"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the stream."""

    seq: int
    name: str
    data: Mapping[str, Any]

    @property
    def size_chars(self) -> int:
        """About how large it is."""
        return sum(len(value) for value in self.data.values() if isinstance(value, str))

    def encoded(self) -> bytes:
        """As `text/event-stream`; JSON has no line breaks."""
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return f"event: {self.name}\nid: {self.seq}\ndata: {data}\n\n".encode(errors="replace")


@dataclass(slots=True)
class Teller:
    """Turns rows into events, in log order."""

    kinds: dict[int, PartKind] = field(default_factory=dict)
    """Of the parts so far: an increment does not say what it is an increment of."""

    def tell(self, seq: int, row: Row) -> Event | None:
        """The event of a row; None for rows that tell a reader nothing."""
        match from_row(*row):
            case PartStarted(index, part, _):
                self.kinds[index] = part.kind
                return _part_event(seq, part)
            case TextAppended(index, text):
                return _text_event(seq, self.kinds.get(index, PartKind.TEXT), text)
            case AttachmentFound(found):
                return _picture_event(seq, found.index, found.attachment_id, found)
            case Restarted(kept):
                for index in [index for index in self.kinds if index >= kept]:
                    del self.kinds[index]
        return None


def opening(seq: int = 0) -> Event:
    """The first event of every stream."""
    return Event(seq, "status", {"status": Turn.Status.RUNNING.value})


def ending(turn: Turn, last_seq: int) -> list[Event]:
    """The last events of a turn that has ended; `last_seq`: of what came before."""
    said: list[tuple[str, Mapping[str, Any]]] = [("status", {"status": turn.status})]
    if usage := usage_json(turn):
        said.append(("usage", usage))
    if error := error_json(turn):
        said.append(("error", error))
    said.append(done(turn))
    return [Event(seq, name, data) for seq, (name, data) in enumerate(said, last_seq + 1)]


def done(turn: Turn) -> tuple[str, Mapping[str, Any]]:
    """Name and data of the very last event."""
    return "done", {"finish_reason": turn.finish_reason, "message_id": str(turn.message_id)}


def retold(turn: Turn, told: Told) -> Iterator[Event]:
    """The whole stream of an ended turn, from its parts."""
    seq = RETOLD_FROM
    yield opening(seq)
    for event in _retold_parts(told):
        seq += 1
        yield Event(seq, event.name, event.data)
    yield from ending(turn, seq)


def _retold_parts(told: Told) -> Iterator[Event]:
    for index, part in enumerate(told.parts):
        if event := _part_event(0, part):
            yield event
        yield from _pictures(told.drawn_by(index))
    yield from _pictures(told.homeless)


def _pictures(places: Iterable[Placed]) -> Iterator[Event]:
    for placed in places:
        if event := _picture_event(0, placed.index, str(placed.attachment.pk), placed.attachment):
            yield event


def _part_event(seq: int, part: Part) -> Event | None:
    named = {"id": part.call_id} if part.call_id else {}
    match part.kind:
        case PartKind.TEXT | PartKind.THOUGHT:
            return _text_event(seq, part.kind, part.text or "")
        case PartKind.EXECUTABLE_CODE:
            code = {"executable_code": part.text or "", "code_language": part.language}
            return Event(seq, "code_executable", {**code, **named})
        case PartKind.CODE_EXECUTION_RESULT:
            outcome = OUTCOMES.get(part.outcome, "error")
            result = {"code_execution_output": part.text or "", "code_execution_outcome": outcome}
            return Event(seq, "code_execution_result", {**result, **named})
        case _:
            return None


def _text_event(seq: int, kind: PartKind, text: str) -> Event | None:
    return Event(seq, kind.value, {"delta": text}) if text else None


def _picture_event(seq: int, index: int, attachment_id: str, file: FoundAttachment | Attachment) -> Event | None:
    """Of a graph or an image; other files stand in the message alone."""
    if file.width is None:
        return None
    data = {"index": index, "attachment_id": attachment_id, "mime_type": file.mime_type}
    return Event(seq, "graph" if file.is_graph else "image", {**data, "width": file.width, "height": file.height})
