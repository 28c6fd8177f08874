"""Notices of pages and exports: how a turn ended, or that the answer does not mention missing table cells."""

from __future__ import annotations

from collections.abc import Sequence

from chat.messages.missing_cells import unmentioned_missing_cells
from chat.messages.notices import Notice, notice_of
from chat.models import Turn
from chat.vocabulary.parts import Part, ToolCall


def turn_notice(turn: Turn, parts: Sequence[Part]) -> Notice | None:
    """Return the notice below an answer, or `None`. `parts`: those of the answer."""
    if turn.is_own_code and turn.status == Turn.Status.DONE:
        # A person's own code may print nothing. Its result shows how it ended.
        return None
    notice = notice_of(
        status=turn.status,
        finish=turn.finish,
        finish_reason=turn.finish_reason,
        finish_message=turn.finish_message,
        error_code=turn.error_code,
        retry_after_s=turn.retry_after_s,
        # For a person's own code, the notice offers to run it again, because no model can continue it.
        is_empty=turn.is_own_code or not any(part.is_answer for part in parts),
        has_work=any(part.long_text or isinstance(part, ToolCall) for part in parts),
    )
    if notice or turn.status != Turn.Status.DONE:
        return notice
    sentence = unmentioned_missing_cells(parts)
    return Notice("info", sentence) if sentence else None
