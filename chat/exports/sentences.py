"""Headings and sentences that exports add to messages. Pure."""

from __future__ import annotations

from chat.fragments import OUTCOMES
from chat.parts import CodeExecutionResult, FunctionCall, FunctionResponse, Role
from chat.transcript.records import MessageRecord
from chat.transcript.views import turn_notice

LIVE_SENTENCE = (
    "The last answer was still being written when this was exported. It contains the text received until then."
)
"""Stands at the top of a conversation whose last answer is unfinished."""


def message_heading(record: MessageRecord) -> str:
    """Return who wrote a message."""
    if record.message.role == Role.USER:
        return "You"
    model = (record.turn.parameters.get("label") or record.turn.model) if record.turn else ""
    return f"Answer ({model})" if model else "Answer"


def notice_sentence(record: MessageRecord) -> str:
    """Return how an answer ended. Empty if there is nothing to say."""
    if record.turn is None:
        return ""
    if record.is_live:
        return "This answer was still being written when this was exported."
    notice = turn_notice(record.turn, record.parts)
    return notice.sentence if notice else ""


def outcome_sentence(result: CodeExecutionResult) -> str:
    """Return how executed code ended."""
    match OUTCOMES.get(result.outcome, "error"):
        case "error":
            return "The code failed"
        case "timeout":
            return "The code ran out of time"
        case _:
            return "The code ran"


def function_sentence(part: FunctionCall | FunctionResponse) -> str:
    """Return that a function was called, or how the call ended."""
    if isinstance(part, FunctionCall):
        return f"Function called: {part.name}"
    return f"Function failed: {part.name}" if part.is_error else f"Function returned: {part.name}"
