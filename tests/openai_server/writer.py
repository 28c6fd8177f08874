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

from chat.emulator.generation_request import NOTE, TABLES
from tests.openai_server.refusals import Refusal, scripted_refusal
from tests.openai_server.shapes import DONE, chunk, event
from tests.openai_server.violations import image_urls
from tests.scenarios import SCENARIOS, find
from tests.scenarios.asked import Asked, steps_of
from tests.scenarios.calls import quote_results
from tests.scenarios.counts import TokenCounts
from tests.scenarios.steps import Calls, End, HalfEvent, HttpError, Reset, Silence, Steps, Text, Thought
from tests.scenarios.steps import Image as ImageStep

REASONING = "I have to think about this."
"""Reasoning before calls, as thinking models write it. OpenAI's own server shows no reasoning here."""
FINISH_REASONS = {"STOP": "stop", "MAX_TOKENS": "length", "OTHER": "content_filter"}
WORDS = re.compile(r"\S+\s*|\s+")
IMAGE = "image"
"""The scenario that answers with the colour of the first pixel of the last image."""

Piece: TypeAlias = bytes | Silence | Reset | Refusal


@dataclass(frozen=True, slots=True)
class Completion:
    """A request that was accepted."""

    profile: str
    number: int
    """Number of the request. It makes the ids of calls unique."""
    body: Mapping[str, Any]
    repetition: int = 0
    """Number of earlier equal requests."""

    def asked(self, amount: int = 0) -> Asked:
        """Return the request in the form that scenarios get."""
        messages: list[dict[str, Any]] = list(self.body["messages"])
        colour = first_pixel(messages[-1:])
        # A message of the user has the images of results. A message of the assistant may precede it.
        before = [one for one in messages[-3:-1] if one["role"] != "assistant" or one.get("tool_calls")]
        if colour and before and before[-1]["role"] == "tool":
            messages = messages[: messages.index(before[-1]) + 1]
        question = max((index for index, one in enumerate(messages) if one["role"] == "user"), default=0)
        calls = [call for message in messages[question:] for call in message.get("tool_calls") or []]
        names = {call["id"]: call["function"]["name"] for call in calls}
        results: list[tuple[str, str]] = []
        while messages and messages[-1]["role"] == "tool":
            result = messages.pop()
            results.insert(0, (names.get(result["tool_call_id"], ""), text_of(result)))
        return Asked(
            question=question_in(self.body["messages"][question]["content"]),
            functions=[tool["function"]["name"] for tool in self.body.get("tools") or []],
            results=results,
            calls=len(calls),
            rounds=sum("tool_calls" in message for message in messages[question:]),
            colour=colour if results else "",
            amount=amount,
            repetition=self.repetition,
        )

    def call_id(self, index: int) -> str:
        """Return the id of a call in the form of the server. Some servers repeat the ids in every answer."""
        digest = hashlib.sha256(f"{self.number} {index}".encode()).hexdigest()
        return {"generic": str(index), "mistral": digest[:9]}.get(self.profile, f"call_{digest[:24]}")

    def answer(self, scenario: str) -> Iterator[Piece]:
        """Yield the answer of a scenario. For an unknown model, a server answers with the model that it has loaded."""
        script, amount = find(SCENARIOS, scenario) or (SCENARIOS["text"], 0)
        asked = self.asked(amount)
        if scenario == IMAGE:
            script = (Text(f"It begins with {first_pixel(self.body['messages']) or 'no colour'}."), End())
        return self._written(steps_of(script, asked), TokenCounts.of_request(asked))

    def answer_results(self) -> Iterator[Piece]:
        """Yield an answer that quotes the results of functions."""
        asked = self.asked()
        return self._written(quote_results(asked), TokenCounts.of_request(asked))

    def _written(self, steps: Steps, counts: TokenCounts) -> Iterator[Piece]:
        """Yield a chunk for each word, and the arguments of a call in two pieces. Without `End`, the stream is cut."""
        finish_reason, head = "", [chunk({"role": "assistant", "content": ""})]
        for step in steps:
            counts.add(step)
            match step:
                case Silence() | Reset():
                    yield step
                    continue
                case HttpError():
                    refusal = scripted_refusal(step)
                    yield refusal if head else event(refusal.body)
                    return
            yield from head
            head = []
            match step:
                case Text(text) | Thought(text):
                    name = "content" if isinstance(step, Text) else "reasoning_content"
                    yield from (chunk({name: piece}) for piece in WORDS.findall(text))
                    finish_reason = FINISH_REASONS.get(step.finish, "") if isinstance(step, Text) else ""
                case Calls(calls):
                    finish_reason = "tool_calls"
                    if self.profile != "openai":
                        yield chunk({"reasoning_content": REASONING})
                    for index, (function, arguments) in enumerate(calls):
                        yield from self._call(index, function, arguments)
                case ImageStep(chart):
                    yield chunk({"content": "", "images": [picture(chart.data)]})
                case HalfEvent():
                    yield chunk({"content": "lost"})[:-20]
                case End(finish):
                    finish_reason = FINISH_REASONS[finish]
        if finish_reason:
            yield from self._end(finish_reason, counts)

    def _end(self, finish_reason: str, counts: TokenCounts) -> Iterator[bytes]:
        yield chunk({}, finish_reason)
        # Mistral reports the usage without being asked.
        if self.profile == "mistral" or self.body.get("stream_options", {}).get("include_usage"):
            usage = {
                "prompt_tokens": counts.prompt,
                "completion_tokens": counts.output + counts.thoughts,
                "total_tokens": counts.total,
                "prompt_tokens_details": {"cached_tokens": counts.cached},
                "completion_tokens_details": {"reasoning_tokens": counts.thoughts},
            }
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


def question_in(content: str | list[dict[str, Any]]) -> str:
    """Return the question in a content.

    Files in fences, the client's words about tables, and pictures of an earlier answer precede it.
    """
    if not isinstance(content, str):
        texts = [plain_text([part]) for part in content]
        content = next((text for text in reversed(texts) if text), "")
    text = plain_text(content).rpartition("```")[2].strip()
    return text.partition("\n\n")[2] if text.startswith(TABLES) else text


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
