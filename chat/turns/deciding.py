"""Whether an answer is offered code execution, and why: the mode, the model's ability, and what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from attachments.models import Attachment
from chat.catalogue.setups import Setup
from chat.intent import decide
from chat.models import Conversation, Message, MessageAttachment, Part
from chat.parts import PartKind, Role

DATA_TYPES = ("text/csv", "application/json", "image/")
"""Beginnings of types of files that are computed on."""
DATA_NAMES = (".csv", ".tsv", ".tab", ".dat", ".json", ".jsonl", ".ndjson")
"""Ends of their names: tables in plain text are not told by their content."""


@dataclass(frozen=True, slots=True)
class Decided:
    """Whether the tool is offered."""

    mode: str
    """What was asked for: auto, on or off."""
    is_offered: bool
    reason: str
    """A sentence for a person."""


def decide_code(
    conversation: Conversation, question: Message, files: Sequence[Attachment], setup: Setup, mode: str
) -> Decided:
    """`mode`: of this message, empty for the conversation's; `files`: of the question."""
    mode = mode or conversation.code_execution
    if mode == Conversation.CodeExecution.OFF:
        return Decided(mode, False, "Code execution is turned off.")
    if not setup.code_execution:
        return Decided(mode, False, f"{setup.label} does not run code.")
    if mode == Conversation.CodeExecution.ON:
        return Decided(mode, True, "Code execution is turned on.")
    has_data = any(is_data(file.mime_type, file.name) for file in files)
    ran_before = False
    if question.index:
        before = Message.objects.filter(conversation=conversation, is_shown=True, index__lt=question.index)
        has_data = has_data or _has_data(before)
        ran_before = Part.objects.filter(message__in=before, kind=PartKind.EXECUTABLE_CODE).exists()
    decision = decide(question.text, has_data=has_data, ran_code_before=ran_before)
    return Decided(mode, decision.wanted, decision.why)


def _has_data(messages: QuerySet[Message]) -> bool:
    links = MessageAttachment.objects.filter(message__in=messages, message__role=Role.USER)
    return any(is_data(*file) for file in links.values_list("attachment__mime_type", "attachment__name"))


def is_data(mime_type: str, name: str) -> bool:
    """Whether such a file is computed on."""
    return mime_type.startswith(DATA_TYPES) or name.lower().endswith(DATA_NAMES)
