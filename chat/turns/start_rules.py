"""The rules that determine the setup of a turn, and whether the turn may run code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from django.conf import settings
from django.db.models import QuerySet

from attachments.models import Attachment
from chat.catalogue.setups import Setup, UnknownModel
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.notices import ERRORS
from chat.parts import JSONObject, PartKind, Role
from chat.prompt.intent import decide
from chat.providers import get_provider

DATA_TYPES = ("text/csv", "application/json", "image/")
"""Prefixes of the MIME types of files that hold data."""
DATA_SUFFIXES = (".csv", ".tsv", ".tab", ".dat", ".json", ".jsonl", ".ndjson")
"""Suffixes of the names of such files: tables in plain text cannot be recognised by their content."""


class StartRefused(Exception):
    """A turn cannot start now. The text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choices for one turn only. Other versions of its answer use them too."""

    code_mode: str = ""
    """`auto`, `on` or `off`. If empty, the conversation's setting applies."""
    model: str = ""
    """Empty: the conversation's."""
    continues: bool = False
    """Whether the turn continues an answer, and uses that answer's decision about code."""
    without_tools: bool = False

    def as_json(self) -> JSONObject:
        """Return the fields that differ from the default."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


@dataclass(frozen=True, slots=True)
class CodeDecision:
    """Whether an answer may run code."""

    mode: str
    """What was asked for: `auto`, `on` or `off`."""
    is_offered: bool
    reason: str
    """A sentence for the reader."""


def chosen_setup(
    conversation: Conversation, chosen: Chosen, files: Sequence[Attachment], find_setup: Callable[[str], Setup]
) -> Setup:
    """Return the setup of the chosen model. Raises StartRefused for a model that is unknown or does not take the files.

    `find_setup`: returns the setup of a model's name, or raises UnknownModel.
    """
    try:
        setup = find_setup(chosen.model or conversation.model)
        assert get_provider(setup.provider, setup.endpoint).account
    except UnknownModel as unknown:
        raise StartRefused(str(unknown)) from unknown
    except LookupError as unknown:
        raise StartRefused(f"The service of “{setup.label}” is not set up here. Choose another model.") from unknown
    if files:
        _check_files(setup, files)
    if chosen.without_tools:
        return replace(setup, code_execution=False, web_search=False, url_context=False)
    return setup


def decide_code(
    conversation: Conversation,
    question: Message,
    files: Sequence[Attachment],
    chosen: Chosen,
    setup: Setup,
    before: Turn | None,
) -> CodeDecision:
    """Decide whether an answer may run code. `before`: the turn that is continued or answered again."""
    if chosen.without_tools:
        return CodeDecision(Conversation.CodeExecution.OFF, False, "The answer was wanted without tools.")
    if chosen.continues and before is not None:
        if before.code_execution and setup.code_execution:
            return CodeDecision(before.code_mode, True, before.code_reason)
        return CodeDecision(before.code_mode, False, "It goes on from an answer without code.")
    mode = chosen.code_mode or conversation.code_execution
    if mode == Conversation.CodeExecution.OFF:
        return CodeDecision(mode, False, "Code execution is turned off.")
    if not setup.code_execution:
        return CodeDecision(mode, False, f"{setup.label} does not run code.")
    if mode == Conversation.CodeExecution.ON:
        return CodeDecision(mode, True, "Code execution is turned on.")
    has_data, ran_code_before = _earlier_data_and_code(question)
    has_data = has_data or any(is_data(file.mime_type, file.name) for file in files)
    decision = decide(question.text, has_data=has_data, ran_code_before=ran_code_before)
    return CodeDecision(mode, decision.is_wanted, decision.explanation)


def _earlier_data_and_code(question: Message) -> tuple[bool, bool]:
    """Return whether earlier questions had data files, and whether earlier answers ran code."""
    if not question.index:
        return False, False
    earlier = Message.objects.filter(conversation_id=question.conversation_id, is_shown=True, index__lt=question.index)
    ran_code = Part.objects.filter(message__in=earlier, kind=PartKind.EXECUTABLE_CODE).exists()
    return _has_data(earlier), ran_code


def _has_data(messages: QuerySet[Message]) -> bool:
    links = MessageAttachment.objects.filter(message__in=messages, message__role=Role.USER)
    return any(is_data(*file) for file in links.values_list("attachment__mime_type", "attachment__name"))


def is_data(mime_type: str, name: str) -> bool:
    """Return whether a file holds data to compute with."""
    return mime_type.startswith(DATA_TYPES) or name.lower().endswith(DATA_SUFFIXES)


def _check_files(setup: Setup, files: Sequence[Attachment]) -> None:
    capabilities = get_provider(setup.provider, setup.endpoint).capabilities(setup.model)
    for file in files:
        if not capabilities.accepted_type(file.mime_type):
            raise StartRefused(
                f"{setup.label} does not take files like “{file.name}” ({file.mime_type}). Remove it, or convert it to"
                " PNG, JPEG, PDF, CSV or text."
            )
    if not capabilities.stores_files and sum(file.size_bytes for file in files) > settings.REQUEST_FILES_LIMIT_BYTES:
        raise StartRefused(ERRORS["files_too_large"])
