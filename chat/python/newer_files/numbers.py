"""Finds the numbers of answers that the code no longer gives with a newer file. Runs on a thread."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from attachments.models import Attachment
from chat.messages.number_ledgers import branch_sources, file_text
from chat.messages.numbers.as_json import LINE_LIMIT_CHARS
from chat.messages.numbers.lost_numbers import PartKey, lost_numbers
from chat.messages.numbers.sources import SourceText
from chat.messages.records import records_by_id
from chat.models import Message
from chat.python.reruns.recorded_runs import text_results
from chat.python.sessions.branch import CodeBlock
from chat.vocabulary.parts import Role

NUMBERS_LIMIT = 500
"""Maximum number of numbers that are stored for one run."""


class LostNumberJSON(TypedDict):
    """A number of an answer. See the documentation of the API."""

    message_id: str
    text: str
    start: int
    end: int
    after: str
    line_before: str
    line_after: str


def find_lost_numbers(
    conversation_id: uuid.UUID, replaced: Attachment, newer: Attachment, outputs: Mapping[CodeBlock, str]
) -> list[LostNumberJSON]:
    """Return the numbers of the shown answers that came from the old results or file, and are not in the new ones.

    `outputs`: the new output of each block; an empty text for a block that failed.
    """
    by_part = dict(_outputs_by_part(outputs))
    former, text = file_text(replaced), file_text(newer) or ""
    numbers: list[LostNumberJSON] = []
    answers = Message.objects.filter(conversation=conversation_id, is_shown=True, role=Role.MODEL)
    for message in answers.order_by("index"):
        if not any(map(str.isdigit, message.text)):
            continue
        before = list(branch_sources(message, []))
        after = [_replaced(one, by_part, former, text) for one in before]
        # All parts of one block get the same new text, so repeats are removed.
        for lost in lost_numbers(message.text, before, _without_repeats(after), by_part):
            numbers.append(
                {
                    "message_id": str(message.pk),
                    "text": message.text[lost.start : lost.end],
                    "start": lost.start,
                    "end": lost.end,
                    "after": lost.after,
                    "line_before": lost.line_before[:LINE_LIMIT_CHARS],
                    "line_after": lost.line_after[:LINE_LIMIT_CHARS],
                }
            )
            if len(numbers) == NUMBERS_LIMIT:
                return numbers
    return numbers


def _outputs_by_part(outputs: Mapping[CodeBlock, str]) -> Iterator[tuple[PartKey, str]]:
    records = records_by_id(list({block.message_id for block in outputs}))
    for block, text in outputs.items():
        if record := records.get(block.message_id):
            for index in text_results(record.parts, block.part_index):
                yield (block.message_id, index), text


def _replaced(source: SourceText, outputs: Mapping[PartKey, str], former: str | None, newer: str) -> SourceText:
    if source.kind == "file" and source.text == former:
        return replace(source, text=newer)
    return replace(source, text=outputs.get((source.message_id, source.part_index), source.text))


def _without_repeats(sources: Sequence[SourceText]) -> list[SourceText]:
    return list({(one.kind, one.message_id, one.text): one for one in sources}.values())
