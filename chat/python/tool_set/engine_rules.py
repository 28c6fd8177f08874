"""Chooses where the code of an answer runs: in the Python session or at the model's service."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.answering.code_tools import EngineChoice, EngineOptions
from chat.answering.turns.engine_choice import first_for_code, fits_request
from chat.models import Conversation
from chat.python.sessions.places import is_enabled
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, CodeExecutionResult, Engine, Part

TIMED_OUT = "The code ran out of time at the model's service, so code runs in the Python session from here on."
NO_MODULE = (
    "The model's service does not have the Python module “{name}”, so code runs in the Python session from here on."
)

PRIVATE_OBSTACLE = (
    "The data of this conversation are private, so code runs in the Python session only, which {label} cannot use here."
)

_MISSING_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]{0,99})")


def choose_engine(options: EngineOptions) -> EngineChoice:
    """Choose where the code of an answer runs, or that it runs no code."""
    label, setting = options.setup.label, options.setting
    engines = Conversation.Engine
    if options.is_private:
        if not options.setup.allows_code or _obstacle(options):
            return EngineChoice(None, PRIVATE_OBSTACLE.format(label=label))
        return _session(options, "It runs in the Python session, because the data of this conversation are private.")
    if options.setup.code_execution:
        if setting == engines.NATIVE:
            return EngineChoice(Engine.NATIVE)
        if obstacle := _obstacle(options):
            # Say why the session is not used only if the person has chosen it.
            return EngineChoice(Engine.NATIVE, obstacle if setting == engines.SESSION else "")
        if reason := _reason(options):
            return _session(options, reason)
        return EngineChoice(Engine.NATIVE, offers_session=True)
    if not options.setup.allows_code or _obstacle(options):
        return EngineChoice(None, f"{label} does not run code.")
    if setting == engines.NATIVE:
        return EngineChoice(None, f"{label} does not run code itself, and this conversation runs code nowhere else.")
    if setting == engines.SESSION:
        return _session(options, _reason(options))
    return _session(options, f"It runs in the Python session, because {label} does not run code itself.")


def _reason(options: EngineOptions) -> str:
    """Return why the session is preferred to native execution; empty if it is not."""
    if options.setting == Conversation.Engine.SESSION:
        return "It runs in the Python session, as this conversation is set."
    if options.has_state():
        return "It runs in the Python session, which holds the variables of this conversation."
    if options.files and not fits_request(options.files, options.capabilities):
        return "It runs in the Python session, because the files are too large to be sent to the model's service."
    if file := first_for_code(options, options.files) or first_for_code(options, options.find_earlier_files()):
        return f"It runs in the Python session, because the model's service does not take files like “{file.name}”."
    return ""


def _obstacle(options: EngineOptions) -> str:
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
