"""The ways in which servers stream function calls. See `shapes`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.openai_server.expected import Expected, ExpectedCall
from tests.openai_server.shape import Shape, answer, chunk, delta, ending, events, stream

NAME = "echo"
"""The function that all shapes call."""
ONE = '{"value": 1}'
TWO = '{"value": 2}'
CALL_ONE = ExpectedCall(NAME, {"value": 1})
ONE_CALL = Expected(calls=(CALL_ONE,))
TWO_CALLS = Expected(calls=(CALL_ONE, ExpectedCall(NAME, {"value": 2})))
EMPTY_CALL = Expected(calls=(ExpectedCall(NAME, {}),))
BROKEN_CALL = Expected(calls=(ExpectedCall(NAME, None),))
CUT_CALL = Expected(calls=(ExpectedCall(NAME, None),), finish="length")
SIGNATURE = {"google": {"thought_signature": "U2lnbmF0dXJl"}}


def call(arguments: object = "", **fields: object) -> dict[str, Any]:
    """Return an element of `tool_calls`. `fields`: `index`, `id` and others."""
    return {**fields, "type": "function", "function": {"name": NAME, "arguments": arguments}}


def first(arguments: object = "", call_id: str = "call_a", index: int = 0) -> dict[str, Any]:
    """Return the first element of a call, as OpenAI sends it."""
    return call(arguments, index=index, id=call_id)


def more(arguments: str, index: int = 0, **function: object) -> dict[str, Any]:
    """Return a follow-up element, which has only arguments."""
    return {"index": index, "function": {**function, "arguments": arguments}}


def calls(*elements: dict[str, Any]) -> dict[str, Any]:
    """Return a chunk with these elements of `tool_calls`."""
    return delta(tool_calls=list(elements))


def calling(expected: Expected, *elements: dict[str, Any], finish: str = "tool_calls") -> Shape:
    """Return an answer with each element in a chunk of its own."""
    return answer(expected, *(calls(element) for element in elements), finish=finish)


def as_text(*pieces: str) -> Shape:
    """Return a call that a server without a parser for calls sends as text."""
    return answer(Expected("".join(pieces), finish="call_as_text"), *(delta(content=piece) for piece in pieces))


NO_FIELDS: dict[str, Any] = {"id": None, "type": None}
EMPTY_FIELDS: dict[str, Any] = {"id": "", "type": "function"}
JSON_CALL = json.dumps({"name": NAME, "arguments": {"value": 1}})
NO_TYPE_ONE = {"index": 0, "id": "aaaaaaaa1", "function": {"name": NAME, "arguments": ONE}}
NO_TYPE_TWO = {"index": 1, "id": "aaaaaaaa2", "function": {"name": NAME, "arguments": TWO}}

CALL_SHAPES: Mapping[str, Shape] = {
    "call-in-pieces": answer(
        ONE_CALL,
        delta(role="assistant", content=None),
        calls(first()),
        calls(more('{"val')),
        calls(more('ue": 1}')),
        finish="tool_calls",
    ),
    "call-after-text": answer(
        Expected("I look.", calls=(CALL_ONE,)), delta(content="I look."), calls(first(ONE)), finish="tool_calls"
    ),
    "call-after-reasoning": answer(
        Expected(reasoning="I see.", calls=(CALL_ONE,)),
        delta(reasoning="I see."),
        calls(first(ONE)),
        finish="tool_calls",
    ),
    "calls-one-after-the-other": calling(TWO_CALLS, first(), more(ONE), first("", "call_b", 1), more(TWO, 1)),
    "calls-interleaved": answer(
        TWO_CALLS,
        calls(first(), first("", "call_b", 1)),
        calls(more('{"value":')),
        calls(more('{"value":', 1)),
        calls(more(" 1}"), more(" 2}", 1)),
        finish="tool_calls",
    ),
    "calls-in-the-last-chunk": Shape(
        stream(delta(role="assistant", content=""), ending("tool_calls", tool_calls=[NO_TYPE_ONE, NO_TYPE_TWO])),
        TWO_CALLS,
    ),
    "call-with-arguments-in-the-first-delta": calling(ONE_CALL, first("{", "a1b2"), more('"value": 1}')),
    "calls-without-index": calling(TWO_CALLS, call(ONE, id="c1"), call(TWO, id="c2"), finish="stop"),
    "calls-with-null-index": calling(
        TWO_CALLS, call(ONE, index=None, id="c1"), call(TWO, index=None, id="c2"), finish="stop"
    ),
    "calls-without-index-and-id": calling(TWO_CALLS, call(ONE), call(TWO)),
    "calls-with-the-same-index": calling(TWO_CALLS, first(ONE), first(TWO, "call_b")),
    "calls-with-numbered-ids": calling(
        TWO_CALLS,
        first("", "0"),
        {**more(ONE), "id": "0", "type": "function"},
        first("", "1"),
        {**more(TWO), "id": "1", "type": "function"},
    ),
    "call-with-finish-stop": calling(ONE_CALL, call(ONE, id="c1", extra_content=SIGNATURE), finish="stop"),
    "call-with-index-1-only": calling(ONE_CALL, first("", "toolu_1", 1), more(ONE, 1)),
    "call-with-empty-follow-ups": calling(
        ONE_CALL,
        first(),
        {**more('{"val', name=""), **EMPTY_FIELDS},
        {**more('ue": 1}', name=None), **NO_FIELDS},
        {**more("", name=None), **EMPTY_FIELDS},
    ),
    "call-announced-by-empty-deltas": calling(
        ONE_CALL, {**more("", name=None), "id": None, "type": "function"}, first(ONE)
    ),
    "call-with-empty-id": calling(ONE_CALL, first(ONE, "")),
    "call-with-arguments-as-object": calling(ONE_CALL, first({"value": 1})),
    "call-without-arguments": calling(EMPTY_CALL, first("")),
    "call-with-null-arguments": calling(EMPTY_CALL, first(None)),
    "call-with-null-as-json": calling(EMPTY_CALL, first("null")),
    "call-with-a-line-feed-in-a-string": calling(
        Expected(calls=(ExpectedCall(NAME, {"value": "a\nb"}),)), first('{"value": "a\nb"}')
    ),
    "call-with-broken-arguments": calling(BROKEN_CALL, first('{"value": ')),
    "call-with-a-list-as-arguments": calling(BROKEN_CALL, first("[1]")),
    "call-cut-by-the-token-limit": calling(CUT_CALL, first(), more('{"val'), finish="length"),
    "call-cut-before-its-arguments": calling(CUT_CALL, first(""), finish="length"),
    "call-with-finish-twice": answer(
        ONE_CALL,
        calls(first(ONE)),
        ending("tool_calls"),
        chunk([{"index": 0, "delta": {"content": ""}, "finish_reason": "tool_calls"}], usage=None),
        finish="",
    ),
    "call-without-finish": Shape(
        events(calls(first()), calls(more('{"val'))), Expected(calls=(ExpectedCall(NAME, None),), finish=None)
    ),
    "old-function-call": answer(
        ONE_CALL,
        delta(function_call={"name": NAME, "arguments": ""}),
        delta(function_call={"arguments": ONE}),
        finish="function_call",
    ),
    "call-as-text": as_text("<tool", f"_call>\n{JSON_CALL}\n</tool_call>"),
    "call-as-text-of-mistral": as_text("[TOOL", f"_CALLS][{JSON_CALL}]"),
    "call-as-text-in-json": as_text(JSON_CALL[:5], JSON_CALL[5:]),
    "code-as-text": as_text("```tool_code\n", "print(2 - 5)\n```"),
}
