"""What pages and exports say about how a turn ended, and about what its answer leaves unsaid."""

from __future__ import annotations

from collections.abc import Sequence

from chat.messages.missing_cells import unmentioned_missing_cells
from chat.messages.notices import Notice, notice_of
from chat.models import Turn
from chat.vocabulary.parts import Part, ToolCall


def turn_notice(turn: Turn, parts: Sequence[Part]) -> Notice | None:
    """Return what the page says about how a turn ended. `parts`: of its answer."""
    if turn.is_own_code and turn.status == Turn.Status.DONE:
        # Code may print nothing. Its result says how it ended.
        return None
    notice = notice_of(
        status=turn.status,
        finish=turn.finish,
        finish_reason=turn.finish_reason,
        finish_message=turn.finish_message,
        error_code=turn.error_code,
        retry_after_s=turn.retry_after_s,
        # The notice then offers to run it again: there is nothing that a model could continue.
        is_empty=turn.is_own_code or not any(part.is_answer for part in parts),
        has_work=any(part.long_text or isinstance(part, ToolCall) for part in parts),
    )
    if notice or turn.status != Turn.Status.DONE:
        return notice
    sentence = unmentioned_missing_cells(parts)
    return Notice("info", sentence) if sentence else None
