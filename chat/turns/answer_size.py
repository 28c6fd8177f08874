"""The size of one answer, compared with its limits."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from chat.answers.answer import Answer
from chat.answers.changes import Change, Reported
from chat.parts import FunctionCall, Part, ToolCall, ToolResponse
from chat.stream_events import PartReceived, StreamEvent, UsageReported


class AnswerSize:
    """Counts everything that is received for one answer."""

    def __init__(self, answer: Answer) -> None:
        """`answer`: empty, or what a turn had received before it waited for a decision."""
        self._answer = answer
        self._chars = sum(len(str(one.metadata)) for one in answer.rounds)
        """Length of all texts, data and reports."""
        self._data_bytes = sum(attachment.size_bytes for attachment in answer.attachments)
        """Size of all files."""
        for part in answer.parts:
            self._add_part(part)

    @property
    def is_too_large(self) -> bool:
        """Whether the answer is larger than one message may be."""
        return (
            self._chars > settings.ANSWER_LIMIT_CHARS
            or self._data_bytes > settings.ANSWER_DATA_LIMIT_BYTES
            or self._answer.part_count > settings.ANSWER_PARTS_LIMIT
        )

    def add(self, event: StreamEvent) -> None:
        """Count an event, except token counts: `add_stored` counts those that are stored."""
        if isinstance(event, PartReceived):
            self._add_part(event.part)
        elif not isinstance(event, UsageReported):
            self._chars += len(str(event))

    def add_stored(self, changes: Iterable[Change]) -> None:
        """Count the token counts among stored changes. Many servers send them with each chunk, and few are stored."""
        for change in changes:
            if isinstance(change, Reported) and isinstance(change.report, UsageReported):
                self._chars += len(str(change.report))

    def _add_part(self, part: Part) -> None:
        self._chars += len(part.long_text)
        if part.provider_data:
            self._chars += len(str(part.provider_data))
        if isinstance(part, FunctionCall | ToolCall):
            self._chars += len(str(part.arguments))
        if isinstance(part, ToolResponse):
            self._chars += len(str(part.result))
        self._data_bytes += len(getattr(part, "data", None) or b"")
