"""The size of one answer, compared with its limits."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from chat.messages.answer import Answer
from chat.messages.changes import AttachmentAdded, Change, Reported
from chat.vocabulary.parts import CodeExecutionResult, FunctionCall, Part, ToolCall, ToolResponse
from chat.vocabulary.stream_events import PartReceived, StreamEvent, UsageReported


class AnswerSize:
    """Counts everything that is received for one answer."""

    def __init__(self, answer: Answer) -> None:
        """`answer`: empty, or what a turn had received before it waited for a decision."""
        self._answer = answer
        self._other_chars = sum(len(str(one.metadata)) for one in answer.rounds)
        """Length of all data and reports that are no text, code or output."""
        self._data_bytes = sum(attachment.size_bytes for attachment in answer.attachments)
        """Size of all files."""
        for part in answer.parts:
            self._add_part(part)

    @property
    def room_chars(self) -> int:
        """How much longer the answer may become."""
        limit: int = settings.ANSWER_LIMIT_CHARS
        return limit - self._answer.text_chars - self._other_chars

    @property
    def is_too_large(self) -> bool:
        """Whether the answer is larger than one message may be."""
        return (
            self.room_chars < 0
            or self._data_bytes > settings.ANSWER_DATA_LIMIT_BYTES
            or self._answer.part_count > settings.ANSWER_PARTS_LIMIT
        )

    def add(self, event: StreamEvent, changes: Iterable[Change]) -> None:
        """Count an event and the changes that it made, except token counts: `add_stored` counts those that are stored.

        The answer itself knows the length of its text, code and output.
        """
        if isinstance(event, PartReceived):
            self._add_part(event.part)
            if isinstance(event.part, CodeExecutionResult):
                # Images that the code printed.
                added = (change.attachment for change in changes if isinstance(change, AttachmentAdded))
                self._data_bytes += sum(attachment.size_bytes for attachment in added)
        elif not isinstance(event, UsageReported):
            self._other_chars += len(str(event))

    def add_stored(self, changes: Iterable[Change]) -> None:
        """Count the token counts among stored changes. Many servers send them with each chunk, and few are stored."""
        for change in changes:
            if isinstance(change, Reported) and isinstance(change.report, UsageReported):
                self._other_chars += len(str(change.report))

    def _add_part(self, part: Part) -> None:
        if part.provider_data:
            self._other_chars += len(str(part.provider_data))
        if isinstance(part, FunctionCall | ToolCall):
            self._other_chars += len(str(part.arguments))
        if isinstance(part, ToolResponse):
            self._other_chars += len(str(part.result))
        self._data_bytes += len(getattr(part, "data", None) or b"")
