"""The rules that a request can break. A profile decides which of them its server enforces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto


class Rule(StrEnum):
    """What a server may demand of a request."""

    KEY = auto()
    """The API key is valid."""
    MODEL = auto()
    """The model exists."""
    FIELD = auto()
    """The request, its messages and its function calls have only known fields."""

    MESSAGES_NOT_EMPTY = auto()
    ROLE = auto()
    """Every role is known."""
    SYSTEM_FIRST = auto()
    SYSTEM_ROLE = auto()
    """The model takes no system message."""
    CONTENT = auto()
    """The content of a message is a string or a list; `null` only with function calls."""
    CALLS_NOT_EMPTY = auto()
    ASSISTANT_LAST = auto()
    """The last message is not the assistant's."""

    CALL_ID_UNIQUE = auto()
    """No two calls of one request have the same id."""
    CALL_ID_FORM = auto()
    ARGUMENTS = auto()
    """The arguments of a call are a string with a JSON object."""
    CALL_ANSWERED = auto()
    """Each call is answered by one message, directly after the message with the call."""
    RESULT_HAS_CALL = auto()
    """A message with the role `tool` answers a call of the message before."""
    USER_NOT_AFTER_TOOL = auto()
    REASONING_RETURNED = auto()
    """Every assistant message has `reasoning_content`."""

    IMAGES = auto()
    """The model takes no images."""
    IMAGE_ROLE = auto()
    """Only messages of the user have images."""
    IMAGE_DATA = auto()
    """An image is a data URL in base64."""

    TOOLS = auto()
    """The model takes no functions."""
    TOOLS_NOT_EMPTY = auto()
    TOOL_NAME = auto()
    PYTHON_RESERVED = auto()
    """No function is named `python`."""
    CHOICE_HAS_TOOLS = auto()
    FORCED_CHOICE = auto()
    """A function cannot be demanded."""
    TOOLS_WITHOUT_EFFORT = auto()
    """Functions demand `reasoning_effort: none`."""

    MAX_TOKENS = auto()
    """A reasoning model takes only `max_completion_tokens`."""
    SAMPLING = auto()
    """A reasoning model takes no `temperature` and the like."""
    USAGE_OPTION = auto()
    """The server takes no `stream_options`."""
    CONTEXT = auto()
    """The request fits into the context window."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a request breaks, with the words for the server's message."""

    rule: Rule
    words: Mapping[str, object] = field(default_factory=dict)
    """Values for the placeholders of the message."""
    path: tuple[str | int, ...] = ()
    """Where in the request it is."""
    value: object = None
    """What is there."""
