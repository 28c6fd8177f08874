"""The texts of earlier messages as a request repeats them: without data URIs, and without endless results. Pure.

Stored parts stay as they are. A text that is changed here loses its provider data, because a signature belongs to
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
"""Characters of a result of an older round that remain if the rounds are too long for a request."""
SHORT_RESULT = (
    "{head}\n[The server has left out {left_out:,} more characters of this older result, because the request would be"
    " too long. Run the code again if you need them.]"
)


def with_replayed_texts(record: MessageRecord) -> MessageRecord:
    """Return an answer in which words stand in the place of data URIs: base64 means nothing to a model as text.

    The images that code printed were cut out of its output before; their names take their places.
    """
    names = {placed.index: placed.attachment.name for placed in record.attachments}
    parts = [_replayed(part, names) for part in record.parts]
    is_changed = any(after is not before for after, before in zip(parts, record.parts, strict=True))
    return replace(record, parts=parts) if is_changed else record


def with_short_results(record: MessageRecord, size_of: Callable[[Part], float], limit: float) -> MessageRecord:
    """Return the rounds of an answer with shorter results, so that they are within a limit if that is possible.

    The oldest results are shortened first, to their beginning. The results of the newest round stay whole, unless the
    rounds are too long even then: an output of code in it then loses its middle. `size_of`: measures what a part takes
    up of the limit.
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
    """Return a value, or the beginning of its text: a list of variables has no text of its own, so its JSON is cut."""
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
