"""Writes the steps of scenarios as streams of the Responses API.

As at OpenAI, encrypted reasoning differs in each copy of an item. Clients may send back only the copy in
`response.output_item.done` (see `response_rules`).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.openai_server.refusals import scripted_refusal
from tests.openai_server.writer import IMAGE, WORDS, Piece, colour_of_url, plain_text, question_in
from tests.scenarios import SCENARIOS, find
from tests.scenarios.asked import Asked, steps_of
from tests.scenarios.calls import quote_results
from tests.scenarios.counts import TokenCounts
from tests.scenarios.steps import Calls, End, HalfEvent, HttpError, Reset, Silence, Steps, Text, Thought
from tests.scenarios.steps import Image as ImageStep

Item = dict[str, Any]
INCOMPLETE = {"MAX_TOKENS": "max_output_tokens", "OTHER": "content_filter"}
"""Finish reason of the scenario -> reason why a response is incomplete."""
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def event(kind: str, **fields: object) -> bytes:
    """Return an event."""
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


@dataclass(slots=True)
class ResponseStream:
    """An accepted request, and the response that is being written."""

    number: int
    """Number of the request, which makes ids unique."""
    body: Mapping[str, Any]
    repetition: int = 0
    """Number of earlier equal requests."""
    done: list[Item] = field(default_factory=list)
    open: Item | None = None
    """The item that is being written."""

    @property
    def items(self) -> list[Item]:
        """The items of the request."""
        items = self.body["input"]
        return [{"type": "message", "role": "user", "content": items}] if isinstance(items, str) else list(items)

    def asked(self, amount: int = 0) -> Asked:
        """Return the request in the form that scenarios get."""
        items = self.items
        colour = first_pixel(items[-1:])
        if items and is_user(items[-1]) and colour and len(items) > 1 and items[-2]["type"] in OUTPUTS:
            items.pop()
        question = max((index for index, one in enumerate(items) if is_user(one)), default=0)
        calls = [one for one in items[question:] if one["type"] == "function_call"]
        names = {call["call_id"]: call["name"] for call in calls}
        results: list[tuple[str, str]] = []
        while items and items[-1]["type"] in OUTPUTS:
            result = items.pop()
            results.insert(0, (names.get(result["call_id"], ""), plain_text(result["output"])))
        kinds = ["", *(one["type"] for one in self.items[question:])]
        return Asked(
            question=question_in(self.items[question]["content"]),
            functions=[tool["name"] for tool in self.body.get("tools") or []],
            results=results,
            calls=len(calls),
            rounds=sum(one in OUTPUTS and before not in OUTPUTS for before, one in pairwise(kinds)),
            colour=colour if results else "",
            amount=amount,
            repetition=self.repetition,
        )

    def answer(self, scenario: str) -> Iterator[Piece]:
        """Yield the answer of a scenario. For an unknown model, a server answers with the model that it has loaded."""
        script, amount = find(SCENARIOS, scenario) or (SCENARIOS["text"], 0)
        asked = self.asked(amount)
        if scenario == IMAGE:
            script = (Text(f"It begins with {first_pixel(self.items) or 'no colour'}."), End())
        return self._written(steps_of(script, asked), TokenCounts.of_request(asked))

    def answer_results(self) -> Iterator[Piece]:
        """Yield an answer that quotes the results of functions."""
        asked = self.asked()
        return self._written(quote_results(asked), TokenCounts.of_request(asked))

    def _written(self, steps: Steps, counts: TokenCounts) -> Iterator[Piece]:
        head = [event("response.created", response=self._head()), event("response.in_progress", response=self._head())]
        finish = ""
        for step in steps:
            counts.add(step)
            match step:
                case Silence() | Reset():
                    yield step
                    continue
                case HttpError():
                    refusal = scripted_refusal(step)
                    yield refusal if head else event("error", **refusal.body)
                    return
            yield from head
            head = []
            match step:
                case Text(text):
                    yield from self._open("message")
                    yield from (self._delta("output_text", content_index=0, delta=one) for one in WORDS.findall(text))
                    finish = step.finish
                case Thought(text):
                    yield from self._open("reasoning")
                    yield from self._reason(text)
                case Calls(calls):
                    # This is the reasoning of a model that thinks but does not show its thoughts.
                    yield from self._open("reasoning")
                    for name, arguments in calls:
                        yield from self._call(name, arguments)
                    finish = "STOP"
                case ImageStep(chart):
                    yield from self._close()
                    picture = base64.b64encode(chart.data).decode()
                    yield from self._whole({"type": "image_generation_call", "output_format": "png", "result": picture})
                case HalfEvent():
                    yield self._delta("output_text", content_index=0, delta="lost")[:-20]
                case End():
                    finish = step.finish
        if finish:
            yield from self._close()
            yield from self._end(finish, counts)

    def _id(self, prefix: str) -> str:
        digest = hashlib.sha256(f"{self.number} {len(self.done)} {prefix}".encode()).hexdigest()
        return f"{prefix}_{digest[:24]}"

    def _open(self, kind: str) -> Iterator[bytes]:
        """Begin an item, unless an item of its kind is open."""
        if self.open and self.open["type"] == kind:
            return
        yield from self._close()
        if kind == "reasoning":
            self.open = {"id": self._id("rs"), "type": kind, "summary": [], "encrypted_content": self._sealed("added")}
        else:
            self.open = {"id": self._id("msg"), "type": kind, "role": "assistant", "status": "in_progress"}
            self.open["content"] = []
        yield event("response.output_item.added", output_index=len(self.done), item=self.open)

    def _sealed(self, copy: str) -> str:
        return f"{copy}-{self.number}-{len(self.done)}"

    def _reason(self, text: str) -> Iterator[bytes]:
        yield from (self._delta("reasoning_summary_text", summary_index=0, delta=one) for one in WORDS.findall(text))

    def _delta(self, kind: str, *, delta: str, **place: int) -> bytes:
        item = self.open or {"id": ""}
        item["text"] = item.get("text", "") + delta
        return event(
            f"response.{kind}.delta",
            output_index=len(self.done),
            item_id=item["id"],
            **place,
            delta=delta,
            obfuscation="x",
        )

    def _close(self) -> Iterator[bytes]:
        """End the open item."""
        item, self.open = self.open, None
        if item is None:
            return
        text = item.pop("text", "")
        if item["type"] == "reasoning":
            item = {**item, "summary": [{"type": "summary_text", "text": text}] if text else []}
            item["encrypted_content"] = self._sealed("done")
        else:
            content = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            item = {**item, "status": "completed", "content": [content]}
        yield from self._done(item)

    def _done(self, item: Item) -> Iterator[bytes]:
        yield event("response.output_item.done", output_index=len(self.done), item=item)
        self.done.append(item)

    def _whole(self, item: Item) -> Iterator[bytes]:
        item = {"id": self._id("item"), "status": "completed", **item}
        yield event("response.output_item.added", output_index=len(self.done), item={**item, "status": "in_progress"})
        yield from self._done(item)

    def _call(self, name: str, arguments: object) -> Iterator[bytes]:
        yield from self._close()
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, separators=(",", ":"))
        call: Item = {"id": self._id("fc"), "type": "function_call", "call_id": self._id("call"), "name": name}
        index = len(self.done)
        yield event("response.output_item.added", output_index=index, item={**call, "arguments": ""})
        for piece in (text[:5], text[5:]):
            yield event("response.function_call_arguments.delta", output_index=index, item_id=call["id"], delta=piece)
        yield event("response.function_call_arguments.done", output_index=index, item_id=call["id"], arguments=text)
        yield from self._done({**call, "arguments": text, "status": "completed"})

    def _end(self, finish: str, counts: TokenCounts) -> Iterator[bytes]:
        """Yield the last event. Its copies of encrypted reasoning differ from those in the items that were done."""
        output = [
            {**one, "encrypted_content": one["encrypted_content"].replace("done-", "final-")}
            if "encrypted_content" in one
            else one
            for one in self.done
        ]
        usage = {
            "input_tokens": counts.prompt,
            "input_tokens_details": {"cached_tokens": counts.cached},
            "output_tokens": counts.output + counts.thoughts,
            "output_tokens_details": {"reasoning_tokens": counts.thoughts},
            "total_tokens": counts.total,
        }
        details = {"reason": INCOMPLETE[finish]} if finish in INCOMPLETE else None
        status = "incomplete" if details else "completed"
        ended = {"status": status, "incomplete_details": details, "output": output, "usage": usage}
        yield event(f"response.{status}", response={**self._head(), **ended})

    def _head(self) -> Item:
        """Return the response object before the answer has begun."""
        return {
            "id": f"resp_{self.number}",
            "object": "response",
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "model": self.body["model"],
            "output": [],
            "usage": None,
        }


def is_user(item: Mapping[str, Any]) -> bool:
    """Return whether an item is a message of the user."""
    return item.get("role") == "user"


def contents_of(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the contents of a message or of an output."""
    contents = item.get("content") or item.get("output")
    return contents if isinstance(contents, list) else []


def image_urls(item: Mapping[str, Any]) -> list[str]:
    """Return the URLs of the images of an item."""
    return [one["image_url"] for one in contents_of(item) if one["type"] == "input_image"]


def first_pixel(items: list[Item]) -> str:
    """Return the colour of the first pixel of the last image, such as `#ff0000`; empty if there is no image."""
    urls = [url for item in items for url in image_urls(item)]
    return colour_of_url(urls[-1]) if urls else ""
