"""Conversations that have gone on for long: `python -m bench.histories '{"CONVERSATION ID": MESSAGES, ...}'`.

Questions and finished answers, as turns leave them; a thousand turns through the front door would take minutes.
"""

from __future__ import annotations

import json
import os
import sys
import uuid

import django
from django.apps import apps
from django.db import transaction
from django.utils import timezone

ANSWER = "An answer of **some** length, in a paragraph of its own, with `code` in it and no end in sight. " * 2


def fill(conversation_id: str, messages: int) -> None:
    """Give an empty conversation so many messages, an even number."""
    message, part, turn = (apps.get_model("chat", name) for name in ("Message", "Part", "Turn"))
    said, parts, turns = [], [], []
    parent_id, now = None, timezone.now()
    for index in range(messages):
        is_answer = index % 2 == 1
        row = message(
            id=uuid.uuid4(),
            conversation_id=conversation_id,
            parent_id=parent_id,
            index=index,
            role="model" if is_answer else "user",
            text=ANSWER if is_answer else "And what comes after that?",
        )
        if is_answer:
            parts.append(part(message=row, index=0, kind="text", text=ANSWER))
            turns.append(
                turn(
                    conversation_id=conversation_id,
                    user_message_id=parent_id,
                    message=row,
                    status="done",
                    provider="gemini",
                    model="bench",
                    usage={"prompt": 3, "candidates": 4, "total": 7},
                    finish_reason="STOP",
                    started_at=now,
                    first_part_at=now,
                    ended_at=now,
                )
            )
        said.append(row)
        parent_id = row.id
    with transaction.atomic():
        for model, rows in ((message, said), (part, parts), (turn, turns)):
            model.objects.bulk_create(rows, batch_size=500)


def main(wanted: dict[str, int]) -> None:
    """Fill each of these conversations."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for conversation_id, messages in wanted.items():
        fill(conversation_id, messages)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
