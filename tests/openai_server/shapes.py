"""Response bodies that are always the same bytes: the ways in which servers differ, written by hand.

The shapes come from recorded traffic, from the source code of servers, and from issue threads. `SHAPES` maps the name
of a model to its body and to what a client must read from it. `call_shapes` and `error_shapes` hold the other two
groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chat.stream_events import Usage
from tests.openai_server.call_shapes import CALL_SHAPES
from tests.openai_server.error_shapes import ERROR_SHAPES
from tests.openai_server.expected import Expected
from tests.openai_server.shape import JSON_TYPE, Shape, answer, chunk, delta, ending, events, stream

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
COUNTS = Usage(prompt=10, candidates=5, total=15)
THOUGHTS = {**USAGE, "completion_tokens_details": {"reasoning_tokens": 4}}
FILTER = {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
COMPLETION = {
    "id": "x",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": USAGE,
}


def thinking(text: str) -> dict[str, Any]:
    """Return a delta with a part of Mistral's reasoning."""
    return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}


def choice(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
    """Return one of several choices."""
    return {"index": index, "delta": {"content": text}, "finish_reason": finish}


ONE = Expected("One")
ONE_WITH_USAGE = Expected("One", usage=COUNTS)
ONE_WITH_REASONING = Expected("One", "I see.")
PLAIN = answer(ONE, delta(content="One")).body

TEXT_SHAPES: Mapping[str, Shape] = {
    "role-in-every-chunk": answer(ONE, delta(role="assistant", content="On"), delta(role="assistant", content="e")),
    "null-role-and-null-content": answer(ONE, delta(role=None, content=None), delta(role=None, content="One")),
    "first-chunk-without-choices": answer(ONE, chunk([], id="", model="", **FILTER), delta(content="One")),
    "choices-null-or-missing": answer(
        ONE, chunk(None), {"id": "x", "object": "chat.completion.chunk"}, delta(content="One")
    ),
    "delta-null": answer(ONE, chunk([{"index": 0, "delta": None, "finish_reason": None}]), delta(content="One")),
    "two-choices": answer(ONE, chunk([choice(0, "One")]), chunk([choice(1, "Two")]), chunk([choice(1, "", "length")])),
    "finish-twice-and-usage-on-the-second": answer(
        ONE_WITH_USAGE, delta(content="One"), ending(), chunk([choice(0, "", "stop")], usage=USAGE), finish=""
    ),
    "usage-in-every-chunk": answer(
        ONE_WITH_USAGE,
        chunk([choice(0, "One")], usage={"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}),
        chunk([choice(0, "", "stop")], usage=USAGE),
        chunk([], usage=None),
        finish="",
    ),
    "usage-after-the-end": answer(ONE_WITH_USAGE, delta(content="One"), ending(), chunk([], usage=USAGE), finish=""),
    "usage-with-thoughts": answer(
        Expected("One", "I see.", usage=Usage(prompt=10, thoughts=4, candidates=1, total=15)),
        delta(reasoning="I see."),
        delta(content="One"),
        ending(),
        chunk([], usage=THOUGHTS),
        finish="",
    ),
    "done-without-finish": answer(ONE, delta(content="One"), finish=""),
    "finish-without-done": Shape(events(delta(content="One"), ending()), ONE),
    "neither-finish-nor-done": Shape(events(delta(content="One"), delta(content="")), Expected("One", finish=None)),
    "nothing-visible": answer(Expected(finish="length"), delta(role="assistant", content=""), finish="length"),
    "no-content-at-all": answer(Expected(usage=COUNTS), ending(), chunk([], usage=USAGE), finish=""),
    "content-filter": answer(Expected("One", finish="blocked"), delta(content="One"), finish="content_filter"),
    "unknown-finish": answer(Expected("One", finish="unknown"), delta(content="One"), finish="tired"),
    "refusal": answer(
        Expected("I cannot."),
        delta(role="assistant", content="", refusal=None),
        delta(refusal="I can"),
        delta(refusal="not."),
    ),
    "comments": Shape(b": OPENROUTER PROCESSING\n\n: ping\n\n" + PLAIN, ONE),
    "carriage-returns": Shape(PLAIN.replace(b"\n", b"\r\n"), ONE),
    "byte-order-mark": Shape(b"\xef\xbb\xbf" + PLAIN, ONE),
    "no-blank-line-at-the-end": Shape(events(delta(content="One"), ending()).rstrip() + b"\n", ONE),
    "line-separator-in-text": Shape(
        stream(delta(content="One\u2028two"), ending(), is_ascii=False), Expected("One\u2028two")
    ),
    "reasoning-content": answer(
        ONE_WITH_REASONING, delta(reasoning_content="I "), delta(reasoning_content="see."), delta(content="One")
    ),
    "reasoning-in-two-fields": answer(
        ONE_WITH_REASONING, delta(reasoning="I see.", reasoning_content="I see."), delta(content="One")
    ),
    "content-list": answer(
        ONE_WITH_REASONING,
        delta(**thinking("I ")),
        delta(**thinking("see.")),
        delta(content=[{"type": "text", "text": "On"}]),
        delta(content="e"),
    ),
    "think-tags": answer(ONE_WITH_REASONING, delta(content="<think>I see.</think>"), delta(content="\n\nOne")),
    "think-tags-split": answer(
        ONE_WITH_REASONING, *(delta(content=text) for text in ("<thi", "nk>I see", ".</th", "ink>\n\nOne"))
    ),
    "think-tag-in-the-middle": answer(
        Expected("Write <think> for thoughts."), delta(content="Write <think> for"), delta(content=" thoughts.")
    ),
    "think-tag-that-is-none": answer(Expected("<this is text"), delta(content="<thi"), delta(content="s is text")),
    "whole-completion-in-json": Shape(
        json.dumps(COMPLETION).encode(), Expected("hi", usage=COUNTS), content_type=JSON_TYPE
    ),
}

SHAPES: Mapping[str, Shape] = {**TEXT_SHAPES, **CALL_SHAPES, **ERROR_SHAPES}
