"""Leaves refused exchanges out of prompts. Pure.

A provider that has refused a question refuses each later prompt that repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence

from chat.messages.notices import is_refusal
from chat.messages.records import MessageRecord
from chat.models import Turn


def without_refused(records: Sequence[MessageRecord]) -> list[MessageRecord]:
    """Return the messages without refused questions and the empty answers to them."""
    kept: list[MessageRecord] = []
    for record in records:
        if not is_refused(record):
            kept.append(record)
        elif kept and kept[-1].turn is None:
            kept.pop()
    return kept


def is_refused(record: MessageRecord) -> bool:
    """Return whether the provider refused to answer and sent no part of an answer."""
    turn = record.turn
    is_empty = not any(part.is_answer for part in record.parts)
    return turn is not None and turn.status == Turn.Status.DONE and is_empty and is_refusal(turn.finish)
