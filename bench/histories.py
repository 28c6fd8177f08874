"""Fills conversations with history: `python -m bench.with_django bench.histories '{"CONVERSATION ID": MESSAGES, ...}'`.

The rows are those that finished turns leave. Creating them through the server would take minutes.
"""

from __future__ import annotations

import json
import uuid

from django.db import transaction
from django.utils import timezone

from chat.models import Message, Part, Turn
from chat.vocabulary.parts import PartKind, Role

# The length of these texts is part of the measurement.
QUESTION = "And what comes after that?"
ANSWER = "An answer of **some** length, in a paragraph of its own, with `code` in it and no end in sight. " * 2


def main(messages_by_conversation: str) -> None:
    """Fill each conversation of the JSON object with its number of messages."""
    for conversation_id, messages in json.loads(messages_by_conversation).items():
        fill_conversation(uuid.UUID(conversation_id), messages)


def fill_conversation(conversation_id: uuid.UUID, message_count: int) -> None:
    """Add questions and finished answers to an empty conversation. The number of messages is even."""
    messages: list[Message] = []
    parts, turns = [], []
    previous: Message | None = None
    for index in range(0, message_count, 2):
        question = Message(conversation_id=conversation_id, parent=previous, index=index, role=Role.USER, text=QUESTION)
        answer = Message(
            conversation_id=conversation_id, parent=question, index=index + 1, role=Role.MODEL, text=ANSWER
        )
        messages += [question, answer]
        parts.append(Part(message=answer, index=0, kind=PartKind.TEXT, text=ANSWER))
        turns.append(_make_turn(question, answer))
        previous = answer
    with transaction.atomic():
        Message.objects.bulk_create(messages, batch_size=500)
        Part.objects.bulk_create(parts, batch_size=500)
        Turn.objects.bulk_create(turns, batch_size=500)


def _make_turn(question: Message, answer: Message) -> Turn:
    now = timezone.now()
    return Turn(
        conversation_id=answer.conversation_id,
        user_message=question,
        message=answer,
        status=Turn.Status.DONE,
        provider="gemini",
        model="bench",
        usage={"prompt": 3, "candidates": 4, "total": 7},
        finish_reason="STOP",
        started_at=now,
        first_part_at=now,
        ended_at=now,
    )
