"""The log of a live turn: changes as JSON rows and back.

One row is one stored step and one `seq`. Text appended to one part within one commit is one row, so a row is
at least what one commit showed and a fast stream leaves few.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from chat.parts import (
    FinishReported,
    MetadataReported,
    Part,
    PartKind,
    PromptBlocked,
    ResponseDescribed,
    Usage,
    UsageReported,
)
from chat.turns.answer import (
    Answer,
    AttachmentFound,
    Change,
    FoundAttachment,
    LeftOut,
    Noted,
    PartStarted,
    Restarted,
    TextAppended,
    Waited,
)

NOTES = {
    "usage": UsageReported,
    "finish": FinishReported,
    "blocked": PromptBlocked,
    "response": ResponseDescribed,
    "metadata": MetadataReported,
}
NOTE_NAMES = {kind: name for name, kind in NOTES.items()}
WORDS = {"waited": Waited, "left_out": LeftOut, "restarted": Restarted}
WORD_NAMES = {kind: name for name, kind in WORDS.items()}

Row = tuple[str, dict[str, Any]]
"""Name and data of one `TurnEvent`."""


def coalesced(changes: Iterable[Change]) -> list[Change]:
    """The same changes with neighbouring appends to one part joined.

    Of the usage only the last is kept, and that only beside more than text: a snapshot of it comes with each chunk,
    and would double the rows of a stream of plain text.
    """
    result: list[Change] = []
    texts: list[str] = []
    usage: Noted | None = None

    def settle() -> None:
        if len(texts) > 1 and isinstance(result[-1], TextAppended):
            result[-1] = replace(result[-1], text="".join(texts))
        texts.clear()

    for change in changes:
        if isinstance(change, Noted) and isinstance(change.event, UsageReported):
            # Each chunk brings a snapshot of usage; keeping its place would cut every text row in two.
            usage = change
            continue
        if isinstance(change, TextAppended) and texts and isinstance(result[-1], TextAppended):
            texts.append(change.text)
            continue
        settle()
        if isinstance(change, Restarted) and usage:
            # It belongs to the attempt that ends here.
            result.append(usage)
            usage = None
        result.append(change)
        if isinstance(change, TextAppended):
            texts.append(change.text)
    settle()
    is_text = all(isinstance(change, TextAppended) for change in result)
    return [*result, usage] if usage and not (result and is_text) else result


def to_row(change: Change) -> Row:
    """One change as name and JSON data; bytes of attachments are not in it."""
    match change:
        case TextAppended(index, text):
            return "append", {"index": index, "text": text}
        case PartStarted(index, part, attachment):
            return "part", {"index": index, "part": part_to_json(part), "attachment": attachment}
        case AttachmentFound(attachment):
            return "attachment", {key: value for key, value in asdict(attachment).items() if key != "data"}
        case Noted(event):
            return NOTE_NAMES[type(event)], asdict(event)
        case Waited() | LeftOut() | Restarted():
            return WORD_NAMES[type(change)], asdict(change)


def from_row(name: str, data: dict[str, Any]) -> Change | None:
    """The change that a row was made from; None for rows that change no part, like `status`."""
    match name:
        case "append":
            return TextAppended(data["index"], data["text"])
        case "part":
            return PartStarted(data["index"], part_from_json(data["part"]), data["attachment"])
        case "attachment":
            return AttachmentFound(FoundAttachment(**data))
        case "usage":
            return Noted(UsageReported(Usage(**data["usage"])))
        case _ if name in NOTES:
            return Noted(NOTES[name](**data))
        case _ if name in WORDS:
            word: Change = WORDS[name](**data)
            return word
        case _:
            return None


def fold(rows: Iterable[Row]) -> Answer:
    """The answer that a log tells of."""
    answer = Answer()
    for name, data in rows:
        change = from_row(name, data)
        if change is not None:
            answer.apply(change)
    return answer


def part_to_json(part: Part) -> dict[str, Any]:
    """A part without its bytes; the signature in base64; what is empty is left out."""
    return dict(_part_items(part))


def _part_items(part: Part) -> Iterator[tuple[str, Any]]:
    yield "kind", part.kind.value
    if part.text is not None:
        yield "text", part.text
    for name in ("language", "outcome", "call_id", "mime_type"):
        if value := getattr(part, name):
            yield name, value
    if part.fields:
        yield "fields", dict(part.fields)
    if part.thought_signature is not None:
        yield "thought_signature", base64.b64encode(part.thought_signature).decode("ascii")


def part_from_json(data: dict[str, Any]) -> Part:
    """The inverse of `part_to_json`."""
    values = dict(data)
    signature = values.pop("thought_signature", None)
    return Part(
        kind=PartKind(values.pop("kind")),
        thought_signature=None if signature is None else base64.b64decode(signature),
        **values,
    )
