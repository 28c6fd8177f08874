"""Estimates how many bytes a request takes, and which of the oldest exchanges must be left out. Pure.

The estimates are not too low for any provider: text counts as JSON in ASCII, bytes as base64.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring_ascii

from chat.messages.records import MessageRecord
from chat.providers.requests import FunctionTool, Tool
from chat.vocabulary.display_text import display_text
from chat.vocabulary.part_json import part_to_json
from chat.vocabulary.parts import CodeExecutionResult, Display, ExecutableCode, Part, Text, Thought

PART_BYTES = 400
"""Bytes that a part takes beside its own content: names of fields, and the sentences around it or in its place."""
REQUEST_BYTES = 4_000
"""Bytes that a request takes in addition to its instruction, its functions and its messages."""


def json_bytes(text: str) -> int:
    """Return the size of a text as a JSON string."""
    return len(encode_basestring_ascii(text))


def base64_bytes(size_bytes: int) -> int:
    """Return the size of bytes as base64."""
    return -(-size_bytes // 3) * 4


def part_bytes(part: Part) -> int:
    """Return the size of a part without the bytes of its attachment."""
    match part:
        case Text() | Thought():
            return PART_BYTES + json_bytes(part.text) + _provider_data_bytes(part)
        case ExecutableCode():
            return PART_BYTES + json_bytes(part.code + part.language + part.call_id) + _provider_data_bytes(part)
        case CodeExecutionResult():
            text = (part.output or "") + part.outcome + part.call_id
            return PART_BYTES + json_bytes(text) + _provider_data_bytes(part)
        case Display():
            # The model gets this text with the result of the code; see `answers.with_displays_as_output`.
            return 0 if part.made_by else json_bytes(display_text(part.bundle))
        case _:
            # In some protocols, arguments and results are JSON inside a string.
            return PART_BYTES + json_bytes(json.dumps(part_to_json(part)))


def _provider_data_bytes(part: Part) -> int:
    if part.provider_data.keys() <= {"thought_signature"}:
        return json_bytes(str(part.provider_data.get("thought_signature", "")))
    return len(json.dumps(dict(part.provider_data)))


def message_bytes(record: MessageRecord) -> int:
    """Return the size of a message without the bytes of its files."""
    names = sum(PART_BYTES + json_bytes(placed.attachment.name) for placed in record.attachments)
    if record.turn is None:
        return PART_BYTES + json_bytes(record.message.text) + names
    return sum(map(part_bytes, record.parts)) + names


def fixed_bytes(instruction: str, tools: Iterable[Tool]) -> int:
    """Return the size of everything but the messages."""
    functions = [tool for tool in tools if isinstance(tool, FunctionTool)]
    declarations = (
        json_bytes(one.description) + len(json.dumps(dict(one.parameters))) + PART_BYTES for one in functions
    )
    return REQUEST_BYTES + json_bytes(instruction) + sum(declarations)


def first_that_fits(sizes: Sequence[float], starts: Sequence[bool], limit: float) -> int:
    """Return the index of the first message that is sent, so that the messages from there on are within the limit.

    `starts`: for each message, whether it begins an exchange. Whole exchanges are left out, but never the last one.
    """
    total, first = sum(sizes), 0
    for index, is_start in enumerate(starts):
        if index and is_start:
            if total <= limit:
                break
            total -= sum(sizes[first:index])
            first = index
    return first
