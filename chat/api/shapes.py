"""Rows as the JSON of the API. Pure but for `url`s; what `outgoing` describes."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any

from django.urls import reverse

from attachments.models import Attachment
from chat.exports.as_json import part_json
from chat.exports.reading import Told
from chat.models import Conversation, Feedback, Turn
from chat.models.found import Found
from chat.notices import notice_of
from chat.parts import Usage

TOKENS = tuple(field.name for field in fields(Usage))
"""Names of the counts of a usage."""

JSONObject = dict[str, Any]


def conversation_json(conversation: Conversation) -> JSONObject:
    """A conversation with its settings."""
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "model": conversation.model,
        "code_execution": conversation.code_execution,
        "system_instruction": conversation.system_instruction,
        "archived": conversation.archived_at is not None,
        "pinned": conversation.pinned_at is not None,
        "created_at": time(conversation.created_at),
        "updated_at": time(conversation.updated_at),
    }


def match_json(found: Found) -> JSONObject:
    """Where the words stand that were searched for."""
    return {
        "message_id": None if found.message_id is None else str(found.message_id),
        "excerpt": "".join(piece.text for piece in found.excerpt),
    }


def message_json(told: Told) -> JSONObject:
    """A message with its parts and attachments."""
    message, turn = told.message, told.turn
    return {
        "id": str(message.pk),
        "index": message.index,
        "role": message.role,
        "text": message.text,
        "parts": [part_json(index, part, told.part_attachments.get(index)) for index, part in enumerate(told.parts)],
        "attachments": [attachment_json(placed.attachment, placed.index) for placed in told.attachments],
        "status": Turn.Status.DONE.value if turn is None else turn.status,
        "usage": None if turn is None else usage_json(turn),
        "turn_id": None if turn is None else str(turn.pk),
        "feedback": feedback_json(told.feedback),
        "created_at": time(message.created_at),
    }


def feedback_json(feedback: Feedback | None) -> JSONObject | None:
    """What is thought of an answer; None: it was not rated."""
    return None if feedback is None else {"is_good": feedback.is_good, "reason": feedback.reason}


def attachment_json(attachment: Attachment, index: int | None = None) -> JSONObject:
    """A file; `index` is the n of its marker, in a message."""
    return {**attachment.as_json(index), "url": reverse("api-attachment-content", args=[attachment.pk])}


def started_json(turn: Turn) -> JSONObject:
    """A turn that was just begun."""
    return {"id": str(turn.pk), "status": turn.status, "events_url": reverse("api-turn-events", args=[turn.pk])}


def turn_json(turn: Turn) -> JSONObject:
    """A turn as it is now."""
    error = error_json(turn)
    return {
        **started_json(turn),
        "conversation_id": str(turn.conversation_id),
        "user_message_id": str(turn.user_message_id),
        "message_id": str(turn.message_id),
        "model": turn.model,
        "code_execution": turn.code_execution,
        "code_reason": turn.code_reason,
        "usage": usage_json(turn),
        "cost": None if turn.cost is None else f"{turn.cost:f}",
        "finish_reason": turn.finish_reason,
        "error": error,
        "created_at": time(turn.created_at),
        "first_part_at": time(turn.first_part_at),
        "ended_at": time(turn.ended_at),
    }


def usage_json(turn: Turn) -> JSONObject | None:
    """Tokens; None while nothing is known."""
    return {name: turn.usage.get(name) for name in TOKENS} if turn.usage else None


def error_json(turn: Turn) -> JSONObject | None:
    """Why an answer was not brought to its end; what a provider said of it is staff's."""
    if turn.status not in (Turn.Status.FAILED, Turn.Status.INTERRUPTED):
        return None
    notice = notice_of(status=turn.status, error_code=turn.error_code, retry_after_s=turn.retry_after_s)
    return {"code": turn.error_code or turn.status, "detail": notice.sentence if notice else ""}


def time(moment: datetime | None) -> str | None:
    """ISO 8601."""
    return None if moment is None else moment.isoformat()
