"""`json`: everything, in the form that `docs/export-format.md` describes; what an import reads back.

All versions of all messages are in it, and each attachment once: with its bytes, or in an archive with its path there.
What is the machinery's own (leases, logs, ids of clients) or staff's (what a provider said of an error, what a preset
tells the model) is not.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from attachments.models import Attachment
from chat.exports.download import Download, base64_slices, json_bytes, kept_bytes
from chat.exports.names import stem
from chat.exports.reading import Placed, Source, Told, attachments_of
from chat.models import Conversation, Feedback, Turn
from chat.parts import Part, PartKind

FORMAT = "plotline-conversation"
VERSION = 1
#: Where the words of a part stand, as everywhere in our JSON.
TEXT_NAMES = {PartKind.EXECUTABLE_CODE: "code", PartKind.CODE_EXECUTION_RESULT: "output"}
#: Of a turn's parameters, what is not the person's to read.
STAFF_PARAMETERS = ("instruction",)


def export(source: Source) -> Download:
    """One file that holds all."""
    return Download(f"{stem(source.conversation.title)}.json", "application/json", chunks(source))


def chunks(source: Source, path_of: Callable[[Attachment], str | None] | None = None) -> Iterator[bytes]:
    """The document; `path_of` says where the bytes of an attachment lie, if not in here; None: they cannot be had."""
    yield b"{\n"
    yield b'"format": ' + json_bytes(FORMAT) + b",\n"
    yield b'"version": ' + json_bytes(VERSION) + b",\n"
    yield b'"exported_at": ' + json_bytes(_time(source.exported_at)) + b",\n"
    yield b'"is_live": ' + json_bytes(source.is_live()) + b",\n"
    yield b'"conversation": ' + json_bytes(conversation_json(source.conversation)) + b",\n"
    yield b'"messages": ['
    used: dict[uuid.UUID, None] = {}
    for number, told in enumerate(source.messages(shown_only=False)):
        yield b",\n" if number else b"\n"
        yield json_bytes(message_json(told))
        used.update({placed.attachment.pk: None for placed in told.attachments})
    yield b"\n],\n"
    yield b'"attachments": ['
    for number, attachment in enumerate(attachments_of(list(used))):
        yield b",\n" if number else b"\n"
        yield from _attachment(attachment, path_of)
    yield b"\n]\n}\n"


def conversation_json(conversation: Conversation) -> dict[str, Any]:
    """Its settings."""
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "title_source": conversation.title_source,
        "model": conversation.model,
        "code_execution": conversation.code_execution,
        "system_instruction": conversation.system_instruction,
        "side_tokens": conversation.side_tokens,
        "side_cost": _amount(conversation.side_cost),
        "created_at": _time(conversation.created_at),
        "updated_at": _time(conversation.updated_at),
    }


def message_json(told: Told) -> dict[str, Any]:
    """One message, its parts and its turn."""
    message = told.message
    said: dict[str, Any] = {
        "id": str(message.pk),
        "parent": None if message.parent_id is None else str(message.parent_id),
        "index": message.index,
        "role": message.role,
        "is_shown": message.is_shown,
        "last_shown": message.last_shown,
        "created_at": _time(message.created_at),
        "text": message.text,
        "parts": [part_json(index, part, told.part_attachments.get(index)) for index, part in enumerate(told.parts)],
        "attachments": [_placed_json(placed) for placed in told.attachments],
    }
    if told.turn is not None:
        said["turn"] = turn_json(told.turn)
    if told.feedback is not None:
        said["feedback"] = _feedback_json(told.feedback)
    return said


def part_json(index: int, part: Part, attachment_index: int | None) -> dict[str, Any]:
    """A part as our JSON says it everywhere; what it does not have is left out, and an empty text is a text."""
    said: dict[str, Any] = {"index": index, "kind": part.kind.value}
    if part.text is not None:
        said[TEXT_NAMES.get(part.kind, "text")] = part.text
    others = {
        "language": part.language,
        "outcome": part.outcome,
        "id": part.call_id,
        "mime_type": part.mime_type,
        "fields": dict(part.fields),
    }
    said |= {name: value for name, value in others.items() if value}
    if attachment_index is not None:
        said["attachment_index"] = attachment_index
    if part.thought_signature is not None:
        said["thought_signature"] = base64.b64encode(part.thought_signature).decode("ascii")
    return said


def turn_json(turn: Turn) -> dict[str, Any]:
    """How an answer was made, and how it ended."""
    parameters = {name: value for name, value in turn.parameters.items() if name not in STAFF_PARAMETERS}
    return {
        "id": str(turn.pk),
        "user_message": str(turn.user_message_id),
        "status": turn.status,
        "provider": turn.provider,
        "model": turn.model,
        "model_version": turn.model_version,
        "response_id": turn.response_id,
        "code_mode": turn.code_mode,
        "code_execution": turn.code_execution,
        "code_reason": turn.code_reason,
        "chosen": turn.chosen,
        "parameters": parameters,
        "left_out": turn.left_out,
        "usage": turn.usage,
        "cost": _amount(turn.cost),
        "finish_reason": turn.finish_reason,
        "finish_message": turn.finish_message,
        "error_code": turn.error_code,
        "retry_after_s": turn.retry_after_s,
        "metadata": turn.metadata,
        "created_at": _time(turn.created_at),
        "started_at": _time(turn.started_at),
        "first_part_at": _time(turn.first_part_at),
        "ended_at": _time(turn.ended_at),
    }


def _feedback_json(feedback: Feedback) -> dict[str, Any]:
    return {
        "is_good": feedback.is_good,
        "reason": feedback.reason,
        "created_at": _time(feedback.created_at),
        "updated_at": _time(feedback.updated_at),
    }


def _placed_json(placed: Placed) -> dict[str, Any]:
    return {"id": str(placed.attachment.pk), "index": placed.index, "part_index": placed.part_index}


def _attachment(attachment: Attachment, path_of: Callable[[Attachment], str | None] | None) -> Iterator[bytes]:
    said = json_bytes(
        {
            "id": str(attachment.pk),
            "name": attachment.name,
            "mime_type": attachment.mime_type,
            "is_graph": attachment.is_graph,
            "size_bytes": attachment.size_bytes,
            "sha256": attachment.sha256,
            "width": attachment.width,
            "height": attachment.height,
            "created_at": _time(attachment.created_at),
        }
    )
    yield said[:-1]
    if path_of is not None:
        yield b', "file": ' + json_bytes(path_of(attachment)) + b"}"
        return
    data = kept_bytes(attachment)
    if data is None:
        yield b', "data": null}'
        return
    yield b', "data": "'
    yield from base64_slices(data)
    yield b'"}'


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _amount(dollars: Decimal | None) -> str | None:
    """With all its digits, and never as 0E-8."""
    return None if dollars is None else f"{dollars:f}"
