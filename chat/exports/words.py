"""What exports say in words around what was said: who, how code ended, how an answer ended. Pure."""

from __future__ import annotations

from chat.exports.reading import Told
from chat.fragments import OUTCOMES
from chat.parts import Part, PartKind, Role
from chat.turns.transcript import turn_notice


def heading_of(told: Told) -> str:
    """Who said it."""
    if told.message.role == Role.USER:
        return "You"
    model = (told.turn.parameters.get("label") or told.turn.model) if told.turn else ""
    return f"Answer ({model})" if model else "Answer"


def live_words() -> str:
    """Of a conversation whose last answer is not whole yet."""
    return "The last answer was still being written when this was exported: what had come until then is in it."


def notice_words(told: Told) -> str:
    """How an answer ended; empty where there is nothing to say."""
    if told.turn is None:
        return ""
    if told.is_live:
        return "This answer was still being written when this was exported."
    notice = turn_notice(told.turn, told.parts)
    return notice.sentence if notice else ""


def outcome_words(part: Part) -> str:
    """How a run of code ended."""
    match OUTCOMES.get(part.outcome, "error"):
        case "error":
            return "The code failed"
        case "timeout":
            return "The code ran out of time"
        case _:
            return "The code ran"


def function_words(part: Part) -> str:
    """What a function part says in one line."""
    name = str(part.fields.get("name", ""))
    return f"Asked for a function: {name}" if part.kind is PartKind.FUNCTION_CALL else f"Answer of a function: {name}"
