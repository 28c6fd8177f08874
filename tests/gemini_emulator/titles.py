"""Answers requests for a title, so that tests of titles can use any model, even one whose answers fail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Step, WireObject, text_part

TITLE_WORDS = 5
_TITLE_PHRASE = "title for this conversation"
_LABEL = re.compile(r"\s*\w+:\s*\n")
"""A line such as `Question:` before the question."""


def asks_for_title(body: WireObject) -> bool:
    """Return whether the system instruction of a request asks for a title."""
    return _TITLE_PHRASE in system_instruction(body)


def system_instruction(body: WireObject) -> str:
    """Return the text of the system instruction, or an empty text."""
    instruction = body.get("systemInstruction") or {}
    parts = instruction.get("parts") or [] if isinstance(instruction, dict) else [{"text": instruction}]
    texts = [part.get("text") for part in (parts if isinstance(parts, list) else [parts]) if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def title_steps(request: GenerationRequest) -> Iterator[Step]:
    """Yield one short text: the first words of the first question."""
    oldest_prompt = next(iter(list(request.prompts())[-1:]), "")
    question = _LABEL.sub("", oldest_prompt, count=1).strip().partition("\n\n")[0]
    title = " ".join(question.split()[:TITLE_WORDS]) or "Untitled"
    yield ChunkBuilder(request).chunk(text_part(title), finish="STOP")
