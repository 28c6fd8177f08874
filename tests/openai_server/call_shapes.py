"""The ways in which servers stream function calls. See `shapes`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.openai_server.expected import Expected, ExpectedCall
from tests.openai_server.shape import Shape, chunk, delta, ending, events, stream

NAME = "echo"
"""The function that all shapes call."""
ONE = '{"value": 1}'
TWO = '{"value": 2}'
CALL_ONE = ExpectedCall(NAME, {"value": 1})
CALL_TWO = ExpectedCall(NAME, {"value": 2})
ONE_CALL = Expected(calls=(CALL_ONE,))
TWO_CALLS = Expected(calls=(CALL_ONE, CALL_TWO))
BROKEN_CALL = Expected(calls=(ExpectedCall(NAME, None),))
SIGNATURE = {"google": {"thought_signature": "U2lnbmF0dXJl"}}


def call(arguments: object = "", *, name: str | None = NAME, **fields: object) -> dict[str, Any]:
    """Return an element of `tool_calls`. `fields`: `index`, `id` and others."""
    function: dict[str, object] = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {**fields, "type": "function", "function": function}


def piece(arguments: str, **fields: object) -> dict[str, Any]:
    """Return a follow-up element, which has only arguments."""
    return {**fields, "function": {"arguments": arguments}}


def calls(*elements: dict[str, Any]) -> dict[str, Any]:
    """Return a chunk with these elements of `tool_calls`."""
    return delta(tool_calls=list(elements))


def without_type(element: dict[str, Any]) -> dict[str, Any]:
    """Return an element without its `type`."""
    return {key: value for key, value in element.items() if key != "type"}


END = ending("tool_calls")

CALL_SHAPES: Mapping[str, Shape] = {
    "call-in-pieces": Shape(
        stream(
            delta(role="assistant", content=None),
            calls(call(index=0, id="call_a")),
            calls(piece('{"val', index=0)),
            calls(piece('ue": 1}', index=0)),
            END,
        ),
        ONE_CALL,
    ),
    "call-after-text": Shape(
        stream(delta(content="I look."), calls(call(ONE, index=0, id="call_a")), END),
        Expected("I look.", calls=(CALL_ONE,)),
    ),
    "call-after-reasoning": Shape(
        stream(delta(reasoning="I see."), calls(call(ONE, index=0, id="call_a")), END),
        Expected(reasoning="I see.", calls=(CALL_ONE,)),
    ),
    "calls-one-after-the-other": Shape(
        stream(
            calls(call(index=0, id="call_a")),
            calls(piece(ONE, index=0)),
            calls(call(index=1, id="call_b")),
            calls(piece(TWO, index=1)),
            END,
        ),
        TWO_CALLS,
    ),
    "calls-interleaved": Shape(
        stream(
            calls(call(index=0, id="call_a"), call(index=1, id="call_b")),
            calls(piece('{"value":', index=0)),
            calls(piece('{"value":', index=1)),
            calls(piece(" 1}", index=0), piece(" 2}", index=1)),
            END,
        ),
        TWO_CALLS,
    ),
    "calls-in-the-last-chunk": Shape(
        stream(
            delta(role="assistant", content=""),
            ending(
                "tool_calls",
                tool_calls=[
                    without_type(call(ONE, index=0, id="aaaaaaaa1")),
                    without_type(call(TWO, index=1, id="aaaaaaaa2")),
                ],
            ),
        ),
        TWO_CALLS,
    ),
    "call-with-arguments-in-the-first-delta": Shape(
        stream(calls(call("{", index=0, id="a1b2")), calls(piece('"value": 1}', index=0)), END), ONE_CALL
    ),
    "calls-without-index": Shape(stream(calls(call(ONE, id="c1")), calls(call(TWO, id="c2")), ending()), TWO_CALLS),
    "calls-with-null-index": Shape(
        stream(calls(call(ONE, index=None, id="c1")), calls(call(TWO, index=None, id="c2")), ending()), TWO_CALLS
    ),
    "calls-without-index-and-id": Shape(stream(calls(call(ONE)), calls(call(TWO)), END), TWO_CALLS),
    "calls-with-the-same-index": Shape(
        stream(calls(call(ONE, index=0, id="call_a")), calls(call(TWO, index=0, id="call_b")), END), TWO_CALLS
    ),
    "calls-with-numbered-ids": Shape(
        stream(
            calls(call(index=0, id="0")),
            calls({"index": 0, "id": "0", "type": "function", "function": {"arguments": ONE}}),
            calls(call(index=0, id="1")),
            calls({"index": 0, "id": "1", "type": "function", "function": {"arguments": TWO}}),
            END,
        ),
        TWO_CALLS,
    ),
    "call-with-finish-stop": Shape(stream(calls(call(ONE, id="c1", extra_content=SIGNATURE)), ending()), ONE_CALL),
    "call-with-index-1-only": Shape(
        stream(calls(call(index=1, id="toolu_1")), calls(piece(ONE, index=1)), END), ONE_CALL
    ),
    "call-with-empty-follow-ups": Shape(
        stream(
            calls(call(index=0, id="call_a")),
            calls({"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": '{"val'}}),
            calls({"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": 'ue": 1}'}}),
            calls({"index": 0, "id": "", "type": "function", "function": {"name": None, "arguments": ""}}),
            END,
        ),
        ONE_CALL,
    ),
    "call-announced-by-empty-deltas": Shape(
        stream(
            calls({"index": 0, "id": None, "type": "function", "function": {"name": None, "arguments": ""}}),
            calls(call(ONE, index=0, id="call_a")),
            END,
        ),
        ONE_CALL,
    ),
    "call-with-empty-id": Shape(stream(calls(call(ONE, index=0, id="")), END), ONE_CALL),
    "call-with-arguments-as-object": Shape(stream(calls(call({"value": 1}, index=0, id="c1")), END), ONE_CALL),
    "call-without-arguments": Shape(
        stream(calls(call("", index=0, id="c1")), END), Expected(calls=(ExpectedCall(NAME, {}),))
    ),
    "call-with-null-arguments": Shape(
        stream(calls(call(None, index=0, id="c1")), END), Expected(calls=(ExpectedCall(NAME, {}),))
    ),
    "call-with-a-line-feed-in-a-string": Shape(
        stream(calls(call('{"value": "a\nb"}', index=0, id="c1")), END),
        Expected(calls=(ExpectedCall(NAME, {"value": "a\nb"}),)),
    ),
    "call-with-broken-arguments": Shape(stream(calls(call('{"value": ', index=0, id="c1")), END), BROKEN_CALL),
    "call-with-a-list-as-arguments": Shape(stream(calls(call("[1]", index=0, id="c1")), END), BROKEN_CALL),
    "call-cut-by-the-token-limit": Shape(
        stream(calls(call(index=0, id="c1")), calls(piece('{"val', index=0)), ending("length")),
        Expected(calls=(ExpectedCall(NAME, None),), finish="length"),
    ),
    "call-cut-before-its-arguments": Shape(
        stream(calls(call("", index=0, id="c1")), ending("length")),
        Expected(calls=(ExpectedCall(NAME, None),), finish="length"),
    ),
    "call-with-finish-twice": Shape(
        stream(
            calls(call(ONE, index=0, id="c1")),
            END,
            chunk([{"index": 0, "delta": {"content": ""}, "finish_reason": "tool_calls"}], usage=None),
        ),
        ONE_CALL,
    ),
    "call-without-finish": Shape(
        events(calls(call(index=0, id="c1")), calls(piece('{"val', index=0))),
        Expected(calls=(ExpectedCall(NAME, None),), finish=None),
    ),
    "old-function-call": Shape(
        stream(
            delta(function_call={"name": NAME, "arguments": ""}),
            delta(function_call={"arguments": ONE}),
            ending("function_call"),
        ),
        ONE_CALL,
    ),
}

CALL_TEXTS = {
    "call-as-text": "<tool_call>\n" + json.dumps({"name": NAME, "arguments": {"value": 1}}) + "\n</tool_call>",
    "call-as-text-of-mistral": "[TOOL_CALLS]" + json.dumps([{"name": NAME, "arguments": {"value": 1}}]),
    "call-as-text-in-json": json.dumps({"name": NAME, "arguments": {"value": 1}}),
}
"""Calls that a server without a parser for calls sends as text."""

CALL_SHAPES = {
    **CALL_SHAPES,
    **{
        name: Shape(
            stream(delta(content=text[:5]), delta(content=text[5:]), ending()), Expected(text, finish="call_as_text")
        )
        for name, text in CALL_TEXTS.items()
    },
    "code-as-text": Shape(
        stream(delta(content="```tool_code\n"), delta(content="print(2 - 5)\n```"), ending()),
        Expected("```tool_code\nprint(2 - 5)\n```", finish="call_as_text"),
    ),
}
