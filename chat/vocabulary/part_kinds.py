"""Roles, kinds of parts, engines and outcomes of code. Pure. Import these names from `parts`."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
JSONObject: TypeAlias = "dict[str, JSON]"


class Role(StrEnum):
    """The author of a message."""

    USER = "user"
    MODEL = "model"


class PartKind(StrEnum):
    """The kind of a part. The same string is used in the database, the templates, the API and the exports."""

    TEXT = "text"
    THOUGHT = "thought"
    EXECUTABLE_CODE = "executable_code"
    CODE_EXECUTION_RESULT = "code_execution_result"
    INLINE_DATA = "inline_data"
    FILE_DATA = "file_data"
    FUNCTION_CALL = "function_call"
    FUNCTION_RESPONSE = "function_response"
    TOOL_CALL = "tool_call"
    TOOL_RESPONSE = "tool_response"
    DISPLAY = "display"
    UNSUPPORTED = "unsupported"


class Engine(StrEnum):
    """Where code runs."""

    NATIVE = "native"
    """In the provider's own sandbox."""
    SESSION = "session"
    """In the Python session of the conversation."""


class Refusal(StrEnum):
    """Why the model gets something else than the result of a function: a sentence, or the result without
    private data.
    """

    DENIED = "denied"
    """A person did not allow the call, so nothing was run."""
    WITHHELD = "withheld"
    """The call was run, but no person has released its result."""
    NOT_RUN = "not_run"
    """The answer ended before the call began, so nothing was run."""
    ABORTED = "aborted"
    """The answer ended while the call ran, and the call was stopped."""
    LOST = "lost"
    """The server was interrupted while the call ran, so it does not know how the call ended."""
    PRIVATE = "private"
    """The data of the conversation are private: the model gets the result without rows, cells and texts of files."""


OUTCOME_OK = "OUTCOME_OK"
OUTCOME_FAILED = "OUTCOME_FAILED"
OUTCOME_DEADLINE_EXCEEDED = "OUTCOME_DEADLINE_EXCEEDED"
# The outcomes below are Plotline's own. Only code of the Python session has them.
OUTCOME_RUNNING = ""
"""The code has not ended. Results of code in a provider's sandbox may lack an outcome too, although that code has
ended.
"""
OUTCOME_ABORTED = "OUTCOME_ABORTED"
"""The code was stopped because its answer ended."""
OUTCOME_LOST = "OUTCOME_LOST"
"""The server was interrupted while the code ran, so it does not know how the code ended."""
