"""The texts of earlier messages as a request repeats them: without data URIs, and without endless outputs. Pure.

Stored parts stay as they are. A text that is changed here loses its provider data, because a signature belongs to
exactly one text. Code and the arguments of functions are never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chat.parts import JSON, CodeExecutionResult, FunctionResponse, Part, Text
from chat.python_sessions.results import shortened
from chat.rendering.data_uris import without_data_uris
from chat.transcript.records import MessageRecord


def with_replayed_texts(record: MessageRecord) -> MessageRecord:
    """Return an answer in which words stand in the place of data URIs: base64 means nothing to a model as text.

    The images that code printed were cut out of its output before; their names take their places.
    """
    names = {placed.index: placed.attachment.name for placed in record.attachments}
    parts = [_replayed(part, names) for part in record.parts]
    is_changed = any(after is not before for after, before in zip(parts, record.parts, strict=True))
    return replace(record, parts=parts) if is_changed else record


def with_short_outputs(record: MessageRecord) -> MessageRecord:
    """Return an answer with the beginning and the end of each output of code."""
    parts = [
        replace(part, output=shortened(part.output)) if isinstance(part, CodeExecutionResult) and part.output else part
        for part in record.parts
    ]
    return replace(record, parts=parts)


def _replayed(part: Part, names: Mapping[int, str]) -> Part:
    match part:
        case Text():
            text = without_data_uris(part.text)
            return part if text == part.text else replace(part, text=text, provider_data={})
        case CodeExecutionResult() if part.output:
            output = without_data_uris(_with_names(part, names) if part.images else part.output)
            return part if output == part.output else replace(part, output=output)
        case FunctionResponse() if "base64," in str(part.result):
            return replace(part, result={key: _without_data_uris(value) for key, value in part.result.items()})
        case _:
            return part


def _with_names(part: CodeExecutionResult, names: Mapping[int, str]) -> str:
    """Return the output with the names of the images that were cut out of it, where they stood."""
    output, pieces, end = part.output or "", list[str](), 0
    for image in part.images:
        pieces += output[end : image.offset], f"[{names.get(image.attachment, 'image')}]"
        end = image.offset
    return "".join([*pieces, output[end:]])


def _without_data_uris(value: JSON) -> JSON:
    match value:
        case str():
            return without_data_uris(value)
        case list():
            return [_without_data_uris(item) for item in value]
        case dict():
            return {key: _without_data_uris(item) for key, item in value.items()}
        case _:
            return value
