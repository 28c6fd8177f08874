"""Writes a conversation as the messages of a request. Pure.

Servers refuse a request whose messages do not follow these rules, in this and in every later turn: each function call
is answered by a `tool` message directly after its own message; arguments are a JSON object; an assistant message has
content or calls; images are in messages of the user. Code that another provider ran becomes text: the code in the
assistant's message, its output and graphs in a message of the user after it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from chat.providers.fenced_text import fenced
from chat.providers.openai_compatible.contents import CallIds, Form, function_name, text_content
from chat.providers.request_writer import RequestWriter
from chat.providers.requests import Content, GenerateRequest
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

OWN_PICTURE = "[The picture that you made:]"
"""Precedes a picture of an answer, because this protocol takes pictures in messages of the user only."""
BRIDGE = "I have the results."
"""The assistant's message between a result and a message of the user, if a server demands one."""


@dataclass(slots=True)
class _Assistant:
    """A message of the assistant that is being written."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    details: list[JSON] = field(default_factory=list)
    calls: list[JSON] = field(default_factory=list)


class MessageWriter(RequestWriter):
    """Writes the messages of one request."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._messages: list[JSONObject] = []
        self._assistant = _Assistant()
        self._ids = CallIds(form.dialect.call_id_pattern)

    def write(self, request: GenerateRequest) -> list[JSONObject]:
        """Return the messages."""
        instruction = request.system_instruction
        if instruction and self._form.system_role:
            self._messages.append({"role": "system", "content": instruction})
        elif instruction:
            self._add_user([text_content(instruction)])
        self._write_contents(request)
        return [_with_plain_text(message) for message in self._messages]

    def _write_response(self, response: FunctionResponse, parts: Sequence[Part]) -> Sequence[Part]:
        text = json.dumps(dict(response.result), ensure_ascii=False)
        self._messages.append({"role": "tool", "tool_call_id": self._ids.of_response(response), "content": text})
        return parts

    def _add_to_result(self, state: str) -> bool:
        last: JSONObject = self._messages[-1] if self._messages else {}
        if last.get("role") != "tool":
            return False
        last["content"] = f"{last['content']}\n\n{state}"
        return True

    def _user_content(self, part: Part) -> list[JSON]:
        return self._form.user_content(part)

    def _write_answer(self, content: Content) -> None:
        has_code = any(isinstance(part, CodeExecutionResult) for part in content.parts)
        for part in content.parts:
            match part:
                case Text():
                    self._assistant.text.append(part.text)
                case Thought():
                    self._add_reasoning(part)
                case FunctionCall():
                    self._assistant.calls.append(self._call(part, is_own=content.is_own))
                case ExecutableCode():
                    self._assistant.text.append(fenced(part.code, part.language.lower()))
                case InlineData() if not has_code:
                    self._add_result(part, before=OWN_PICTURE)
                case CodeExecutionResult() | InlineData() | FileData():
                    self._add_result(part)
                case FunctionResponse() | ToolCall() | ToolResponse() | Display() | Unsupported():
                    # `_write_response` writes responses. The other kinds have no form in this protocol.
                    pass
                case _:
                    assert_never(part)
        self._end_assistant()

    def _add_reasoning(self, part: Thought) -> None:
        self._assistant.reasoning.append(part.text)
        details = part.provider_data.get("reasoning_details")
        self._assistant.details += details if isinstance(details, list) else []

    def _add_result(self, part: CodeExecutionResult | InlineData | FileData, *, before: str = "") -> None:
        """Write what code printed or drew, or a picture, as a message of the user. If calls are open, keep its text.

        `before`: text that precedes it in the message.
        """
        contents = self._form.user_content(part)
        if contents and before:
            contents.insert(0, text_content(before))
        if self._assistant.calls:
            self._assistant.text += [str(one["text"]) for one in contents if isinstance(one, dict) and "text" in one]
            return
        self._end_assistant()
        self._add_user(contents)

    def _end_assistant(self) -> None:
        """Append the assistant's message, unless it is empty."""
        written, self._assistant = self._assistant, _Assistant()
        text = "".join(written.text)
        if not (text.strip() or written.calls):
            # Drop a message of white space, such as that between two pictures: some servers refuse it.
            return
        message: JSONObject = {"role": "assistant", "content": text or None}
        if written.calls:
            message["tool_calls"] = written.calls
        if written.details:
            message["reasoning_details"] = written.details
        if self._form.reasoning_field:
            message[self._form.reasoning_field] = "".join(written.reasoning)
        last = self._messages[-1] if self._messages else None
        if last and last["role"] == "assistant" and not last.get("tool_calls"):
            # Join the two messages, because templates of many models demand that the roles alternate.
            message = _joined(self._messages.pop(), message)
        self._messages.append(message)

    def _add_user(self, contents: list[JSON]) -> None:
        last = self._messages[-1] if self._messages else None
        if last and last["role"] == "user" and isinstance(last["content"], list):
            last["content"] += contents
            return
        if last and last["role"] == "tool" and self._form.dialect.bridges_tool_to_user:
            self._messages.append({"role": "assistant", "content": BRIDGE})
        self._messages.append({"role": "user", "content": contents})

    def _call(self, call: FunctionCall, *, is_own: bool) -> JSONObject:
        function: JSONObject = {"name": function_name(call), "arguments": json.dumps(dict(call.arguments or {}))}
        wire_id = self._ids.add(call, call.provider_data.get("id") if is_own else None)
        wire: JSONObject = {"id": wire_id, "type": "function", "function": function}
        fields = call.provider_data.get("fields") if is_own else None
        return {**fields, **wire} if isinstance(fields, dict) else wire


def _joined(first: JSONObject, second: JSONObject) -> JSONObject:
    """Return two messages of the assistant as one. The first has no calls."""
    joined = {**first, **second}
    for name, separator in (("content", "\n\n"), ("reasoning_content", "\n"), ("reasoning_details", "")):
        one, other = first.get(name), second.get(name)
        if isinstance(one, str) and isinstance(other, str):
            joined[name] = separator.join(text for text in (one, other) if text)
        elif isinstance(one, list) and isinstance(other, list):
            joined[name] = [*one, *other]
        else:
            joined[name] = other if one is None else one
    return {name: value for name, value in joined.items() if value is not None or name == "content"}


def _with_plain_text(message: JSONObject) -> JSONObject:
    """Return the message with a string as its content if that is all text: not every server takes a list."""
    contents = message["content"]
    if not isinstance(contents, list):
        return message
    texts = [one["text"] for one in contents if isinstance(one, dict) and one["type"] == "text"]
    if len(texts) < len(contents):
        return message
    return {**message, "content": "\n\n".join(str(text) for text in texts)}
