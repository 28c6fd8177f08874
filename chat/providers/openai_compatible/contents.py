"""Writes parts of people and of code as content of a user's message, and gives function calls their ids. Pure."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import assert_never

from attachments.images import is_image_type
from chat.providers.fenced_text import fenced
from chat.providers.openai_compatible.dialects import Dialect
from chat.vocabulary.code_outcomes import outcome_words
from chat.vocabulary.parts import (
    JSON,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)

INVALID_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
NAME_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Form:
    """The features that the messages of a request may use."""

    dialect: Dialect
    images: bool = True
    system_role: bool = True
    """Whether messages may have the role `system`. If not, the instruction precedes the first question."""
    reasoning_field: str = ""
    """The field of every assistant message that holds the model's reasoning. Empty: reasoning is not sent back."""

    def user_content(self, part: Part) -> list[JSON]:
        """Return a part as content of a user's message."""
        match part:
            case Text():
                return [text_content(part.text)] if part.text else []
            case CodeExecutionResult():
                ending = outcome_words(part).for_model
                return [text_content(f"[The code {ending}. Its output:]\n{fenced(part.output or '', '')}")]
            case InlineData():
                return [self._file(part)] if part.data else []
            case FileData():
                return [text_content("[A file was here; it is not sent again.]")]
            case ExecutableCode():
                return [text_content(fenced(part.code, part.language.lower()))]
            case FunctionResponse() | FunctionCall() | Thought():
                return []
            case ToolCall() | ToolResponse() | Display() | Unsupported():
                return []
            case _:
                assert_never(part)

    def _file(self, part: InlineData) -> JSON:
        data = part.data or b""
        if part.mime_type.startswith("text/"):
            return text_content(f"[File {part.name}]\n{fenced(data.decode('utf-8', 'replace'), '')}")
        if is_image_type(part.mime_type):
            if not self.images:
                return text_content(f"[The image {part.name} was here; this model does not read images.]")
            return {"type": "image_url", "image_url": {"url": _data_url(part.mime_type, data)}}
        if part.mime_type == "application/pdf" and self.dialect.takes_pdf:
            return {"type": "file", "file": {"filename": part.name, "file_data": _data_url(part.mime_type, data)}}
        return text_content(f"[The file {part.name} was here; this model does not read such files.]")


class CallIds:
    """Ids of function calls that are unique in a request. The ids of parts are unique only in one answer."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        """`pattern`: matches the ids that the server takes."""
        self._pattern = pattern
        self._used: set[str] = set()
        self._by_call: dict[str, str] = {}
        """`call_id` -> id in the request of the last call that had it."""

    def add(self, call: FunctionCall, own: JSON) -> str:
        """Return the id of a call: the server's own, if it is valid and not used before in this request."""
        wire_id = own if isinstance(own, str) and own else call.call_id
        number = 0
        while wire_id in self._used or not self._pattern.fullmatch(wire_id):
            # The id is the same in each request of a conversation, so the server's cache of the prompt stays valid.
            wire_id = hashlib.sha256(f"{call.call_id} {len(self._used)} {number}".encode()).hexdigest()[:9]
            number += 1
        self._used.add(wire_id)
        self._by_call[call.call_id] = wire_id
        return wire_id

    def of_response(self, response: FunctionResponse) -> str:
        """Return the id of the call to which a response belongs."""
        return self._by_call.get(response.call_id, response.call_id)


def function_name(call: FunctionCall) -> str:
    """Return the name of a call in a form that servers take: a model may invent any name, and requests repeat it."""
    return INVALID_IN_NAME.sub("_", call.name)[:NAME_LIMIT] or "unnamed"


def text_content(text: str) -> JSONObject:
    """Return a text as content."""
    return {"type": "text", "text": text}


def _data_url(mime_type: str, data: bytes) -> str:
    return f"data:{mime_type};base64,{base64.b64encode(data).decode()}"
