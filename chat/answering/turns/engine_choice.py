"""Where the code of an answer runs: at the model's service (native), or in the Python session of the conversation.

This is decided once, when a turn starts, and stored with the turn: `Turn.engine`, `code_reason` and `offers_session`.
Tool sets, requests and a move to the session only read these columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.conf import settings

from attachments.models import Attachment
from chat.models import Conversation, Turn
from chat.providers import get_provider
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import Setup, UnknownModel, find_setup
from chat.python.sessions.files import is_kept_in_session
from chat.python.sessions.places import is_enabled
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, CodeExecutionResult, Engine, Part

TIMED_OUT = "The code ran out of time at the model's service, so code runs in the Python session from here on."
NO_MODULE = (
    "The model's service does not have the Python module “{name}”, so code runs in the Python session from here on."
)
TOO_LARGE = "The files are too large to be sent to the model's service, so code runs in the Python session."


_MISSING_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]{0,99})")


def capabilities_of(setup: Setup) -> Capabilities:
    """Return what requests to the model of a setup may contain. For a model of an endpoint: up to three queries."""
    return get_provider(setup.provider, setup.endpoint).capabilities(setup.model)


@dataclass(frozen=True)
class EngineOptions:
    """What decides where code can run."""

    setup: Setup
    setting: str
    """The conversation's setting: `auto`, `native` or `session`."""
    has_session: Callable[[], bool] = lambda: False
    """Returns whether the conversation has a running Python session. It is called only if that matters."""
    files: Sequence[Attachment] = ()
    """The files of the question."""
    find_capabilities: Callable[[Setup], Capabilities] = capabilities_of
    """Starts of one batch share what it returns."""

    @cached_property
    def capabilities(self) -> Capabilities:
        """What requests to the model may contain. They are found only if that matters."""
        return self.find_capabilities(self.setup)


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Where the code of an answer runs."""

    engine: Engine | None
    """`None`: nowhere."""
    reason: str = ""
    """A sentence for the reader; empty if there is nothing to say."""
    offers_session: bool = False
    """Whether code that runs at the model's service may also run in the session: the model may choose it, or the code
    moves there after a failure. A request contains the function only if the model takes both (`prompt.history`)."""


def choose_engine(options: EngineOptions) -> EngineChoice:
    """Choose where the code of an answer runs, if it is to run code at all."""
    label, setting = options.setup.label, options.setting
    engines = Conversation.Engine
    if options.setup.code_execution:
        if setting == engines.NATIVE:
            return EngineChoice(Engine.NATIVE)
        if obstacle := _obstacle_to_session(options):
            # Only a person who has chosen the session wants to know why it is not used.
            return EngineChoice(Engine.NATIVE, obstacle if setting == engines.SESSION else "")
        if reason := _reason_for_session(options):
            return _session(options, reason)
        return EngineChoice(Engine.NATIVE, offers_session=True)
    if not options.setup.allows_code or _obstacle_to_session(options):
        return EngineChoice(None, f"{label} does not run code.")
    if setting == engines.NATIVE:
        return EngineChoice(None, f"{label} does not run code itself, and this conversation runs code nowhere else.")
    if setting == engines.SESSION:
        return _session(options, _reason_for_session(options))
    return _session(options, f"It runs in the Python session, because {label} does not run code itself.")


def answers_run_code(conversation: Conversation) -> bool:
    """Return whether the conversation's model may run code, as the conversation is set. Takes a few queries."""
    if conversation.code_execution == Conversation.CodeExecution.OFF:
        return False
    try:
        setup = find_setup(conversation.model)
    except UnknownModel:
        return False
    return choose_engine(EngineOptions(setup, conversation.engine)).engine is not None


def _reason_for_session(options: EngineOptions) -> str:
    """Return why the session is preferred to native execution; empty if it is not."""
    if options.setting == Conversation.Engine.SESSION:
        return "It runs in the Python session, as this conversation is set."
    if options.has_session():
        return "It runs in the Python session, which holds the variables of this conversation."
    if options.files and not fits_request(options.files, options.capabilities):
        return "It runs in the Python session, because the files are too large to be sent to the model's service."
    if file := find_file_for_code(options):
        return f"It runs in the Python session, because the model's service does not take files like “{file.name}”."
    return ""


def _obstacle_to_session(options: EngineOptions) -> str:
    """Return why the session cannot be used; empty if it can be."""
    if not is_enabled():
        return "It runs at the model's service: Python sessions are turned off on this server."
    if options.setup.image_output or not options.capabilities.functions:
        return f"It runs at the model's service: {options.setup.label} calls no functions, which a session needs."
    return ""


def _session(options: EngineOptions, reason: str) -> EngineChoice:
    searches = options.setup.web_search or options.setup.url_context
    if searches and not options.setup.takes_functions_beside_tools(options.capabilities):
        reason += f" The web is not searched: {options.setup.label} does not do both in one answer."
    return EngineChoice(Engine.SESSION, reason)


def find_file_for_code(options: EngineOptions) -> Attachment | None:
    """Return the first file of the question that only code in a session can read, such as a workbook."""
    if not options.files:
        return None
    accepted_type = options.capabilities.accepted_type
    return next(
        (file for file in options.files if is_kept_in_session(file) and not accepted_type(file.mime_type)), None
    )


def fits_request(files: Sequence[Attachment], capabilities: Capabilities) -> bool:
    """Return whether these files can be sent with a question."""
    if capabilities.stores_files:
        return True
    limit_bytes: int = settings.REQUEST_FILES_LIMIT_BYTES
    return sum(file.size_bytes for file in files) <= limit_bytes


def sent_files(files: Sequence[Attachment], engine: Engine | None) -> list[Attachment]:
    """Return the files that a request holds. With the session, large data files are only there."""
    return [file for file in files if engine is not Engine.SESSION or not is_kept_in_session(file)]


def may_move(turn: Turn) -> bool:
    """Return whether the code of a live turn may move to the Python session."""
    return turn.engine == Engine.NATIVE and turn.offers_session


def reason_to_move(parts: Sequence[Part]) -> str:
    """Return why code should move to the session after a round with these parts; empty if it should not.

    Only the last result counts: a model may have found another way after an earlier one.
    """
    results = [part for part in parts if isinstance(part, CodeExecutionResult) and part.engine is Engine.NATIVE]
    if not results or results[-1].outcome == OUTCOME_OK:
        return ""
    if results[-1].outcome == OUTCOME_DEADLINE_EXCEEDED:
        return TIMED_OUT
    missing = _MISSING_MODULE.search(results[-1].output or "")
    return NO_MODULE.format(name=missing[1]) if missing else ""
