"""The rules that determine the setup of a turn, and whether the turn may run code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial

from django.db.models import QuerySet

from attachments.code_files import name_in_code
from attachments.images import is_image_type
from attachments.models import Attachment
from attachments.table_types import TABLE_TYPES
from attachments.validation import CSV, JSON_TYPE
from chat.answering.code_tools import EngineOptions, capabilities_of, code_tools
from chat.answering.prompt.intent import predict_code
from chat.answering.turns.engine_choice import (
    choose_engine,
    first_for_code,
    fits_request,
    obstacle_to_own_code,
    sent_files,
)
from chat.messages.notices import ERRORS
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import Setup, UnknownModel
from chat.vocabulary.parts import Engine, JSONObject, PartKind, Role

DATA_TYPES = (CSV, JSON_TYPE, *TABLE_TYPES.values())
"""Prefixes of the MIME types of files that hold data, besides images."""
DATA_SUFFIXES = (".csv", ".tsv", ".tab", ".dat", ".json", ".jsonl", ".ndjson")
"""Suffixes of names of files that hold data, because the content of a text file does not show that it is a table."""


TOO_MANY_LIVE = "{number} answers are being written for you already. Wait for one, or stop one."


NO_PRIVATE_CODE = (
    "The data of this conversation are private, so only code on this server may read files, and none can be run here."
    " Remove the files, or turn off “Keep data private” in the settings."
)
NOT_PRIVATE = (
    "The data of this conversation are private, so only code on this server may read files, and {label} runs none here."
    " Choose another model, or remove the files."
)


class StartRefused(Exception):
    """A turn cannot start now. The text is a sentence that says why."""


class ModelRefused(StartRefused):
    """A turn cannot start with this model, because users may not choose it."""


@dataclass(frozen=True, slots=True)
class TurnChoices:
    """Choices for one turn only. They also apply if the answer is regenerated."""

    code_mode: str = ""
    """`auto`, `on` or `off`. If empty, the conversation's setting applies."""
    model: str = ""
    """The id of a model or the name of a preset. If empty, the conversation's model is used."""
    continues: bool = False
    """True if the turn continues an answer, and uses that answer's decision about code."""
    without_tools: bool = False
    own_code: bool = False
    """True if the question is code of the user that a tool set runs, and no model is asked."""

    def as_json(self) -> JSONObject:
        """Return the fields that differ from the default."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


@dataclass(frozen=True, slots=True)
class CodeChoice:
    """Whether an answer may run code."""

    mode: str
    """The setting of the question: `auto`, `on` or `off`."""
    engine: Engine | None
    """The engine that runs the code. `None`: the answer may not run code."""
    reason: str
    """A sentence for the reader that says why."""
    offers_session: bool = False
    """True if code that runs at the model's service may also run in the tool set that runs code."""


def chosen_setup(conversation: Conversation, chosen: TurnChoices, find_setup: Callable[[str], Setup]) -> Setup:
    """Return the setup of the chosen model. Raises ModelRefused if users may not choose the model.

    `find_setup`: returns the setup for a model's name, or raises UnknownModel.
    """
    try:
        setup = find_setup(chosen.model or conversation.model)
    except UnknownModel as unknown:
        raise ModelRefused(str(unknown)) from unknown
    if chosen.without_tools:
        return without_tools(setup)
    return setup.with_web_search(conversation.web_search)


def without_tools(setup: Setup) -> Setup:
    """Return a setup that offers no tools to its model."""
    return replace(setup, code_execution=False, allows_code=False, web_search=False, url_context=False)


def capabilities_or_refusal(setup: Setup) -> Capabilities:
    """Return what requests to a setup's model may contain. Raises StartRefused if its service is not set up."""
    try:
        return capabilities_of(setup)
    except LookupError as unknown:
        raise StartRefused(f"The service of “{setup.label}” is not set up here. Choose another model.") from unknown


def decide_code(
    conversation: Conversation,
    question: Message,
    files: Sequence[Attachment],
    chosen: TurnChoices,
    setup: Setup,
    before: Turn | None,
    has_state: Callable[[], bool],
    project_files: Sequence[Attachment] = (),
    find_capabilities: Callable[[Setup], Capabilities] = capabilities_of,
) -> CodeChoice:
    """Decide whether an answer may run code.

    `before`: the turn that is continued or answered again. `has_state`: see `EngineOptions`. `project_files`: they
    affect where code runs, and count as data of the conversation.
    """
    if chosen.own_code:
        tools = code_tools()
        return CodeChoice(Conversation.CodeExecution.ON, Engine.SESSION, tools.own_code_reason if tools else "")
    if chosen.without_tools:
        return CodeChoice(Conversation.CodeExecution.OFF, None, "You asked for an answer without tools.")
    find_earlier = cache(partial(_earlier_files, question))
    is_private = conversation.is_private
    asked = EngineOptions(setup, conversation.engine, has_state, files, find_earlier, find_capabilities, is_private)
    options = replace(asked, files=[*files, *project_files]) if project_files else asked
    if chosen.continues and before is not None:
        return _decide_continuation(options, before)
    mode = chosen.code_mode or conversation.code_execution
    if mode == Conversation.CodeExecution.OFF:
        return CodeChoice(mode, None, "Code execution is turned off.")
    choice = None if setup.code_execution and not is_private else choose_engine(options)
    if choice is not None and choice.engine is None:
        return CodeChoice(mode, None, choice.reason)
    is_wanted, reason = _is_code_wanted(question, files, mode, asked, project_files)
    if not is_wanted:
        return CodeChoice(mode, None, reason)
    choice = choice or choose_engine(options)
    return CodeChoice(mode, choice.engine, f"{reason} {choice.reason}".strip(), choice.offers_session)


def _decide_continuation(options: EngineOptions, before: Turn) -> CodeChoice:
    """Choose the engine of a continuation. No code if the model was offered none in the answer `before`."""
    if not before.code_execution:
        return CodeChoice(before.code_mode, None, "It continues an answer that used no code.")
    ran_here = before.engine == Engine.SESSION
    has_state = partial(bool, True) if ran_here else options.has_state
    # Files of earlier questions are not considered, because they already counted for the answer that is continued.
    choice = choose_engine(replace(options, has_state=has_state, find_earlier_files=tuple))
    is_same = choice.engine is not None and before.engine in ("", choice.engine)
    reason = before.code_reason if is_same else choice.reason
    return CodeChoice(before.code_mode, choice.engine, reason, choice.offers_session)


def _is_code_wanted(
    question: Message,
    files: Sequence[Attachment],
    mode: str,
    options: EngineOptions,
    project_files: Sequence[Attachment],
) -> tuple[bool, str]:
    """Return whether the answer should run code, and the reason."""
    if mode == Conversation.CodeExecution.ON:
        return True, "Code execution is turned on."
    if files and options.is_private:
        return True, "Only code can read the files of a private conversation."
    if files and not fits_request(files, options.capabilities):
        return True, "Only code can read files as large as these."
    if file := first_for_code(options, options.files):
        return True, f"Only code can read files like “{file.name}”."
    file = first_for_code(options, options.find_earlier_files())
    if file and choose_engine(options).engine is Engine.SESSION:
        return True, f"Only code can read files like “{file.name}”."
    all_files = (*files, *project_files, *options.find_earlier_files())
    data = [file.mime_type for file in all_files if is_data(file.mime_type, file.name)]
    prediction = predict_code(
        question.text,
        has_data=bool(data),
        has_table=not all(map(is_image_type, data)),
        ran_code_before=_earlier_code_ran(question),
    )
    return prediction.is_wanted, prediction.explanation


def _earlier_messages(question: Message) -> QuerySet[Message]:
    """Return the shown messages before a question."""
    return Message.objects.filter(conversation_id=question.conversation_id, is_shown=True, index__lt=question.index)


def _earlier_files(question: Message) -> list[Attachment]:
    """Return the files of the earlier questions, in order."""
    if not question.index:
        return []
    links = MessageAttachment.objects.filter(message__in=_earlier_messages(question), message__role=Role.USER)
    ordered = links.order_by("message__index", "index").select_related("attachment")
    return [link.attachment for link in ordered]


def _earlier_code_ran(question: Message) -> bool:
    """Return whether earlier answers ran code."""
    earlier = _earlier_messages(question)
    return bool(question.index) and Part.objects.filter(message__in=earlier, kind=PartKind.EXECUTABLE_CODE).exists()


def is_data(mime_type: str, name: str) -> bool:
    """Return whether a file holds data to compute with."""
    has_data_name = name_in_code(name, mime_type).lower().endswith(DATA_SUFFIXES)
    return mime_type.startswith(DATA_TYPES) or is_image_type(mime_type) or has_data_name


def _check_private_files(setup: Setup, choice: CodeChoice) -> None:
    """Raise StartRefused if code cannot read the files of a question in a private conversation.

    If the person has turned code off, the question is answered with the schema alone.
    """
    if choice.engine is Engine.SESSION or choice.mode == Conversation.CodeExecution.OFF:
        return
    raise StartRefused(NO_PRIVATE_CODE if obstacle_to_own_code() else NOT_PRIVATE.format(label=setup.label))


def check_files(
    setup: Setup, files: Sequence[Attachment], choice: CodeChoice, capabilities: Capabilities, *, is_private: bool
) -> None:
    """Raise StartRefused if files of a question can neither be sent to the model nor be read by code."""
    if not files:
        return
    if is_private:
        _check_private_files(setup, choice)
        return
    sent = sent_files(files, choice.engine)
    for file in sent:
        if not capabilities.accepted_type(file.mime_type):
            raise StartRefused(
                f"{setup.label} does not take files like “{file.name}” ({file.mime_type}). Remove it, or convert it to"
                " PNG, JPEG, PDF, CSV or text."
            )
    if not fits_request(sent, capabilities):
        raise StartRefused(ERRORS["files_too_large"])
