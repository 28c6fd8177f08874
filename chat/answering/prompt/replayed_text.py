"""Shortens the texts of earlier messages in a request: it removes data URIs and cuts very long results. Pure.

Stored parts are not changed. A text that is changed here loses its provider data, because a signature belongs to
exactly one text. Code and the arguments of functions are never changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from chat.messages.records import MessageRecord
from chat.vocabulary.bounded_output import shortened
from chat.vocabulary.data_uris import without_data_uris
from chat.vocabulary.parts import JSON, CodeExecutionResult, FunctionResponse, Part, Text

SHORT_RESULT_CHARS = 500
"""Number of characters that are kept of a result of an older round, if the rounds are too long for a request."""
SHORT_RESULT = (
    "{head}\n[The server has left out {left_out:,} more characters of this older result, because the request would be"
    " too long. Run the code again if you need them.]"
)


def with_replayed_texts(record: MessageRecord) -> MessageRecord:
    """Return an answer in which words replace data URIs, because base64 in a text means nothing to a model.

    The images that code printed were already cut out of its output; their names are inserted there.
    """
    names = {placed.index: placed.attachment.name for placed in record.attachments}
    parts = [_replayed(part, names) for part in record.parts]
    is_changed = any(after is not before for after, before in zip(parts, record.parts, strict=True))
    return replace(record, parts=parts) if is_changed else record


def with_short_results(record: MessageRecord, size_of: Callable[[Part], float], limit: float) -> MessageRecord:
    """Return the rounds of an answer with shorter results, so that they are within a limit if possible.

    The oldest results are cut first; their beginnings are kept. The results of the newest round are kept whole. If the
    rounds are still too long, outputs of code in it are cut in their middle. `size_of`: returns how much of the limit a
    part takes.
    """
    excess = sum(map(size_of, record.parts)) - limit
    parts = list(record.parts)
    newest_round = max((part.round for part in parts), default=0)
    for shorten, is_newest in ((_with_short_result, False), (_with_short_output, True)):
        for index, part in enumerate(parts):
            if excess <= 0:
                break
            if (part.round == newest_round) == is_newest:
                parts[index] = shorten(part)
                excess -= size_of(part) - size_of(parts[index])
    return replace(record, parts=parts)


def _with_short_result(part: Part) -> Part:
    match part:
        case CodeExecutionResult() if part.output:
            return replace(part, output=_head(part.output))
        case FunctionResponse():
            return replace(part, result={key: _short_value(value) for key, value in part.result.items()})
        case _:
            return part


def _with_short_output(part: Part) -> Part:
    if isinstance(part, CodeExecutionResult) and part.output:
        return replace(part, output=shortened(part.output))
    return part


def _short_value(value: JSON) -> JSON:
    """Return a value, or the beginning of its text if that is long. Values without a text are cut as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= SHORT_RESULT_CHARS else _head(text)


def _head(text: str) -> str:
    left_out = len(text) - SHORT_RESULT_CHARS
    if left_out <= len(SHORT_RESULT):
        return text
    return SHORT_RESULT.format(head=text[:SHORT_RESULT_CHARS], left_out=left_out)


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
    """Return the output with the names of the images that were cut out of it, at their positions."""
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
