"""How an answer was made: model, code, tokens, cost and time. Pure."""

from __future__ import annotations

from decimal import Decimal

from chat.fragments import AnswerDetails
from chat.models import Turn

USAGE_WORDS = {
    "prompt": "read",
    "tool_use": "read by its tools",
    "cached": "of these from cache",
    "thoughts": "thought",
    "candidates": "written",
}


def answer_details(turn: Turn) -> AnswerDetails:
    """Return how the answer of a turn was made, with its usage once the turn has ended."""
    usage = {} if turn.is_live else turn.usage
    # A clock may be set back while a turn runs.
    duration = max(0.0, (turn.ended_at - turn.created_at).total_seconds()) if turn.ended_at else None
    return AnswerDetails(
        model=turn.parameters.get("label") or turn.model,
        code_execution=turn.code_execution,
        code_reason=turn.code_reason,
        usage=tuple((words, usage[name]) for name, words in USAGE_WORDS.items() if usage.get(name)),
        total=usage.get("total"),
        cost=dollars(turn.cost),
        duration_s=None if duration is None else round(duration, 1),
        rounds=turn.round_count,
    )


def dollars(cost: Decimal | None) -> str:
    """Return an amount with its significant digits, such as `$0.0021` or `$1.20`; empty if it is not known."""
    if cost is None:
        return ""
    if cost and cost < Decimal("0.0001"):
        return "<$0.0001"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"
