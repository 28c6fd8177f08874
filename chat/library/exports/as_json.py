"""The format `json`: everything that an import needs to restore the conversation, see `docs/export-format.md`.

The document has all versions of all messages, and each attachment once: with its bytes or, in an archive, with the path
of its file. It leaves out internal state (leases, logs, ids of clients, digests of provider accounts) and what only
staff may read (error details of a provider, the instruction of a preset).
"""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import cast

from attachments.models import Attachment
from chat.library.exports.download import Download
from chat.library.exports.encoding import encode_base64, encode_json
from chat.library.exports.export_format import ExportFormat
from chat.library.exports.file_names import file_stem
from chat.library.exports.source import ExportSource, FindPath, attachments_by_id, load_bytes
from chat.messages.markers_in_text import markers_json
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import CallDecision, Conversation, Feedback, Project, Round, Turn
from chat.vocabulary.part_json import part_to_json
from chat.vocabulary.parts import JSON, JSONObject, Part

DOCUMENT_FORMAT = "plotline-conversation"
DOCUMENT_VERSION = 1

STAFF_PARAMETERS = ("instruction",)
"""Parameters of a turn that only staff may read."""


def export(source: ExportSource) -> Download:
    """Export one file with the bytes of all attachments."""
    return Download(f"{file_stem(source.conversation.title)}.json", "application/json", chunks(source))


FORMAT = ExportFormat("json", "JSON", "Everything, to import again", ("application/json",), export)


def chunks(source: ExportSource, find_path: FindPath | None = None) -> Generator[bytes]:
    """Yield the document. `find_path`: see FindPath; `None`: the document contains the bytes of attachments."""
    yield b"{\n"
    yield b'"format": ' + encode_json(DOCUMENT_FORMAT) + b",\n"
    yield b'"version": ' + encode_json(DOCUMENT_VERSION) + b",\n"
    yield b'"exported_at": ' + encode_json(_time(source.exported_at)) + b",\n"
    yield b'"is_live": ' + encode_json(source.is_live()) + b",\n"
    yield b'"conversation": ' + encode_json(conversation_json(source.conversation)) + b",\n"
    yield b'"messages": ['
    attachment_ids: dict[uuid.UUID, None] = {}
    for number, record in enumerate(source.messages(shown_only=False)):
        yield b",\n" if number else b"\n"
        yield encode_json(message_json(record))
        attachment_ids.update({placed.attachment.pk: None for placed in (*record.attachments, *record.cleared)})
    yield b"\n],\n"
    yield b'"attachments": ['
    for number, attachment in enumerate(attachments_by_id(list(attachment_ids))):
        yield b",\n" if number else b"\n"
        yield from _attachment_chunks(attachment, find_path)
    yield b"\n]\n}\n"


def conversation_json(conversation: Conversation) -> JSONObject:
    """Return the settings of a conversation as JSON."""
    # Query the project, because it may have been deleted since the conversation was read.
    project = Project.objects.filter(conversations=conversation.pk).first()
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "title_source": conversation.title_source,
        "model": conversation.model,
        "code_execution": conversation.code_execution,
        "engine": conversation.engine,
        "approval": conversation.approval,
        "release": conversation.release,
        "web_search": conversation.web_search,
        "private_data": bool(conversation.private_data) or bool(project and project.private_data),
        "system_instruction": conversation.system_instruction,
        "project": project.name if project else None,
        "side_tokens": conversation.side_tokens,
        "side_cost": _amount(conversation.side_cost),
        "created_at": _time(conversation.created_at),
        "updated_at": _time(conversation.updated_at),
    }


def message_json(record: MessageRecord) -> JSONObject:
    """Return a message with its parts, and with the turn and the feedback of an answer."""
    message = record.message
    json: JSONObject = {
        "id": str(message.pk),
        "parent": None if message.parent_id is None else str(message.parent_id),
        "index": message.index,
        "role": message.role,
        "is_shown": message.is_shown,
        "last_shown": message.last_shown,
        "created_at": _time(message.created_at),
        "text": message.text,
        "markers": [*markers_json(record.marker_spans())],
        "parts": [
            part_json(index, part, record.part_attachments.get(index)) for index, part in enumerate(record.parts)
        ],
        "attachments": [_placed_json(placed) for placed in (*record.attachments, *record.cleared)],
    }
    if record.turn is not None:
        json["turn"] = turn_json(record.turn, record.rounds, record.decisions)
    if record.numbers is not None:
        json["numbers"] = cast("JSON", record.numbers)
    if record.feedback is not None:
        json["feedback"] = _feedback_json(record.feedback)
    return json


def part_json(index: int, part: Part, attachment_index: int | None) -> JSONObject:
    """Return a part as the API and the exports show it."""
    json: JSONObject = {"index": index, **part_to_json(part)}
    if attachment_index is not None:
        json["attachment_index"] = attachment_index
    return json


def turn_json(turn: Turn, rounds: Sequence[Round], decisions: Sequence[CallDecision]) -> JSONObject:
    """Return how an answer was made, and how it ended."""
    parameters = {name: value for name, value in turn.parameters.items() if name not in STAFF_PARAMETERS}
    return {
        "id": str(turn.pk),
        "user_message": str(turn.user_message_id),
        "status": turn.status,
        "provider": turn.provider,
        "endpoint": turn.endpoint,
        "model": turn.model,
        "model_version": turn.model_version,
        "model_note": turn.model_note,
        "response_id": turn.response_id,
        "code_mode": turn.code_mode,
        "code_execution": turn.code_execution,
        "code_reason": turn.code_reason,
        "engine": turn.engine,
        "private_data": turn.private_data,
        "move_reason": turn.move_reason,
        "moved_before_round": turn.moved_before_round,
        "chosen": turn.chosen,
        "parameters": parameters,
        "left_out": turn.left_out,
        "usage": turn.usage,
        "cost": _amount(turn.cost),
        "finish": turn.finish,
        "finish_reason": turn.finish_reason,
        "finish_message": turn.finish_message,
        "error_code": turn.error_code,
        "retry_after_s": turn.retry_after_s,
        "sources": turn.sources,
        "queries": turn.queries,
        "rounds": [_round_json(one) for one in rounds],
        "decisions": [_decision_json(one) for one in decisions],
        "created_at": _time(turn.created_at),
        "started_at": _time(turn.started_at),
        "first_part_at": _time(turn.first_part_at),
        "ended_at": _time(turn.ended_at),
    }


def _round_json(one: Round) -> JSONObject:
    return {
        "usage": one.usage,
        "provider_usage": one.provider_usage,
        "finish": one.finish,
        "finish_reason": one.finish_reason,
        "finish_message": one.finish_message,
        "response_id": one.response_id,
        "model_version": one.model_version,
        "metadata": one.metadata,
        "started_calls": one.started_calls,
        "state": one.state,
    }


def _decision_json(one: CallDecision) -> JSONObject:
    return {
        "call_id": one.call_id,
        "is_result": one.is_result,
        "is_approved": one.is_approved,
        "code": one.code,
        "decided_by": one.decided_by.username if one.decided_by else None,
        "is_timeout": one.is_timeout,
        "decided_at": _time(one.decided_at),
    }


def _feedback_json(feedback: Feedback) -> JSONObject:
    return {
        "is_good": feedback.is_good,
        "reason": feedback.reason,
        "created_at": _time(feedback.created_at),
        "updated_at": _time(feedback.updated_at),
    }


def _placed_json(placed: PlacedAttachment) -> JSONObject:
    return {"id": str(placed.attachment.pk), "index": placed.index, "part_index": placed.part_index}


def _attachment_json(attachment: Attachment) -> JSONObject:
    return {
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


def _attachment_chunks(attachment: Attachment, find_path: FindPath | None) -> Iterator[bytes]:
    """Yield an attachment as JSON, with its bytes in base64 or with the path of its file."""
    yield encode_json(_attachment_json(attachment)).removesuffix(b"}")
    if find_path is not None:
        yield b', "file": ' + encode_json(find_path(attachment)) + b"}"
        return
    data = load_bytes(attachment)
    if data is None:
        yield b', "data": null}'
        return
    yield b', "data": "'
    yield from encode_base64(data)
    yield b'"}'


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _amount(dollars: Decimal | None) -> str | None:
    """Return an amount with all its digits, and without an exponent."""
    return None if dollars is None else f"{dollars:f}"
