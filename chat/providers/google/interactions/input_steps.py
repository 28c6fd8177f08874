"""Writes a conversation as the steps of a request to the Interactions API. Pure.

The steps of an answer of the same model are sent back unchanged. Answers of other models become text, because
the API refuses calls that it has not signed: the model gets their code as its own text, their results from the user.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import assert_never

from chat.providers.fenced_text import fenced
from chat.providers.google.interactions.steps import step_of
from chat.providers.request_writer import RequestWriter
from chat.providers.requests import Content, GenerateRequest
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

USER_INPUT, MODEL_OUTPUT = "user_input", "model_output"
ANNOTATIONS = "annotations"
MEDIA = frozenset({"image", "audio", "video"})
FOREIGN_CALL = "[The function {name} was called with {arguments}. It returned: {result}]"


class StepWriter(RequestWriter):
    """Writes the steps of one request."""

    def __init__(self) -> None:
        self._steps: list[JSONObject] = []
        self._is_open = False
        """Whether more content may be added to the last step."""
        self._calls: dict[str, FunctionCall] = {}
        """`call_id` -> last call with it, to which a response belongs. Calls of several answers may have one id."""
        self._results: list[JSON] = []
        """The contents of the last result of code. `None` stands for each of its images, which are the next parts."""

    def write(self, request: GenerateRequest) -> list[JSONObject]:
        """Return the steps. The system instruction is not among them."""
        self._write_contents(request)
        return [_without_gaps(step) for step in self._steps]

    def _write_question(self, content: Content) -> None:
        self._is_open = False
        super()._write_question(content)

    def _write_response(self, response: FunctionResponse, parts: Sequence[Part]) -> Sequence[Part]:
        """Write the result of a function; if another model called it, as a text of the user."""
        call = self._calls.get(response.call_id)
        step = call.provider_data.get("step") if call else None
        if not isinstance(step, dict):
            arguments = json.dumps(dict((call.arguments if call else None) or {}), ensure_ascii=False)
            result = json.dumps(dict(response.result), ensure_ascii=False)
            text = Text(FOREIGN_CALL.format(name=response.name, arguments=arguments, result=result))
            return [text if part is response else part for part in parts]
        wire: JSONObject = {"type": "function_result", "call_id": step.get("id", ""), "name": response.name}
        is_error: JSONObject = {"is_error": True} if response.is_error else {}
        self._append({**wire, "result": dict(response.result), **is_error})
        return parts

    def _add_to_result(self, state: str) -> bool:
        last = self._steps[-1] if self._steps else {}
        if last.get("type") == "function_result":
            last["result"] = [_text(json.dumps(last["result"], ensure_ascii=False)), _text(state)]
            return True
        self._is_open = last.get("type") == USER_INPUT
        return False

    def _user_content(self, part: Part) -> Sequence[JSON]:
        return file_content(part)

    def _add_user(self, contents: list[JSON]) -> None:
        for one in contents:
            self._add(USER_INPUT, one)

    def _write_answer(self, content: Content) -> None:
        self._is_open = False
        for part in content.parts:
            self._write_part(part, is_own=content.is_own)

    def _write_part(self, part: Part, *, is_own: bool) -> None:
        data = part.provider_data if is_own else {}
        step, place = data.get("step"), data.get("place")
        if isinstance(part, FunctionCall):
            self._calls[part.call_id] = part
        match part:
            case Text() if isinstance(step, dict):
                self._end_output(step)
            case Text():
                self._add_text(part.text)
            case InlineData() if isinstance(place, int) and place < len(self._results):
                self._results[place] = _media(part, data.get("content"))
            case InlineData() | FileData():
                for one in file_content(part):
                    self._add(MODEL_OUTPUT if is_own else USER_INPUT, one)
            case _ if isinstance(step, dict):
                self._append(step_of(part, step))
            case ExecutableCode():
                self._add_text(fenced(part.code, part.language.lower()))
            case CodeExecutionResult():
                ending = outcome_words(part).for_model
                text = f"[The code {ending}. Its output:]\n{fenced(part.output or '', '')}"
                self._add(USER_INPUT, _text(text))
            case FunctionCall() | FunctionResponse():
                # These are calls of other models. `_write_response` writes each call together with its response.
                pass
            case Thought() | ToolCall() | ToolResponse() | Display() | Unsupported():
                pass
            case _:
                assert_never(part)

    def _add_text(self, text: str) -> None:
        """Add text to the open output. Pieces of text that follow each other become one content."""
        last = self._contents()[-1:] if self._is_open and self._steps[-1]["type"] == MODEL_OUTPUT else []
        if last and isinstance(last[0], dict) and last[0]["type"] == "text":
            last[0]["text"] = f"{last[0]['text']}{text}"
        elif text:
            self._add(MODEL_OUTPUT, _text(text))

    def _end_output(self, step: JSONObject) -> None:
        """End the open output, and add the other fields of its step. Citations name positions in its last text."""
        if self._is_open and self._steps[-1]["type"] == MODEL_OUTPUT:
            self._steps[-1] |= {name: value for name, value in step.items() if name != ANNOTATIONS}
            texts = [one for one in self._contents() if isinstance(one, dict) and one["type"] == "text"]
            if texts and step.get(ANNOTATIONS):
                texts[-1][ANNOTATIONS] = step[ANNOTATIONS]
        self._is_open = False

    def _add(self, kind: str, content: JSON) -> None:
        """Add content to the last step, or to a new one of this kind."""
        if not (self._is_open and self._steps[-1]["type"] == kind):
            self._append({"type": kind, "content": []})
            self._is_open = True
        self._contents().append(content)

    def _append(self, step: JSONObject) -> None:
        result = step.get("result")
        self._results = result if isinstance(result, list) else []
        self._is_open = False
        self._steps.append(step)

    def _contents(self) -> list[JSON]:
        contents = self._steps[-1]["content"]
        assert isinstance(contents, list)
        return contents


def file_content(part: Part) -> list[JSONObject]:
    """Return a text or a file as content; an empty list if it is empty, and for other parts."""
    match part:
        case Text() if part.text:
            return [_text(part.text)]
        case InlineData() if part.data:
            return [_media(part, part.provider_data.get("content"))]
        case FileData():
            return [{"type": _media_type(part.mime_type), "mime_type": part.mime_type, "uri": part.uri}]
        case _:
            return []


def _without_gaps(step: JSONObject) -> JSONObject:
    """Return a step whose result has no `None`. A `None` is left for each image that is not sent."""
    result = step.get("result")
    if not isinstance(result, list) or None not in result:
        return step
    return {**step, "result": [one for one in result if one is not None]}


def _media(part: InlineData, fields: JSON) -> JSONObject:
    """Return bytes as content. `fields`: the other fields that the content had."""
    data = base64.b64encode(part.data or b"").decode("ascii")
    wire: JSONObject = {"type": _media_type(part.mime_type), "mime_type": part.mime_type, "data": data}
    return {**wire, **(fields if isinstance(fields, dict) else {})}


def _media_type(mime_type: str) -> str:
    family = mime_type.partition("/")[0]
    return family if family in MEDIA else "document"


def _text(text: str) -> JSONObject:
    return {"type": "text", "text": text}
