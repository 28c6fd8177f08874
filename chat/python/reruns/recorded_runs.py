"""Reads the earlier results of a block of code from the parts of its answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attachments.images import is_image_type
from chat.vocabulary.display_text import display_text
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
)
from chat.vocabulary.terminal_text import terminal_text


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A block of code with its results. The bytes of images are in attachments."""

    code: str
    outcome: str
    """Outcome of the result; empty if the code was stopped, or has no result."""
    text: str
    image_parts: tuple[int, ...]
    """Indexes of the parts with images, in order."""
    printed_images: tuple[int, ...]
    """Indexes, in the message, of attachments with images that the code printed."""


def recorded_run(parts: Sequence[Part], index: int) -> RecordedRun | None:
    """Return the run of the code in a part; `None` if the part holds no Python code."""
    part = parts[index] if 0 <= index < len(parts) else None
    if not isinstance(part, ExecutableCode) or not part.is_python:
        return None
    outcome, text = "", ""
    images: list[int] = []
    printed: list[int] = []
    for number, result in _results(parts, index):
        match result:
            case CodeExecutionResult():
                outcome = result.outcome or outcome
                text += terminal_text(result.output or "")
                printed += [image.attachment for image in result.images]
            case InlineData() if is_image_type(result.mime_type):
                images.append(number)
            case Display():
                text += display_text(result.bundle)
    return RecordedRun(part.code, outcome, text, tuple(images), tuple(printed))


def text_results(parts: Sequence[Part], index: int) -> list[int]:
    """Return the indexes of the parts with the output of the code in a part."""
    return [number for number, part in _results(parts, index) if isinstance(part, CodeExecutionResult | Display)]


def _results(parts: Sequence[Part], index: int) -> Iterator[tuple[int, Part]]:
    """Yield the parts that follow the code, up to the next code, function call or text."""
    for number in range(index + 1, len(parts)):
        part = parts[number]
        if isinstance(part, ExecutableCode | FunctionCall | FunctionResponse):
            return
        if isinstance(part, Text) and part.text.strip():
            return
        yield number, part
