"""Converts the log of a live turn: changes to JSON rows, and back.

One row is one stored step with one `seq`. Successive texts for one part within one transaction are one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeAlias

from chat.messages.answer import Answer
from chat.messages.changes import (
    AnswerAttachment,
    ApprovalRequested,
    AttachmentAdded,
    AttemptRestarted,
    CallDecided,
    Change,
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
from chat.vocabulary.part_json import part_from_json, part_to_json
from chat.vocabulary.parts import FunctionResponse, JSONObject
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    Report,
    ResponseIdentified,
    Source,
    SourcesReported,
    Usage,
    UsageReported,
)

Row: TypeAlias = tuple[str, JSONObject]
"""The name and the data of one `TurnEvent`."""

REPORTS: Mapping[str, type[Report]] = {
    "usage": UsageReported,
    "finish": Finished,
    "response": ResponseIdentified,
    "sources": SourcesReported,
    "metadata": MetadataReported,
}
PLAIN_CHANGES: Mapping[str, type[Change]] = {
    "append": TextAppended,
    "output_cut": OutputCut,
    "thought_ended": ThoughtEnded,
    "round": RoundStarted,
    "tool": ToolStarted,
    "approval": ApprovalRequested,
    "decision": CallDecided,
    "waited": Waited,
    "engine": EngineMoved,
    "state": StateSent,
    "left_out": MessagesLeftOut,
    "restarted": AttemptRestarted,
}
"""Changes whose fields need no conversion to JSON."""

FIELDS: Mapping[type, list[str]] = {kind: [field.name for field in fields(kind)] for kind in PLAIN_CHANGES.values()}
NAMES: Mapping[type, str] = {kind: name for table in (REPORTS, PLAIN_CHANGES) for name, kind in table.items()}


def coalesce_changes(changes: Iterable[Change]) -> list[Change]:
    """Return the changes with successive appends to one part joined.

    Each chunk reports usage; only the last report is returned. If all other changes append text, no report is returned,
    because it would double the number of rows of a stream of plain text.
    """
    result: list[Change] = []
    texts: list[str] = []
    usage: Reported | None = None

    def join_texts() -> None:
        if len(texts) > 1 and isinstance(result[-1], TextAppended):
            result[-1] = replace(result[-1], text="".join(texts))
        texts.clear()

    for change in changes:
        if isinstance(change, Reported) and isinstance(change.report, UsageReported):
            usage = change
            continue
        if isinstance(change, TextAppended):
            if not texts:
                result.append(change)
            texts.append(change.text)
            continue
        join_texts()
        if isinstance(change, AttemptRestarted | RoundStarted) and usage:
            # The reported usage belongs to the attempt or the round that ends here, so it is returned before the end.
            result.append(usage)
            usage = None
        result.append(change)
    join_texts()
    is_text_alone = bool(result) and all(isinstance(change, TextAppended) for change in result)
    return [*result, usage] if usage and not is_text_alone else result


def to_row(change: Change) -> Row:
    """Return one change as name and JSON data, without the bytes of attachments."""
    match change:
        case PartStarted(index, part, attachment):
            return "part", {"index": index, "part": part_to_json(part), "attachment": attachment}
        case PartReplaced(index, part):
            return "replaced", {"index": index, "part": part_to_json(part)}
        case AttachmentAdded(attachment):
            return "attachment", {key: value for key, value in asdict(attachment).items() if key != "data"}
        case Reported(report):
            return NAMES[type(report)], asdict(report)
        case ResultHeld(response):
            return "held", {"response": part_to_json(response)}
        case _:
            return NAMES[type(change)], {name: getattr(change, name) for name in FIELDS[type(change)]}


def from_row(name: str, data: Mapping[str, Any]) -> Change | None:
    """Return the change that a row was made from; `None` for `status`, `waiting` and unknown names."""
    match name:
        case "part":
            return PartStarted(data["index"], part_from_json(data["part"]), data["attachment"])
        case "replaced":
            return PartReplaced(data["index"], part_from_json(data["part"]))
        case "attachment":
            return AttachmentAdded(AnswerAttachment(**data))
        case "output_cut":
            return OutputCut(**{**data, "cleared": tuple(data["cleared"])})
        case "held":
            response = part_from_json(data["response"])
            assert isinstance(response, FunctionResponse)
            return ResultHeld(response)
        case "usage":
            return Reported(UsageReported(Usage(**data["usage"]), data["raw"]))
        case "finish":
            return Reported(Finished(**{**data, "finish": Finish(data["finish"])}))
        case "sources":
            sources = tuple(Source(**source) for source in data["sources"])
            return Reported(SourcesReported(data["name"], sources, tuple(data["queries"])))
        case _ if name in REPORTS:
            return Reported(REPORTS[name](**data))
        case "approval" | "decision" if "approval_id" not in data:
            # Version 1.0 used the call's id as the approval's id. A turn that has waited since then can be decided.
            approval_id = f"{data['call_id']}/result" if data.get("is_result") else data["call_id"]
            return PLAIN_CHANGES[name](**{**data, "approval_id": approval_id})
        case _ if name in PLAIN_CHANGES:
            return PLAIN_CHANGES[name](**data)
        case _:
            return None


def fold(rows: Iterable[Row]) -> Answer:
    """Return the answer that a log describes."""
    answer = Answer()
    for name, data in rows:
        change = from_row(name, data)
        if change is not None:
            answer.apply(change)
    return answer
