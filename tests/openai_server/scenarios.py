"""The answers that depend on the request. `shapes` has those that are always the same bytes."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from PIL import Image

from tests.openai_server.answers import Pause, Step
from tests.openai_server.chunks import Call, ChunkWriter
from tests.openai_server.shape import DONE, events
from tests.openai_server.violations import image_urls

REASONING = "I have to think about this."


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """A request, and the writer of its answer."""

    body: Mapping[str, Any]
    writer: ChunkWriter

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The declared functions."""
        return [tool["function"] for tool in self.body.get("tools") or []]

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


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message without the client's note about its tools."""
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return text.partition("\n\n[Note of the server")[0]


Scenario: TypeAlias = Callable[[ScenarioRequest], Iterator[Step]]

SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Register a function as the scenario of its name."""
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


def first_pixel(messages: list[dict[str, Any]]) -> str:
    """Return the colour of the first pixel of the last image, such as `#ff0000`; empty if there is no image."""
    urls = [url for message in messages for url in image_urls(message)]
    if not urls:
        return ""
    data = base64.b64decode(urls[-1].partition(";base64,")[2], validate=True)
    with Image.open(io.BytesIO(data)) as image:
        pixel = image.convert("RGB").getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return "#" + bytes(int(value) for value in pixel).hex()


def example_call(function: Mapping[str, Any]) -> Call:
    """Return a call with arguments that fit the schema of the function."""
    examples: dict[str, object] = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    properties = function.get("parameters", {}).get("properties", {})
    values = {
        name: "print(6 * 7)" if name == "code" else examples.get(schema.get("type"), "example")
        for name, schema in properties.items()
    }
    return Call(function["name"], json.dumps(values))


def answer_text(request: ScenarioRequest, text: str, reasoning: str = "") -> Iterator[Step]:
    """Yield an answer that consists of text."""
    yield request.writer.start()
    yield from request.writer.reasoning(reasoning)
    yield from request.writer.text(text)
    yield from request.writer.end("stop")


def answer_results(request: ScenarioRequest) -> Iterator[Step]:
    """Yield an answer that repeats the results of functions, and says how their image begins."""
    sentences = [f"The result is {result}." for result in request.results()]
    colour = first_pixel(request.messages[-1:])
    if colour:
        sentences.append(f"The image begins with {colour}.")
    return answer_text(request, " ".join(sentences))


def answer_call(request: ScenarioRequest, *calls: Call, text: str = "") -> Iterator[Step]:
    """Yield function calls, or the answer to their results."""
    if request.results():
        yield from answer_results(request)
        return
    yield request.writer.start()
    yield from request.writer.reasoning(REASONING)
    yield from request.writer.text(text)
    yield from request.writer.calls(calls)


@scenario
def text(request: ScenarioRequest) -> Iterator[Step]:
    """Repeat the last question."""
    return answer_text(request, f"You asked: {text_of(request.messages[-1])}")


@scenario
def reasoning(request: ScenarioRequest) -> Iterator[Step]:
    """Think, then answer."""
    return answer_text(request, "The answer is 42.", REASONING)


@scenario
def call(request: ScenarioRequest) -> Iterator[Step]:
    """Call the first function, then repeat its result."""
    return answer_call(request, example_call(request.functions[0])) if request.functions else text(request)


@scenario
def script(request: ScenarioRequest) -> Iterator[Step]:
    """Run the blocks of code in the last question, which lines of `---` separate, in one answer; repeat the results."""
    question = next(text_of(message) for message in reversed(request.messages) if message["role"] == "user")
    # Files stand before the question, each in a fence.
    script = question.rpartition("```")[2].strip()
    calls = [Call("run_python", json.dumps({"code": block})) for block in script.split("\n---\n")]
    return answer_call(request, *calls) if request.functions else text(request)


@scenario
def two_calls(request: ScenarioRequest) -> Iterator[Step]:
    """Call the first two functions in one answer, after a text."""
    return answer_call(request, *map(example_call, request.functions[:2]), text="I call both. ")


@scenario
def unknown_call(request: ScenarioRequest) -> Iterator[Step]:
    """Call a function that was not declared."""
    return answer_call(request, Call("no_such_function", "{}"))


@scenario
def bad_arguments(request: ScenarioRequest) -> Iterator[Step]:
    """Call the first function with arguments that are no JSON."""
    return answer_call(request, Call(request.functions[0]["name"], '{"value": '))


@scenario
def forever(request: ScenarioRequest) -> Iterator[Step]:
    """Call the first function in every answer."""
    yield request.writer.start()
    yield from request.writer.calls([example_call(request.functions[0])])


@scenario
def image(request: ScenarioRequest) -> Iterator[Step]:
    """Say with which colour the last image begins."""
    return answer_text(request, f"It begins with {first_pixel(request.messages) or 'no colour'}.")


@scenario
def silent(request: ScenarioRequest) -> Iterator[Step]:
    """Send no byte."""
    yield Pause.SILENCE


def first_words(request: ScenarioRequest, *steps: Step) -> Iterator[Step]:
    """Yield some text, then other steps."""
    yield request.writer.start()
    yield from request.writer.text("The first words")
    yield from steps


@scenario
def stalls(request: ScenarioRequest) -> Iterator[Step]:
    """Send some text, then nothing."""
    return first_words(request, Pause.SILENCE)


@scenario
def cut(request: ScenarioRequest) -> Iterator[Step]:
    """Close the connection after some text."""
    return first_words(request, Pause.CUT)


@scenario
def cut_in_event(request: ScenarioRequest) -> Iterator[Step]:
    """Close the connection in the middle of an event."""
    return first_words(request, request.writer.chunk({"content": "lost"})[:-20], Pause.CUT)


@scenario
def error_mid_stream(request: ScenarioRequest) -> Iterator[Step]:
    """Send some text, then an error, as vLLM does."""
    error = {"message": "The engine died.", "type": "InternalServerError", "param": None, "code": 500}
    return first_words(request, events({"error": error}), DONE)


@scenario
def length(request: ScenarioRequest) -> Iterator[Step]:
    """End in the middle of a text."""
    return first_words(request, *request.writer.end("length"))
