"""Filters earlier messages for the requests of private conversations. Pure.

The answer of a turn that was not private may quote data that its model got. So it is replaced by a sentence if there
were data: files, results of tools, or state of tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attachments.models import Attachment
from chat.messages.records import MessageRecord
from chat.vocabulary.parts import CodeExecutionResult, Display, FileData, FunctionResponse, InlineData, Part, Text

LEFT_OUT = "[Note of the server: your answer is left out here. It may quote data that are private now.]"
_DATA = (CodeExecutionResult, Display, FileData, FunctionResponse, InlineData)
"""Parts that hold data of tools."""


def without_data(records: Sequence[MessageRecord], project_files: Sequence[Attachment]) -> list[MessageRecord]:
    """Return the messages of a private conversation. A sentence replaces each answer that may quote data."""
    has_data = bool(project_files)
    private = []
    for record in records:
        has_data = has_data or _holds_data(record)
        is_left_out = has_data and record.turn is not None and not _is_private(record)
        private.append(_left_out(record) if is_left_out else record)
    return private


def _holds_data(record: MessageRecord) -> bool:
    """Return whether a message has files or results, or a turn with code, whose model may know state of the tools."""
    has_results = bool(record.attachments) or any(isinstance(part, _DATA) for part in record.parts)
    return has_results or bool(record.turn and record.turn.engine)


def is_left_out(record: MessageRecord) -> bool:
    """Return whether a sentence replaces an answer."""
    return record.parts == [Text(LEFT_OUT)]


def _is_private(record: MessageRecord) -> bool:
    """Return whether the results of an answer were filtered when they were stored."""
    return bool(record.turn and record.turn.private_data) and not any(map(_is_unfiltered, record.parts))


def _is_unfiltered(part: Part) -> bool:
    """Return whether a part is a result that no filter has read. In a private answer, only an import can hold one."""
    return isinstance(part, CodeExecutionResult | Display) and not part.made_by


def _left_out(record: MessageRecord) -> MessageRecord:
    return replace(record, parts=[Text(LEFT_OUT)], part_attachments={}, attachments=[])
