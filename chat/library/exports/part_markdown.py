"""Converts a part of an answer to Markdown, for the Markdown export and the Markdown cells of notebooks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from chat.library.exports.commonmark import quote_block, sanitize_markdown
from chat.library.exports.display_markdown import display_markdown
from chat.library.exports.sentences import EDITED_SENTENCE, NO_RESULT_SENTENCE, function_sentence, tool_sentence
from chat.page.rendering.compact_json import compact_json
from chat.page.rendering.durations import thought_sentence
from chat.vocabulary.code_outcomes import outcome_sentence, outcome_word
from chat.vocabulary.markdown_source import escape_label, fence_code
from chat.vocabulary.parts import (
    JSON,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from chat.vocabulary.terminal_text import terminal_text


def part_markdown(
    part: Part,
    shown_calls: Collection[str],
    *,
    has_attachments: bool = False,
    is_without_result: bool = False,
    is_earlier_result: bool = False,
) -> str:
    """Return the part as Markdown. Empty for parts without text, such as images: they are exported as attachments.

    `shown_calls`: the ids of function calls whose arguments and results are left out, because their parts show them.
    `has_attachments`: whether attachments follow the part. `is_without_result`: whether it is code that has no result
    and will get none. `is_earlier_result`: whether a later result of the same run has the outcome of the code.
    """
    match part:
        case Text():
            return sanitize_markdown(part.text) if part.text.strip() else ""
        case Thought():
            return _thought_markdown(part)
        case ExecutableCode():
            return _code_markdown(part, is_without_result=is_without_result)
        case CodeExecutionResult():
            sentence = "" if is_earlier_result else outcome_sentence(outcome_word(part))
            output = fence_code(terminal_text(part.output), "text") if part.output else ""
            changes = [f"*{escape_label(change)}*" for change in part.table_changes]
            return "\n\n".join(filter(None, [sentence and f"*{sentence}*", output, *changes]))
        case FunctionCall():
            return _function_markdown(part, {} if part.call_id in shown_calls else part.arguments)
        case FunctionResponse():
            return _function_markdown(part, {} if part.call_id in shown_calls else part.result)
        case Display():
            return display_markdown(part, has_attachments=has_attachments)
        case ToolCall():
            return f"*{escape_label(tool_sentence(part))}*"
        case InlineData() | FileData() | ToolResponse() | Unsupported():
            return ""
        case _:
            assert_never(part)


def _thought_markdown(part: Thought) -> str:
    text = part.text.strip()
    heading = thought_sentence(part.duration_ms)
    return quote_block(f"**{heading}**\n\n{sanitize_markdown(text)}") if text else ""


def _code_markdown(part: ExecutableCode, *, is_without_result: bool) -> str:
    code = fence_code(part.code, "python" if part.is_python else "")
    code = f"*{EDITED_SENTENCE}*\n\n{code}" if part.is_edited else code
    return f"{code}\n\n*{NO_RESULT_SENTENCE}*" if is_without_result else code


def _function_markdown(part: FunctionCall | FunctionResponse, values: Mapping[str, JSON] | None) -> str:
    """Return the sentence about a call or a response, and its arguments or its result as JSON."""
    sentence = f"*{escape_label(function_sentence(part))}*"
    if not values:
        return sentence
    return f"{sentence}\n\n{fence_code(compact_json(values), 'json')}"
