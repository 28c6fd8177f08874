"""Selects the newest exchanges of a long conversation that fit into the model's context window. Pure.

Token counts are estimates, and tend to be too high. If the provider still refuses a request as too long, it is sent
again with fewer messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from attachments.images import is_image_type
from chat.answering.prompt.request_size import first_that_fits
from chat.providers.requests import Content, FunctionTool, Tool
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)

ASCII_PER_TOKEN = 3.5
IMAGE_TOKENS = 1_120
"""Maximum number of tokens for an image at the default resolution."""
BYTES_PER_TOKEN = 20
"""Bytes of a document, such as a PDF, that count as one token. This is rough: its pages cost tokens, not its bytes."""
DOCUMENT_TOKENS = 258_000
"""Maximum number of tokens for a document: 1,000 pages are read, at 258 tokens each."""
USED_SHARE = 0.9
"""The share of the window that messages may fill. The rest is for the instruction, tools, and wrong estimates."""


def limit_tokens(total_tokens: float, context_tokens: int | None, share: float = 1.0) -> float:
    """Return the maximum number of tokens for messages.

    `total_tokens`: the tokens of all messages. `context_tokens`: the size of the window; `None` if it is unknown, so
    that everything fits. `share`: how much of the window to use.
    """
    limit = total_tokens if context_tokens is None else context_tokens * USED_SHARE
    # A share below 1: the provider has refused these messages as too long, so fewer are sent even if they seem to fit.
    return min(limit, total_tokens) * share if share < 1 else limit


def select_newest(
    messages: Sequence[Sequence[Content]], sizes_tokens: Sequence[float], limit: float
) -> list[Sequence[Content]]:
    """Return the messages without the oldest exchanges, so that the others are within a limit of tokens.

    The last question always stays.
    """
    starts = [bool(contents) and contents[0].role is Role.USER for contents in messages]
    return list(messages[first_that_fits(sizes_tokens, starts, limit) :])


def tokens_of(content: Content, file_sizes_bytes: Mapping[str, int]) -> int:
    """Return the estimated tokens of one content. `file_sizes_bytes`: URI of a stored file -> its size."""
    return sum(part_tokens(part, file_sizes_bytes) for part in content.parts)


def fixed_tokens(instruction: str, tools: Iterable[Tool]) -> int:
    """Return the estimated tokens of everything but the messages."""
    functions = [tool for tool in tools if isinstance(tool, FunctionTool)]
    declared = (_text_tokens(f"{one.name}{one.description}{dict(one.parameters)}") for one in functions)
    return _text_tokens(instruction) + sum(declared)


def answer_tokens(parts: Iterable[Part]) -> int:
    """Return the estimated tokens of the parts of an answer. Each image counts as `IMAGE_TOKENS`."""
    return sum(IMAGE_TOKENS if isinstance(part, InlineData) else part_tokens(part, {}) for part in parts)


def part_tokens(part: Part, file_sizes_bytes: Mapping[str, int]) -> int:
    """Return the estimated tokens of one part."""
    own = _text_tokens(str(dict(part.provider_data))) if part.provider_data.keys() - {"thought_signature"} else 0
    match part:
        case Text() | Thought():
            return own + _text_tokens(part.text)
        case ExecutableCode():
            return own + _text_tokens(part.code)
        case CodeExecutionResult():
            return own + _text_tokens(part.output or "")
        case FileData():
            return own + _file_tokens(part.mime_type, file_sizes_bytes.get(part.uri, 0))
        case InlineData():
            if part.data is None:
                return own
            if part.mime_type.startswith("text/"):
                return own + _text_tokens(part.data.decode("utf-8", "replace"))
            return own + _file_tokens(part.mime_type, len(part.data))
        case FunctionCall() | ToolCall():
            return own + _text_tokens(str(part.arguments))
        case FunctionResponse() | ToolResponse():
            return own + _text_tokens(str(part.result))
        case Display() | Unsupported():
            return own
        case _:
            assert_never(part)


def _file_tokens(mime_type: str, size_bytes: int) -> int:
    if is_image_type(mime_type):
        return IMAGE_TOKENS
    if mime_type.startswith("text/"):
        return int(size_bytes / ASCII_PER_TOKEN)
    return min(size_bytes // BYTES_PER_TOKEN, DOCUMENT_TOKENS)


def _text_tokens(text: str) -> int:
    ascii_chars = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return int(ascii_chars / ASCII_PER_TOKEN) + (len(text) - ascii_chars)
