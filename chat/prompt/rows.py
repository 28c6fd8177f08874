"""Reads the rows from which prompts are built, for many turns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chat.models import Instruction, Turn
from chat.transcript.records import MessageRecord, attachments_by_message, records_of_conversations


@dataclass(frozen=True, slots=True)
class PromptRows:
    """The rows from which the prompt of one turn is built."""

    records: list[MessageRecord]
    """The shown messages before the turn's answer, in order."""
    instruction: Instruction | None
    """The operator's texts for all models."""


def read_rows(turns: Sequence[Turn]) -> list[PromptRows]:
    """Read the rows of some turns, in their order, with two queries, or five if a turn has earlier messages.

    `turns`: with both messages loaded.
    """
    instruction = Instruction.objects.filter(pk=1).first()
    with_history = {turn.conversation_id for turn in turns if turn.user_message.index}
    new = [pk for turn in turns for pk in (turn.user_message_id, turn.message_id)]
    earlier = records_of_conversations(with_history, without=new) if with_history else {}
    files = attachments_by_message({"message__in": [turn.user_message_id for turn in turns]})
    return [
        PromptRows(
            [
                *(
                    record
                    for record in earlier.get(turn.conversation_id, [])
                    if record.message.index < turn.user_message.index
                ),
                MessageRecord(turn.user_message, attachments=files[turn.user_message_id]),
            ],
            instruction,
        )
        for turn in turns
    ]
