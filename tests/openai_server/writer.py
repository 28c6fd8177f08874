"""Writes the steps of scenarios as chat completions. `shapes` has the responses that are always the same bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from PIL import Image

from chat.emulator.generation_request import NOTE
from tests.openai_server.shapes import DONE, chunk
from tests.openai_server.violations import count_tokens, image_urls
from tests.scenarios import SCENARIOS, find
from tests.scenarios.asked import Asked, steps_of
from tests.scenarios.calls import quote_results
from tests.scenarios.steps import Calls, HalfEvent, Reset, Silence, Steps, Text, Thought
from tests.scenarios.steps import Image as ImageStep

REASONING = "I have to think about this."
"""Stands before calls, as models write it that think."""
WORDS = re.compile(r"\S+\s*|\s+")
IMAGE = "image"
"""The scenario that says how the last image begins."""

Piece: TypeAlias = bytes | Silence | Reset


@dataclass(frozen=True, slots=True)
class Completion:
    """A request that was accepted."""

    profile: str
    number: int
    """Number of the request. It makes the ids of calls unique."""
    body: Mapping[str, Any]

    def asked(self, amount: int = 0) -> Asked:
        """Return what scenarios may know of it."""
        messages: list[dict[str, Any]] = list(self.body["messages"])
        colour = first_pixel(messages[-1:])
        # Images of results follow them in a message of the user. In front of it, there may be one of the assistant.
        if colour:
            messages.pop()
            if messages and messages[-1]["role"] == "assistant" and not messages[-1].get("tool_calls"):
                messages.pop()
        question = max((index for index, one in enumerate(messages) if one["role"] == "user"), default=0)
        calls = [call for message in messages[question:] for call in message.get("tool_calls") or []]
        names = {call["id"]: call["function"]["name"] for call in calls}
        results: list[tuple[str, str]] = []
        while messages and messages[-1]["role"] == "tool":
            result = messages.pop()
            results.insert(0, (names.get(result["tool_call_id"], ""), text_of(result)))
        return Asked(
            # Files stand before the question, each in a fence.
            question=text_of(self.body["messages"][question]).rpartition("```")[2].strip(),
            functions=[tool["function"]["name"] for tool in self.body.get("tools") or []],
            results=results,
            calls=len(calls),
            rounds=sum("tool_calls" in message for message in messages[question:]),
            colour=colour if results else "",
            amount=amount,
        )

    def call_id(self, index: int) -> str:
        """Return the id of a call in the form of the server. Some servers repeat the ids in every answer."""
        digest = hashlib.sha256(f"{self.number} {index}".encode()).hexdigest()
        return {"generic": str(index), "mistral": digest[:9]}.get(self.profile, f"call_{digest[:24]}")

    def answer(self, scenario: str) -> Iterator[Piece]:
        """Yield the answer of a scenario. Every server answers with the model that it has loaded to an unknown one."""
        script, amount = find(SCENARIOS, scenario) or (SCENARIOS["text"], 0)
        if scenario == IMAGE:
            script = (Text(f"It begins with {first_pixel(self.body['messages']) or 'no colour'}."),)
        return self._written(steps_of(script, self.asked(amount)))

    def answer_results(self) -> Iterator[Piece]:
        """Yield an answer that quotes the results of functions."""
        return self._written(quote_results(self.asked()))

    def _written(self, steps: Steps) -> Iterator[Piece]:
        """Yield one chunk for each word, and the arguments of each call in two pieces."""
        finish_reason, head = "stop", [chunk({"role": "assistant", "content": ""})]
        for step in steps:
            match step:
                case Silence() | Reset():
                    yield step
                    continue
            yield from head
            head = []
            match step:
                case Text(text) | Thought(text):
                    name = "content" if isinstance(step, Text) else "reasoning_content"
                    yield from (chunk({name: piece}) for piece in WORDS.findall(text))
                case Calls(calls):
                    finish_reason = "tool_calls"
                    yield chunk({"reasoning_content": REASONING})
                    for index, (function, arguments) in enumerate(calls):
                        yield from self._call(index, function, arguments)
                case ImageStep(chart):
                    yield chunk({"content": "", "images": [picture(chart.data)]})
                case HalfEvent():
                    yield chunk({"content": "lost"})[:-20]
        yield chunk({}, finish_reason)
        # Mistral reports the usage without being asked.
        if self.profile == "mistral" or self.body.get("stream_options", {}).get("include_usage"):
            tokens = count_tokens(self.body)
            usage = {"prompt_tokens": tokens, "completion_tokens": 7, "total_tokens": tokens + 7}
            yield chunk({}, choices=[], usage=usage)
        yield DONE

    def _call(self, index: int, name: str, arguments: object) -> Iterator[bytes]:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text[:5]}
        first = {"index": index, "id": self.call_id(index), "type": "function", "function": function}
        yield chunk({"tool_calls": [first]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": text[5:]}}]})


def picture(data: bytes) -> dict[str, Any]:
    """Return a PNG as an item of `images`."""
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "index": 0, "image_url": {"url": url}}


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message without the client's notes about the date and its tools."""
    return plain_text(message.get("content") or "")


def plain_text(content: str | list[dict[str, Any]]) -> str:
    """Return the text of a content without the client's notes."""
    if isinstance(content, str):
        return content.partition(f"\n\n{NOTE}")[0]
    return "".join(text for part in content if not (text := part.get("text", "")).startswith(NOTE))


def first_pixel(messages: list[dict[str, Any]]) -> str:
    """Return the colour of the first pixel of the last image, such as `#ff0000`; empty if there is no image."""
    urls = [url for message in messages for url in image_urls(message)]
    return colour_of_url(urls[-1]) if urls else ""


def colour_of_url(url: str) -> str:
    """Return the colour of the first pixel of an image."""
    data = base64.b64decode(url.partition(";base64,")[2], validate=True)
    with Image.open(io.BytesIO(data)) as image:
        return "#" + image.convert("RGB").tobytes()[:3].hex()
