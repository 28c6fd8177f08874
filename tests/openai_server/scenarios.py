"""The answers that depend on the request. `shapes` has those that are always the same bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias

from PIL import Image

from chat.emulator.generation_request import NOTE
from tests.openai_server.shapes import DONE, chunk
from tests.openai_server.violations import count_tokens, image_urls

REASONING = "I have to think about this."
ARGUMENTS = '{"value": 1}'
"""They fit the functions of all tests but those that run code."""
WORDS = re.compile(r"\S+\s*|\s+")


class Pause(Enum):
    """A step without bytes."""

    SILENCE = auto()
    """Send nothing until the client closes the connection. As the first step: not even a status line."""
    CUT = auto()
    """Close the connection in the middle of the response."""


Step: TypeAlias = bytes | Pause
Call: TypeAlias = tuple[str, str]
"""Name and arguments of a function call."""
FIRST_WORDS = [chunk({"content": word}) for word in WORDS.findall("The first words")]


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """A request that was accepted."""

    profile: str
    number: int
    """Number of the request. It makes the ids of calls unique."""
    body: Mapping[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def functions(self) -> list[str]:
        """The names of the declared functions."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]

    @property
    def question(self) -> str:
        """The text of the last message of the user."""
        return next(text_of(message) for message in reversed(self.messages) if message["role"] == "user")

    @property
    def usage(self) -> dict[str, int]:
        """The tokens of the request and of its answer."""
        tokens = count_tokens(self.body)
        return {"prompt_tokens": tokens, "completion_tokens": 7, "total_tokens": tokens + 7}

    def results(self) -> list[str]:
        """Return the results of functions that no answer has followed yet.

        Images of results follow them in a message of the user. In front of it, there may be a message of the assistant.
        """
        messages = list(self.messages)
        if messages[-1]["role"] == "user" and image_urls(messages[-1]):
            messages.pop()
            if messages and messages[-1]["role"] == "assistant" and not messages[-1].get("tool_calls"):
                messages.pop()
        results: list[str] = []
        while messages and messages[-1]["role"] == "tool":
            results.insert(0, text_of(messages.pop()))
        return results

    def call_id(self, index: int) -> str:
        """Return the id of a call in the form of the server. Some servers repeat the ids in every answer."""
        digest = hashlib.sha256(f"{self.number} {index}".encode()).hexdigest()
        return {"generic": str(index), "mistral": digest[:9]}.get(self.profile, f"call_{digest[:24]}")


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message without the client's notes about the date and its tools."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content.partition(f"\n\n{NOTE}")[0]
    return "".join(text for part in content if not (text := part.get("text", "")).startswith(NOTE))


def first_pixel(messages: list[dict[str, Any]]) -> str:
    """Return the colour of the first pixel of the last image, such as `#ff0000`; empty if there is no image."""
    urls = [url for message in messages for url in image_urls(message)]
    if not urls:
        return ""
    data = base64.b64decode(urls[-1].partition(";base64,")[2], validate=True)
    with Image.open(io.BytesIO(data)) as image:
        return "#" + image.convert("RGB").tobytes()[:3].hex()


def answer(request: ScenarioRequest, text: str, reasoning: str = "", calls: Iterable[Call] = ()) -> Iterator[bytes]:
    """Yield an answer: one chunk for each word, and the arguments of each call in two pieces."""
    yield chunk({"role": "assistant", "content": ""})
    for name, words in (("reasoning_content", reasoning), ("content", text)):
        for piece in WORDS.findall(words):
            yield chunk({name: piece})
    finish_reason = "stop"
    for index, (name, arguments) in enumerate(calls):
        finish_reason = "tool_calls"
        function = {"name": name, "arguments": arguments[:5]}
        first = {"index": index, "id": request.call_id(index), "type": "function", "function": function}
        yield chunk({"tool_calls": [first]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[5:]}}]})
    yield chunk({}, finish_reason)
    # Mistral reports the usage without being asked.
    if request.profile == "mistral" or request.body.get("stream_options", {}).get("include_usage"):
        yield chunk({}, choices=[], usage=request.usage)
    yield DONE


def answer_results(request: ScenarioRequest) -> Iterator[bytes]:
    """Yield an answer that repeats the results of functions, and says how their image begins."""
    sentences = [f"The result is {result}." for result in request.results()]
    colour = first_pixel(request.messages[-1:])
    if colour:
        sentences.append(f"The image begins with {colour}.")
    return answer(request, " ".join(sentences))


def answer_calls(request: ScenarioRequest, *calls: Call, text: str = "") -> Iterator[bytes]:
    """Yield function calls, or the answer to their results. Without functions, repeat the question."""
    if request.results():
        return answer_results(request)
    if not request.functions:
        return answer(request, f"You asked: {request.question}")
    return answer(request, text, REASONING, calls)


def script_calls(request: ScenarioRequest) -> list[Call]:
    """Return a call for each block of code in the question, which lines of `---` separate."""
    # Files stand before the question, each in a fence.
    script = request.question.rpartition("```")[2].strip()
    return [("run_python", json.dumps({"code": block})) for block in script.split("\n---\n")]


def example_calls(request: ScenarioRequest, count: int = 1) -> list[Call]:
    """Return calls of the first functions."""
    return [(name, ARGUMENTS) for name in request.functions[:count]]


SCENARIOS: Mapping[str, Callable[[ScenarioRequest], Iterable[Step]]] = {
    "text": lambda request: answer(request, f"You asked: {text_of(request.messages[-1])}"),
    "reasoning": lambda request: answer(request, "The answer is 42.", REASONING),
    "image": lambda request: answer(request, f"It begins with {first_pixel(request.messages) or 'no colour'}."),
    # These call functions in one answer, and repeat the results in the next one.
    "call": lambda request: answer_calls(request, *example_calls(request)),
    "two-calls": lambda request: answer_calls(request, *example_calls(request, 2), text="I call both. "),
    "script": lambda request: answer_calls(request, *script_calls(request)),
    "unknown-call": lambda request: answer_calls(request, ("no_such_function", "{}")),
    "bad-arguments": lambda request: answer_calls(request, (request.functions[0], '{"value": ')),
    # This one calls a function in every answer.
    "forever": lambda request: answer(request, "", calls=example_calls(request)),
    # These do not end.
    "silent": lambda request: [Pause.SILENCE],
    "stalls": lambda request: [*FIRST_WORDS, Pause.SILENCE],
    "cut": lambda request: [*FIRST_WORDS, Pause.CUT],
    "cut-in-event": lambda request: [*FIRST_WORDS, chunk({"content": "lost"})[:-20], Pause.CUT],
}
"""The scenarios by the name that a model has after its traits."""
