"""The status line of a live answer on open pages."""

from __future__ import annotations

from django.utils.safestring import SafeString

from chat.messages.answer import Answer
from chat.models import Turn
from chat.page.fragments import partial, status_html
from chat.page.transcript.views import answer_view


class StatusLine:
    """The content of the status line besides the turn's status."""

    def __init__(self, turn: Turn, answer: Answer) -> None:
        """`answer`: the part of the answer that pages show."""
        self._turn = turn
        self._retry_notice = answer.retry_notice
        self._left_out = answer.messages_left_out
        self._move_reason = answer.move_reason

    def show(
        self, retry_notice: str | None = None, left_out: int | None = None, move_reason: str | None = None
    ) -> list[SafeString]:
        """Return the swap of the line if its content changes, else an empty list."""
        before = self._retry_notice, self._left_out, self._move_reason
        self._retry_notice = self._retry_notice if retry_notice is None else retry_notice
        self._left_out = self._left_out if left_out is None else left_out
        self._move_reason = self._move_reason if move_reason is None else move_reason
        if before == (self._retry_notice, self._left_out, self._move_reason):
            return []
        answer = Answer(
            retry_notice=self._retry_notice, messages_left_out=self._left_out, move_reason=self._move_reason
        )
        view = answer_view(self._turn.message, self._turn, answer)
        return [partial(f"message-{self._turn.message_id}-status", "outerMorph", status_html(view))]
