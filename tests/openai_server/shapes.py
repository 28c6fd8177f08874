"""Response bodies that are always the same bytes: the ways in which servers differ, written by hand.

The shapes come from recorded traffic, from the source code of servers, and from issue threads. `SHAPES` maps the name
of a model to its body and to what a client must read from it. `call_shapes` and `error_shapes` hold the other two
groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.openai_server.call_shapes import CALL_SHAPES
from tests.openai_server.error_shapes import ERROR_SHAPES
from tests.openai_server.expected import Expected
from tests.openai_server.shape import Shape, chunk, delta, ending, events, stream

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
COUNTS = (10, 5, 15)
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


TEXT_SHAPES: Mapping[str, Shape] = {
    "role-in-every-chunk": Shape(
        stream(delta(role="assistant", content="On"), delta(role="assistant", content="e"), ending()), Expected("One")
    ),
    "null-role-and-null-content": Shape(
        stream(delta(role=None, content=None), delta(role=None, content="One"), ending()), Expected("One")
    ),
    "first-chunk-without-choices": Shape(
        stream(chunk([], id="", model="", **FILTER), delta(content="One"), ending()), Expected("One")
    ),
    "choices-null-or-missing": Shape(
        stream(chunk(None), {"id": "x", "object": "chat.completion.chunk"}, delta(content="One"), ending()),
        Expected("One"),
    ),
    "delta-null": Shape(
        stream(chunk([{"index": 0, "delta": None, "finish_reason": None}]), delta(content="One"), ending()),
        Expected("One"),
    ),
    "two-choices": Shape(
        stream(
            chunk([choice(0, "One")]),
            chunk([choice(1, "Two")]),
            chunk([choice(1, "", "length")]),
            chunk([choice(0, "", "stop")]),
        ),
        Expected("One"),
    ),
    "finish-twice-and-usage-on-the-second": Shape(
        stream(delta(content="One"), ending(), chunk([choice(0, "", "stop")], usage=USAGE)),
        Expected("One", usage=COUNTS),
    ),
    "usage-in-every-chunk": Shape(
        stream(
            chunk([choice(0, "One")], usage={"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}),
            chunk([choice(0, "", "stop")], usage=USAGE),
            chunk([], usage=None),
        ),
        Expected("One", usage=COUNTS),
    ),
    "usage-after-the-end": Shape(
        stream(delta(content="One"), ending(), chunk([], usage=USAGE)), Expected("One", usage=COUNTS)
    ),
    "usage-with-thoughts": Shape(
        stream(delta(reasoning="I see."), delta(content="One"), ending(), chunk([], usage=THOUGHTS)),
        Expected("One", "I see.", usage=COUNTS),
    ),
    "done-without-finish": Shape(stream(delta(content="One")), Expected("One")),
    "finish-without-done": Shape(events(delta(content="One"), ending()), Expected("One")),
    "neither-finish-nor-done": Shape(events(delta(content="One"), delta(content="")), Expected("One", finish=None)),
    "nothing-visible": Shape(stream(delta(role="assistant", content=""), ending("length")), Expected(finish="length")),
    "no-content-at-all": Shape(stream(ending(), chunk([], usage=USAGE)), Expected(usage=COUNTS)),
    "content-filter": Shape(stream(delta(content="One"), ending("content_filter")), Expected("One", finish="blocked")),
    "unknown-finish": Shape(stream(delta(content="One"), ending("tired")), Expected("One", finish="unknown")),
    "refusal": Shape(
        stream(
            delta(role="assistant", content="", refusal=None), delta(refusal="I can"), delta(refusal="not."), ending()
        ),
        Expected("I cannot."),
    ),
    "comments": Shape(
        b": OPENROUTER PROCESSING\n\n: ping\n\n" + stream(delta(content="One"), ending()), Expected("One")
    ),
    "carriage-returns": Shape(stream(delta(content="One"), ending()).replace(b"\n", b"\r\n"), Expected("One")),
    "byte-order-mark": Shape(b"\xef\xbb\xbf" + stream(delta(content="One"), ending()), Expected("One")),
    "no-blank-line-at-the-end": Shape(events(delta(content="One"), ending()).rstrip() + b"\n", Expected("One")),
    "line-separator-in-text": Shape(
        stream(delta(content="One\u2028two"), ending(), is_ascii=False), Expected("One\u2028two")
    ),
    "reasoning-content": Shape(
        stream(delta(reasoning_content="I "), delta(reasoning_content="see."), delta(content="One"), ending()),
        Expected("One", "I see."),
    ),
    "reasoning-in-two-fields": Shape(
        stream(delta(reasoning="I see.", reasoning_content="I see."), delta(content="One"), ending()),
        Expected("One", "I see."),
    ),
    "content-list": Shape(
        stream(
            delta(**thinking("I ")),
            delta(**thinking("see.")),
            delta(content=[{"type": "text", "text": "On"}]),
            delta(content="e"),
            ending(),
        ),
        Expected("One", "I see."),
    ),
    "think-tags": Shape(
        stream(delta(content="<think>I see.</think>"), delta(content="\n\nOne"), ending()), Expected("One", "I see.")
    ),
    "think-tags-split": Shape(
        stream(
            delta(content="<thi"),
            delta(content="nk>I see"),
            delta(content=".</th"),
            delta(content="ink>\n\nOne"),
            ending(),
        ),
        Expected("One", "I see."),
    ),
    "think-tag-in-the-middle": Shape(
        stream(delta(content="Write <think> for"), delta(content=" thoughts."), ending()),
        Expected("Write <think> for thoughts."),
    ),
    "think-tag-that-is-none": Shape(
        stream(delta(content="<thi"), delta(content="s is text"), ending()), Expected("<this is text")
    ),
    "whole-completion-in-json": Shape(
        json.dumps(COMPLETION).encode(), Expected("hi", usage=COUNTS), content_type="application/json"
    ),
}

SHAPES: Mapping[str, Shape] = {**TEXT_SHAPES, **CALL_SHAPES, **ERROR_SHAPES}
