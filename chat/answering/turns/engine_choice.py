"""Chooses where the code of an answer runs: at the model's service (native), or in the tool set that runs code.

This is decided once, when a turn starts, and stored with the turn: `Turn.engine`, `code_reason` and `offers_session`.
Tool sets, requests and a move to the tool set only read these columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings

from attachments.models import Attachment
from chat.answering.code_tools import EngineChoice, EngineOptions, code_tools
from chat.models import Conversation, Turn
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import UnknownModel, find_setup
from chat.vocabulary.parts import Engine

NO_CODE_HERE = "Code cannot be run on this server."


def choose_engine(options: EngineOptions) -> EngineChoice:
    """Return where code of an answer runs, and why. Whether the answer runs code is decided elsewhere."""
    if tools := code_tools():
        return tools.choose_engine(options)
    if options.setup.code_execution and not options.is_private:
        return EngineChoice(Engine.NATIVE)
    return EngineChoice(None, f"{options.setup.label} does not run code.")


def answers_run_code(conversation: Conversation) -> bool:
    """Return whether the conversation's model may run code with the conversation's settings. Runs a few queries."""
    if conversation.code_execution == Conversation.CodeExecution.OFF:
        return False
    try:
        setup = find_setup(conversation.model)
    except UnknownModel:
        return False
    return choose_engine(EngineOptions(setup, conversation.engine)).engine is not None


def obstacle_to_own_code() -> str:
    """Return the sentence that says why a person cannot run code on this server; empty if that is possible."""
    tools = code_tools()
    return tools.obstacle() if tools else NO_CODE_HERE


def first_for_code(options: EngineOptions, files: Sequence[Attachment]) -> Attachment | None:
    """Return the first of the files that only code in the tool set can read, such as a workbook.

    Files of accepted types that are too large for a request do not count: code moves when the request is made.
    """
    tools = code_tools()
    if tools and options.is_private:
        return next(iter(files), None)
    taken = [file for file in files if tools.takes_file(file)] if tools else []
    return next((file for file in taken if not options.capabilities.accepted_type(file.mime_type)), None)


def fits_request(files: Sequence[Attachment], capabilities: Capabilities) -> bool:
    """Return whether these files can be sent with a question."""
    if capabilities.stores_files:
        return True
    limit_bytes: int = settings.REQUEST_FILES_LIMIT_BYTES
    return sum(file.size_bytes for file in files) <= limit_bytes


def sent_files(files: Sequence[Attachment], engine: Engine | None) -> list[Attachment]:
    """Return the files that a request contains. Files that the tool set takes are not sent."""
    tools = code_tools() if engine is Engine.SESSION else None
    return [file for file in files if tools is None or not tools.takes_file(file)]


def may_move(turn: Turn) -> bool:
    """Return whether the code of a live turn may move to the tool set."""
    return turn.engine == Engine.NATIVE and turn.offers_session
