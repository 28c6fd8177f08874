"""A part of an answer as Markdown, for the Markdown export and the Markdown cells of notebooks. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import assert_never

from chat.exports.commonmark import escape_label, fence_code, quote_block, sanitize_markdown
from chat.exports.sentences import function_sentence, outcome_sentence
from chat.parts import (
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
    Unsupported,
)

PYTHON_NAMES = ("PYTHON", "", "LANGUAGE_UNSPECIFIED")
"""Values of `ExecutableCode.language` that mean Python."""


def calls_with_parts(parts: Iterable[Part]) -> set[str]:
    """Return the ids of the function calls whose tool made parts. These parts show arguments and result already."""
    return {part.made_by for part in parts if part.made_by}


def part_markdown(part: Part, shown_calls: Collection[str]) -> str:
    """Return the part as Markdown. Empty for parts without text, such as images: they are exported as attachments.

    `shown_calls`: the ids of function calls whose arguments and results are left out, see `calls_with_parts`.
    """
    match part:
        case Text():
            return sanitize_markdown(part.text) if part.text.strip() else ""
        case Thought():
            text = part.text.strip()
            return quote_block(f"**Thoughts**\n\n{sanitize_markdown(text)}") if text else ""
        case ExecutableCode():
            return fence_code(part.code, "python" if part.language in PYTHON_NAMES else "")
        case CodeExecutionResult():
            outcome = f"*{outcome_sentence(part)}*"
            return f"{outcome}\n\n{fence_code(part.output, 'text')}" if part.output else outcome
        case FunctionCall():
            return _function_markdown(part, {} if part.call_id in shown_calls else part.arguments)
        case FunctionResponse():
            return _function_markdown(part, {} if part.call_id in shown_calls else part.result)
        case Display():
            return _display_markdown(part)
        case InlineData() | FileData() | Unsupported():
            return ""
        case _:
            assert_never(part)


def _function_markdown(part: FunctionCall | FunctionResponse, values: Mapping[str, JSON] | None) -> str:
    """Return the sentence about a call or a response, and its arguments or its result as JSON."""
    sentence = f"*{escape_label(function_sentence(part))}*"
    if not values:
        return sentence
    return f"{sentence}\n\n{fence_code(json.dumps(dict(values), ensure_ascii=False, indent=2), 'json')}"


def _display_markdown(part: Display) -> str:
    text = part.bundle.get("text/plain")
    if isinstance(text, str):
        return fence_code(text, "text") if text else ""
    types = escape_label(", ".join(part.bundle)) or "unknown"
    return f"*Output of type {types} that cannot be shown here*"
