"""Continues an answer that is longer than one generation, with the token that its service sent for the rest.

The service expects the request of that answer again, with the token. So the request ends where the first one ended:
without the last response of that answer, and without the message that asks to continue.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from chat.answering.prompt.rows import PromptRows
from chat.messages.records import MessageRecord
from chat.models import Round, Turn
from chat.vocabulary.stream_events import CONTINUATION_TOKEN, Finish


@dataclass(frozen=True, slots=True)
class RequestSource:
    """The turn, messages and state from which a request is made."""

    turn: Turn
    """The turn that sent the request first."""
    rows: PromptRows
    """The rows of the request, with the messages up to the question of that turn."""
    rounds: MessageRecord | None
    """The earlier rounds of the turn's answer; `None` if the request is the first of its turn."""
    state: str
    """The text in the request about what the tools hold."""
    token: str = ""
    """The token with which the request is sent again; empty if it is sent for the first time."""


def find_continuation(turn: Turn, rows: PromptRows) -> RequestSource | None:
    """Return the request that a turn sends again with a token; `None` if the turn sends a request of its own.

    There is no token for another model, or if the data became private. `rows`: the rows of the turn.
    """
    earlier = rows.records[:-1]
    answer = earlier[-1] if earlier else None
    if answer is None or answer.turn is None or not turn.chosen.get("continues"):
        return None
    if answer.turn.finish != Finish.CONTINUATION or not is_same_model(answer.turn, turn):
        return None
    if turn.private_data and not answer.turn.private_data:
        # The first request contained data that are private now.
        return None
    last = Round.objects.filter(turn=answer.turn).order_by("index").last()
    token = last.metadata.get(CONTINUATION_TOKEN) if last else None
    if last is None or not isinstance(token, str):
        return None
    asked = replace(rows, records=earlier[:-1])
    if last.index == 0 and (before := find_continuation(answer.turn, asked)):
        # The answer that is continued was itself requested with a token.
        return replace(before, token=token)
    rounds = _first_rounds(answer, last.index) if last.index else None
    return RequestSource(answer.turn, asked, rounds, last.state, token)


def _first_rounds(answer: MessageRecord, number: int) -> MessageRecord:
    """Return an answer with only its first rounds."""
    parts = [part for part in answer.parts if part.round < number]
    return replace(
        answer,
        parts=parts,
        part_attachments={index: one for index, one in answer.part_attachments.items() if index < len(parts)},
        attachments=[one for one in answer.attachments if one.part_index is not None and one.part_index < len(parts)],
    )


def is_same_model(earlier: Turn, turn: Turn) -> bool:
    """Return whether the model of a turn can read the signatures of an earlier turn's model."""
    names = [(one.provider, one.endpoint, one.account, one.model) for one in (earlier, turn)]
    protocols = [one.parameters.get("protocol", "") for one in (earlier, turn)]
    return names[0] == names[1] and protocols[0] == protocols[1]
