"""Writes a conversation as the items of a request to the Responses API. Pure.

The items of an answer of the same model are sent back unchanged and in order, with `call_id`s that are unique in the
request. Answers of other models become messages, calls and outputs. The outputs of parallel calls follow all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from attachments.images import is_image_type
from chat.providers.fenced_text import fenced
from chat.providers.openai_compatible.contents import CallIds, Form, function_name, text_content
from chat.providers.openai_compatible.dialects import Dialect
from chat.providers.openai_compatible.messages import OWN_PICTURE
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

CALL_TYPES = frozenset({"function_call", "custom_tool_call"})


@dataclass(slots=True)
class _Answer:
    """One round of an answer that is being written."""

    is_own: bool
    items: list[tuple[int, JSONObject]] = field(default_factory=list)
    """The items, each with its index in the response."""
    text: list[str] = field(default_factory=list)
    code_ids: set[str] = field(default_factory=set)
    """`call_id`s of code whose item is sent back, which includes the output."""

    def add(self, item: JSONObject, index: JSON = None) -> None:
        """Append an item, after the text before it. `index`: its index in the response, if it is known."""
        self.end_message({})
        self._append(item, index)

    def end_message(self, fields: Mapping[str, JSON], index: JSON = None) -> None:
        """Append a message with the text so far. `fields`: its other fields."""
        text = "".join(self.text)
        self.text.clear()
        if text.strip():
            # Servers that validate items accept a string, or contents in the form that they write themselves.
            content: JSON = [{"type": "output_text", "text": text}] if self.is_own else text
            self._append({"type": "message", "role": "assistant", "content": content, **fields}, index)

    def _append(self, item: JSONObject, index: JSON) -> None:
        last = self.items[-1][0] if self.items else 0
        self.items.append((index if isinstance(index, int) else last, item))

    def ordered(self) -> list[JSONObject]:
        """Return the items in the order of the response: reasoning may have ended after the text that follows it."""
        self.end_message({})
        if self.is_own:
            return [item for _, item in sorted(self.items, key=lambda one: one[0])]
        # Put calls last, because nothing may be between a call and its output.
        return [item for _, item in sorted(self.items, key=lambda one: one[1]["type"] in CALL_TYPES)]


class ItemWriter(RequestWriter):
    """Writes the items of one request."""

    def __init__(self, form: Form, *, output_images: bool) -> None:
        """`output_images`: whether the output of a function may hold images. If not, they follow in a message."""
        self._form = form
        self._output_images = output_images and form.images
        self._items: list[JSONObject] = []
        self._ids = CallIds(Dialect().call_id_pattern)
        self._custom_ids: set[str] = set()
        """The ids of calls of custom tools, whose input is a text."""

    def write(self, request: GenerateRequest) -> list[JSONObject]:
        """Return the items. The system instruction is not among them."""
        self._write_contents(request)
        return [_with_plain_text(item) for item in self._items]

    def _write_response(self, response: FunctionResponse, parts: Sequence[Part]) -> Sequence[Part]:
        text = json.dumps(dict(response.result), ensure_ascii=False)
        call_id = self._ids.of_response(response)
        kind = "custom_tool_call_output" if call_id in self._custom_ids else "function_call_output"
        images = [part for part in parts if self._output_images and _is_image_of(part, response)]
        contents = [one for part in images for one in self._user_content(part)]
        output: JSON = [_input_content(text_content(text)), *contents] if contents else text
        self._items.append({"type": kind, "call_id": call_id, "output": output})
        return [part for part in parts if part not in images]

    def _add_to_result(self, state: str) -> bool:
        last = self._items[-1] if self._items else {}
        output = last.get("output")
        if isinstance(output, list):
            output.append(_input_content(text_content(state)))
        elif isinstance(output, str):
            last["output"] = f"{output}\n\n{state}"
        return isinstance(output, list | str)

    def _write_answer(self, content: Content) -> None:
        answer = _Answer(content.is_own)
        has_code = any(isinstance(part, CodeExecutionResult) for part in content.parts)
        round_number = content.parts[0].round if content.parts else 0
        for part in content.parts:
            if part.round != round_number:
                self._items += answer.ordered()
                answer, round_number = _Answer(content.is_own), part.round
            self._write_part(answer, part, has_code=has_code)
        self._items += answer.ordered()

    def _write_part(self, answer: _Answer, part: Part, *, has_code: bool) -> None:
        data = part.provider_data if answer.is_own else {}
        item, index = data.get("item"), data.get("index")
        match part:
            case Text() if isinstance(item, dict):
                answer.end_message({name: value for name, value in item.items() if name == "phase"}, index)
            case Text():
                answer.text.append(part.text)
            case FunctionCall():
                answer.add(self._call(part, item if isinstance(item, dict) else {}), index)
            case Thought() | ExecutableCode() | ToolCall() | Unsupported() if isinstance(item, dict):
                answer.add(item, index)
                if isinstance(part, ExecutableCode):
                    answer.code_ids.add(part.call_id)
            case ExecutableCode():
                answer.text.append(fenced(part.code, part.language.lower()))
            case CodeExecutionResult() if part.call_id in answer.code_ids:
                pass
            case CodeExecutionResult() | InlineData() | FileData():
                self._write_result(answer, part, is_picture=isinstance(part, InlineData) and not has_code)
            case Thought() | FunctionResponse() | ToolCall() | ToolResponse() | Display() | Unsupported():
                # `_write_response` writes responses. The other kinds have no form in this protocol.
                pass
            case _:
                assert_never(part)

    def _write_result(self, answer: _Answer, part: Part, *, is_picture: bool) -> None:
        """Write what code printed or drew, or a picture, as a message of the user."""
        contents = self._user_content(part)
        if contents and is_picture:
            contents.insert(0, _input_content(text_content(OWN_PICTURE)))
        if contents:
            answer.add({"type": "message", "role": "user", "content": contents})

    def _call(self, call: FunctionCall, own: Mapping[str, JSON]) -> JSONObject:
        """Return the item of a call. Arguments that are no JSON object become `{}`, because servers refuse them."""
        call_id = self._ids.add(call, own.get("call_id"))
        if own.get("type") == "custom_tool_call":
            self._custom_ids.add(call_id)
            return {**own, "call_id": call_id, "name": function_name(call)}
        arguments = own.get("arguments") if call.arguments else None
        text = arguments if isinstance(arguments, str) else json.dumps(dict(call.arguments or {}))
        wire: JSONObject = {"type": "function_call", "call_id": call_id, "name": function_name(call), "arguments": text}
        return {**own, **wire}

    def _user_content(self, part: Part) -> list[JSON]:
        return [_input_content(one) for one in self._form.user_content(part) if isinstance(one, dict)]

    def _add_user(self, contents: list[JSON]) -> None:
        last = self._items[-1] if self._items else {}
        if last.get("role") == "user" and isinstance(last["content"], list):
            last["content"] += contents
        else:
            self._items.append({"type": "message", "role": "user", "content": contents})


def _is_image_of(part: Part, response: FunctionResponse) -> bool:
    return isinstance(part, InlineData) and is_image_type(part.mime_type) and part.made_by == response.call_id


def _input_content(content: JSONObject) -> JSONObject:
    """Return a content of chat completions in the form of this protocol."""
    match content:
        case {"image_url": {"url": str(url)}}:
            return {"type": "input_image", "image_url": url}
        case {"file": dict(file)}:
            return {"type": "input_file", **file}
        case _:
            return {"type": "input_text", "text": content["text"]}


def _with_plain_text(item: JSONObject) -> JSONObject:
    """Return a message of the user. If its content is only text, make it a string, which every server takes."""
    contents = item.get("content")
    if item.get("role") != "user" or not isinstance(contents, list):
        return item
    texts = [one["text"] for one in contents if isinstance(one, dict) and one["type"] == "input_text"]
    return item if len(texts) < len(contents) else {**item, "content": "\n\n".join(map(str, texts))}
