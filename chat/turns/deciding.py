"""What a turn is set to, and whether it is offered code: what was chosen, what the model can, what is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from attachments.models import Attachment
from chat.catalogue.setups import Setup, UnknownModel
from chat.intent import decide
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.notices import ERRORS
from chat.parts import PartKind, Role
from chat.providers import get_provider

DATA_TYPES = ("text/csv", "application/json", "image/")
"""Beginnings of types of files that are computed on."""
DATA_NAMES = (".csv", ".tsv", ".tab", ".dat", ".json", ".jsonl", ".ndjson")
"""Ends of their names: tables in plain text are not told by their content."""


class StartRefused(Exception):
    """A turn cannot start now; the text says why."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What holds for one turn alone, and for other versions of its answer."""

    code_mode: str = ""
    """Empty: the conversation's."""
    model: str = ""
    """Empty: the conversation's."""
    continues: bool = False
    """It goes on from an answer, whose decision on code it takes over."""
    without_tools: bool = False

    def as_json(self) -> dict[str, Any]:
        """What differs from nothing."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


@dataclass(frozen=True, slots=True)
class Decided:
    """Whether the tool is offered."""

    mode: str
    """What was asked for: auto, on or off."""
    is_offered: bool
    reason: str
    """A sentence for a person."""


def chosen_setup(
    conversation: Conversation, chosen: Chosen, files: Sequence[Attachment], setup_of: Callable[[str], Setup]
) -> Setup:
    """Of the chosen model, which must take these files; `setup_of` raises UnknownModel."""
    try:
        setup = setup_of(chosen.model or conversation.model)
    except UnknownModel as unknown:
        raise StartRefused(str(unknown)) from unknown
    if files:
        _check_files(setup, files)
    if chosen.without_tools:
        return replace(setup, code_execution=False, google_search=False, url_context=False)
    return setup


def decided_on(
    conversation: Conversation,
    question: Message,
    files: Sequence[Attachment],
    chosen: Chosen,
    setup: Setup,
    before: Turn | None,
) -> Decided:
    """`before`: the turn that is continued, or answered anew."""
    if chosen.without_tools:
        return Decided(Conversation.CodeExecution.OFF, False, "The answer was wanted without tools.")
    if chosen.continues and before is not None:
        if before.code_execution and setup.code_execution:
            return Decided(before.code_mode, True, before.code_reason)
        return Decided(before.code_mode, False, "It goes on from an answer without code.")
    return decide_code(conversation, question, files, setup, chosen.code_mode)


def _check_files(setup: Setup, files: Sequence[Attachment]) -> None:
    provider = get_provider(setup.provider)
    for file in files:
        if not provider.accepted_type(file.mime_type):
            raise StartRefused(
                f"{setup.label} does not take files like “{file.name}” ({file.mime_type}). Remove it, or convert it to"
                " PNG, JPEG, PDF, CSV or text."
            )
    if not provider.keeps_files and sum(file.size_bytes for file in files) > settings.REQUEST_FILES_LIMIT_BYTES:
        raise StartRefused(ERRORS["files_too_large"])


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
